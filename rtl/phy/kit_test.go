package phy_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

type params = map[string]string

// design is a module of this folder, or one of testdata.
func design(file string, top string, p params) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{file}, IncludeDirs: []string{"..", ".", "../common", "../link"}, Params: p}
}

// open makes a bench of a module of this folder, binds ports and resets. Outputs show what they are after a clock edge; inputs are
// seen at the next.
func open(t *testing.T, top string, p params, ports any) *testbench.Bench {
	t.Helper()
	b := testbench.New(t, design(top+".v", top, p), testbench.Config{})
	b.Bind(ports)
	b.Reset("rst", 4)
	return b
}
