package project

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func TestClocksAndResets(t *testing.T) {
	for name, want := range map[string]string{
		"clk": "clock", "i_clk": "clock", "clk_i": "clock", "aclk": "clock", "S_AXI_ACLK": "clock", "clock": "clock", "rx_clk": "clock", "clk_rx": "clock",
		"wb_clk_i": "clock", "clk2": "clock", "fclk": "clock", "clk_enable": "", "rx_clk_en": "", "clkdiv": "", "block": "", "sclk_sel": "",
		"rst": "reset", "rst_n": "reset", "rst_ni": "reset", "i_reset": "reset", "resetn": "reset", "S_AXI_ARESETN": "reset", "aresetn": "reset", "nreset": "reset",
		"wb_rst_i": "reset", "first": "", "burst": "", "data": "",
	} {
		got := ""
		switch {
		case clockName.MatchString(name) && !clockControl.MatchString(name):
			got = "clock"
		case resetName.MatchString(name):
			got = "reset"
		}
		check.Equal(t, name, got, want)
	}
}

func TestDecimal(t *testing.T) {
	for value, want := range map[string]string{"32'sh8": "8", "4'hf": "15", "8'shff": "-1", "64'hffffffffffffffff": "18446744073709551615",
		"72'h1": "72'h1", "1.5": "1.5", "32'bxx": "32'bxx"} {
		check.Equal(t, value, decimal(value), want)
	}
}

// TestFieldNames: fields have names of their own, whatever ports are called.
func TestFieldNames(t *testing.T) {
	b := Binding{Package: "p", Design: verilator.Design{Top: "m", Sources: []string{"m.v"}}}
	for _, name := range []string{"a_b", "a__b", "A_b", "7seg", "x$y", "s_axis_tdata"} {
		b.Interface.Ports = append(b.Interface.Ports, verilator.Port{Name: name, Width: 8, Elems: 1})
	}
	fields := b.fields()
	for port, want := range map[string]string{"a_b": "AB", "a__b": "AB_2", "A_b": "AB_3", "7seg": "P7seg", "x$y": "XY", "s_axis_tdata": "SAxisTdata"} {
		check.Equal(t, port, fields[port], want)
	}
	check.Fatal(t, check.Err(b.Struct()))
	check.Fatal(t, check.Err(b.Test()))
}
