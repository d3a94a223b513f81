// Package ni puts network interfaces into a simulation: it compiles them, wires their links, and gives each a host in Go that
// speaks the link layer of flowctl on the host port.
package ni

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Design is the network interface with some parameters, for Verilator.
func Design(p rtl.Params) verilator.Design {
	d, err := DesignFrom(rtl.FS, p)
	if err != nil {
		panic(err) // rtl.FS is part of the program
	}
	return d
}

// DesignFrom is Design made of another tree of modules, laid out like rtl.FS.
func DesignFrom(tree fs.FS, p rtl.Params) (verilator.Design, error) {
	params, err := p.Verilog()
	if err != nil {
		return verilator.Design{}, err
	}
	sources, err := rtl.SourcesIn(tree)
	if err != nil {
		return verilator.Design{}, err
	}
	hash, err := rtl.HashOf(tree)
	if err != nil {
		return verilator.Design{}, err
	}
	params["SOURCE_HASH"] = fmt.Sprintf("64'h%016x", hash)
	return verilator.Design{Top: p.Top(), Sources: sources, FS: tree, IncludeDirs: rtl.IncludeDirs, Params: params}, nil
}

// Quiet sets what module ni_lines needs at its inputs while nothing is attached to them.
func Quiet(m *verilator.Model, p rtl.Params) error {
	if p.Top() != "ni_lines" {
		return nil
	}
	err := errors.Join(m.Poke("host_divisor", uint64(p.HostDivisor)), m.Poke("link_divisor", uint64(p.LinkDivisor)))
	if p.LinkPHY == rtl.UART {
		err = errors.Join(err, m.Poke("link_rx", 1<<p.Cables()-1))
	}
	return err
}
