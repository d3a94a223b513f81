// Package ni_test drives every module of the network interface against a model of it in Go.
package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

type params = map[string]string

// needs lists the modules below each module under test.
var needs = map[string][]string{
	"ni_buffer":  {"common/arbiter_rr.v", "common/ram_sdp.v"},
	"ni_compose": {"common/arbiter_rr.v", "common/skid_buffer.v"},
	"ni_host_in": {"ni/ni_bounds.v"},
	"ni_link_in": {"ni/ni_bounds.v", "ni/ni_page_writer.v"},
	"ni_notify":  {"common/ram_sdp.v"},
	"ni_debug":   {"ni/ni_trace.v", "ni/ni_trace_port.v", "common/ram_sdp.v"},
	"ni_trace":   {"ni/ni_trace_port.v", "common/ram_sdp.v"},
	"ni_regs":    {"common/counter_bank.v", "common/ram_sdp.v"},
}

// open compiles a module of this folder, binds its ports and resets it.
func open(t *testing.T, top string, p params, ports any) *testbench.Bench {
	t.Helper()
	b := openStateless(t, top, p, ports)
	b.Reset("rst", 3)
	return b
}

// openStateless is open for a module without control state, and so without a reset.
func openStateless(t *testing.T, top string, p params, ports any) *testbench.Bench {
	t.Helper()
	b := testbench.New(t, verilator.Design{
		Top: top, FS: rtl.FS, Sources: append([]string{"ni/" + top + ".v"}, needs[top]...), IncludeDirs: append([]string{"common"}, rtl.IncludeDirs...), Params: p,
	}, testbench.Config{})
	b.Bind(ports)
	return b
}

// settle lets combinational outputs follow inputs that were just set.
func settle(t *testing.T, b *testbench.Bench) {
	t.Helper()
	check.Fatal(t, b.Model().Eval())
}

// offered is what a source of packets offers to ni_compose, its packet's head or the next byte: it must not change while it waits.
func offered(packet []byte, kind uint8, length uint16, data uint8) int {
	if len(packet) == 0 {
		return int(length)<<8 | int(kind)
	}
	return int(data)
}

// composed is the packet with what the source has given away, as ni_compose puts it together.
func composed(packet []byte, kind uint8, length uint16, data uint8) []byte {
	if len(packet) == 0 {
		return append(packet, kind, byte(length), byte(length>>8))
	}
	return append(packet, data)
}
