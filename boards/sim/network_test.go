package sim

import (
	"context"
	"math"
	"testing"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/rtlsim"
	"github.com/stafflink/lmmc/verilator"
)

// TestNetwork: a board takes part in a network, by its UART and a serial cable to a switch. Its wrapper stands for its netlist.
func TestNetwork(t *testing.T) {
	top := check.Must(topology.Generate("star", []int{2}, 1))(t)
	top.Nodes[1].Rung = "gates:hx8k/routed-link"
	gates := func(board string) (rtl.Params, func(context.Context) (verilator.Design, error), error) {
		c, err := boards.Named(board)
		return c.Params(), func(context.Context) (verilator.Design, error) { return wrapper(t, c), nil }, err
	}
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Gates: gates, Seed: 1}))(t)
	defer func() { check.Error(t, c.Close()) }()
	r := check.Must(c.Carry(cluster.Traffic{Packets: 5, Bytes: 40, Pages: 20}))(t)
	check.Equal(t, "packets", r.Writes+r.Pages, 10)

	top.Nodes[2].Rung = cluster.Model
	_, err := cluster.Open(t.Context(), cluster.Config{Topology: top, Gates: gates})
	if err == nil {
		t.Fatal("a board is cabled to a model")
	}
	check.Contains(t, "error", err.Error(), "n1:1 - s0:2 is serial", "a switch of rung rtl")
}

// TestLogP: two boards that are cabled to each other have LogP's parameters, which their UARTs determine: a message is some forty symbols there, with its routing and virtual link, and goes by two UARTs
// and the cable, of half a UART's symbol time. The chip, and RTL with its parameters, take the same time but for the look of a host.
func TestLogP(t *testing.T) {
	c := check.Must(boards.Named("hx8k/routed-link"))(t)
	top := check.Must(topology.Generate("line", []int{2}, 1))(t)
	var all []barriers.LogP
	for _, design := range []verilator.Design{{}, wrapper(t, c)} {
		w := check.Must(barriers.OpenBoards(t.Context(), top, c.Params(), rtlsim.Chip{Design: design, Hz: c.MHz * 1e6}, 1, 1))(t)
		defer func() { check.Error(t, w.Close()) }()
		all = append(all, check.Must(w.LogP(t.Context(), 2))(t))
	}
	symbol := 10 * rtlsim.Rate / float64(c.Baud)
	t.Logf("a symbol of the UART takes %g clocks of 8 ns; %+v", symbol, all)
	rtl, chip := all[0], all[1]
	if l, g := rtl.Latency/symbol, rtl.Gap/symbol; l < 80 || l > 140 || g < 30 || g > 60 || math.Abs(rtl.Latency-chip.Latency) > 4*symbol || math.Abs(rtl.Gap-chip.Gap) > 4*symbol {
		t.Errorf("L is %v symbol times, g %v", l, g)
	}
	_, err := barriers.OpenBoards(t.Context(), check.Must(topology.Generate("star", []int{2}, 1))(t), c.Params(), rtlsim.Chip{}, 1, 1)
	if err == nil {
		t.Fatal("two boards at a switch")
	}
	check.Contains(t, "error", err.Error(), "want two boards, one cable between them")
}
