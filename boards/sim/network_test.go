package sim

import (
	"context"
	"testing"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/cluster"
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
