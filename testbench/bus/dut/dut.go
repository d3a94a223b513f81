// Package dut has small designs that models of buses are tested and measured on.
package dut

import (
	"embed"
	"strconv"

	"github.com/stafflink/lmmc/verilator"
)

//go:embed *.v
var files embed.FS

// Design returns the design of a module, which is named as its file.
func Design(module string, params map[string]int) verilator.Design {
	d := verilator.Design{Top: module, FS: files, Sources: []string{module + ".v"}, IncludeDirs: []string{"."}, Params: map[string]string{}}
	for name, v := range params {
		d.Params[name] = strconv.Itoa(v)
	}
	return d
}
