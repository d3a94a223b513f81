// Package wishbone models Wishbone B4 (OpenCores, revision B.4) in classic and pipelined mode, with bursts (CTI, BTE): a master, a slave, and a
// checker of the rules that stands beside both.
package wishbone

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// How a slave ends an access that it does not carry out.
var (
	ErrBus   = errors.New("wishbone: the slave has answered ERR")
	ErrRetry = errors.New("wishbone: the slave has answered RTY")
)

// Config says what a bus is like. The zero value is a classic one whose addresses count bytes.
type Config struct {
	bus.Config
	// Pipelined is the pipelined mode: requests go on while the slave says no STALL. Otherwise a request stays until it is answered.
	Pipelined bool
	// WordAddress says that addresses count words, as those of cores do that leave out ADR(1:0).
	WordAddress bool
	// Item is called with each access that has ended.
	Item func(bus.Access)
}

// unit is how many bytes an address counts.
func (c Config) unit(bytes int) uint64 {
	if c.WordAddress {
		return uint64(bytes)
	}
	return 1
}

// signals of a bus; those that are nil are not there.
type signals struct {
	cyc, stb, we, adr, datM, sel, cti, bte *testbench.Signal // of the master
	ack, err, rty, stall, datS             *testbench.Signal // of the slave
}

// find finds the signals of a design that is the slave, or the master.
func (s *signals) find(p *bus.Port, slave, pipelined bool) error {
	in, out := verilator.In, verilator.Out
	if !slave {
		in, out = out, in
	}
	if err := p.Find(
		bus.Wire{To: &s.cyc, Name: "cyc", Direction: in, Width: 1},
		bus.Wire{To: &s.stb, Name: "stb", Direction: in, Width: 1, Optional: true},
		bus.Wire{To: &s.we, Name: "we", Direction: in, Width: 1, Optional: true},
		bus.Wire{To: &s.adr, Name: "adr|addr", Direction: in, Optional: true},
		bus.Wire{To: &s.datM, Name: "dat_w|dat_mosi|dat|data|wdat|wdata", Direction: in, Optional: true},
		bus.Wire{To: &s.sel, Name: "sel", Direction: in, Optional: true},
		bus.Wire{To: &s.cti, Name: "cti", Direction: in, Width: 3, Optional: true},
		bus.Wire{To: &s.bte, Name: "bte", Direction: in, Width: 2, Optional: true},
		bus.Wire{To: &s.ack, Name: "ack", Direction: out, Width: 1},
		bus.Wire{To: &s.err, Name: "err", Direction: out, Width: 1, Optional: true},
		bus.Wire{To: &s.rty, Name: "rty", Direction: out, Width: 1, Optional: true},
		bus.Wire{To: &s.stall, Name: "stall", Direction: out, Width: 1, Optional: true},
		bus.Wire{To: &s.datS, Name: "dat_r|dat_miso|dat|data|rdt|rdat|rdata", Direction: out, Optional: true},
	); err != nil {
		return err
	}
	return s.fit(p, pipelined)
}

// fit checks what belongs together.
func (s *signals) fit(p *bus.Port, pipelined bool) error {
	wide := s.datS
	if wide == nil {
		wide = s.datM
	}
	switch {
	case wide == nil:
		return fmt.Errorf("%s: %w: there is neither DAT for reading nor DAT for writing: name one in Names[\"dat_r\"] or Names[\"dat_w\"]", p, verilator.ErrPort)
	case wide.Width()%8 != 0:
		return fmt.Errorf("%s: %w: %s has %d bits, want 8, 16, 32 or 64", p, verilator.ErrPort, wide.Name(), wide.Width())
	case s.datM != nil && s.datM.Width() != wide.Width():
		return fmt.Errorf("%s: %w: %s has %d bits and %s has %d: want the same", p, verilator.ErrPort, s.datM.Name(), s.datM.Width(), wide.Name(), wide.Width())
	case s.sel != nil && s.sel.Width() != wide.Width()/8:
		return fmt.Errorf("%s: %w: %s has %d bits, want %d, one for each byte of %s", p, verilator.ErrPort, s.sel.Name(), s.sel.Width(), wide.Width()/8, wide.Name())
	case s.bte != nil && s.cti == nil:
		return fmt.Errorf("%s: %w: there is BTE and no CTI: name it in Names[\"cti\"], or set Names[\"bte\"] to \"-\"", p, verilator.ErrPort)
	case pipelined && s.stb == nil:
		return fmt.Errorf("%s: %w: the pipelined mode needs STB: name it in Names[\"stb\"]", p, verilator.ErrPort)
	}
	return nil
}

// bytes is how many bytes a word has.
func (s *signals) bytes() int {
	if s.datS != nil {
		return s.datS.Width() / 8
	}
	return s.datM.Width() / 8
}
