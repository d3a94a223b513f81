// Package moduletest opens single modules of the RTL for the tests in its folders.
package moduletest

import (
	"fmt"
	"path"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Params are parameters of a module: numbers, or texts in Verilog.
type Params = map[string]any

// Design is the module in the file top.v, a path from the test's folder. Verilator finds the modules below it by their names.
func Design(top string, p Params) verilator.Design {
	d := verilator.Design{Top: path.Base(top), Sources: []string{top + ".v"}, IncludeDirs: []string{"..", "../common", "../phy", "../link", "../ni", "../net"},
		Params: map[string]string{}}
	for name, v := range p {
		d.Params[name] = fmt.Sprint(v)
	}
	return d
}

// New makes a bench of a Design and binds ports.
func New(t testing.TB, top string, p Params, ports any) *testbench.Bench {
	t.Helper()
	b := testbench.New(t, Design(top, p), testbench.Config{})
	b.Bind(ports)
	return b
}

// Open is New with a reset. Outputs show what they are after a clock edge; inputs are seen at the next.
func Open(t testing.TB, top string, p Params, ports any) *testbench.Bench {
	t.Helper()
	b := New(t, top, p, ports)
	b.Reset("rst", 4)
	return b
}
