// Package ni_test drives every module of the network interface against a model of it in Go.
package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

type params = map[string]string

// needs lists the modules below each module under test.
var needs = map[string][]string{
	"ni_buffer":  {"common/arbiter_rr.v", "common/ram_sdp.v"},
	"ni_link_in": {"ni/ni_page_writer.v"},
	"ni_notify":  {"common/ram_sdp.v"},
	"ni_debug":   {"ni/ni_trace.v", "ni/ni_trace_port.v", "common/ram_sdp.v"},
	"ni_trace":   {"ni/ni_trace_port.v", "common/ram_sdp.v"},
	"ni_regs":    {"common/counter_bank.v", "common/ram_sdp.v"},
}

// open compiles a module of this folder, binds its ports and resets it.
func open(t *testing.T, top string, p params, ports any) *testbench.Bench {
	t.Helper()
	b := testbench.New(t, verilator.Design{
		Top: top, FS: rtl.FS, Sources: append([]string{"ni/" + top + ".v"}, needs[top]...), IncludeDirs: append([]string{"common"}, rtl.IncludeDirs...), Params: p,
	}, testbench.Config{})
	b.Bind(ports)
	b.Reset("rst", 3)
	return b
}

// settle lets combinational outputs follow inputs that were just set.
func settle(t *testing.T, b *testbench.Bench) {
	t.Helper()
	if err := b.Model().Eval(); err != nil {
		t.Fatal(err)
	}
}
