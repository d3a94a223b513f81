// Package probe holds modules for measurements in clocks: the design under test wired up, with counters that look inside it. They are for
// simulation only.
package probe

import (
	"embed"
	"io/fs"
	"strconv"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

//go:embed *.v
var files embed.FS

// Design is one of the modules here (link_pair, ni_pair) with parameters set.
func Design(top string, params map[string]int) verilator.Design {
	d := verilator.Design{
		Top: top, Sources: append([]string{top + ".v"}, rtl.Sources()...), FS: both{}, IncludeDirs: rtl.IncludeDirs,
		Params: map[string]string{},
	}
	for name, value := range params {
		d.Params[name] = strconv.Itoa(value)
	}
	return d
}

// both is the RTL with the files of this folder on top.
type both struct{}

func (both) Open(name string) (fs.File, error) {
	if f, err := files.Open(name); err == nil && name != "." {
		return f, nil
	}
	return rtl.FS.Open(name)
}

func (both) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := rtl.FS.ReadDir(name)
	if name == "." && err == nil {
		var own []fs.DirEntry
		own, err = files.ReadDir(name)
		entries = append(entries, own...)
	}
	return entries, err
}
