package main

import (
	"context"

	"github.com/stafflink/lmmc/boards"
	gates "github.com/stafflink/lmmc/boards/sim"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// boardGates finds a board for a network in which a node is its netlist.
func boardGates(board string) (p rtl.Params, netlist func(context.Context) (verilator.Design, error), err error) {
	c, err := boards.Named(board)
	if err != nil {
		return p, nil, err
	}
	return c.Params(), func(ctx context.Context) (verilator.Design, error) { return gates.Gates(ctx, c) }, nil
}
