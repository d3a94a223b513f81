package cluster

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// lines names the fields of a port's lane.
type lines func(port, lane int) (rx, tx string)

// rtlNode is a node in RTL, as Verilator has it.
type rtlNode struct {
	*verilator.Model
	clock  *verilator.Clock
	lines  lines
	serial uint // ports with a serial line, a bit each from port 1 on
	rst    struct {
		Rst *bool `port:"rst"`
	}
}

// rtlNI is a network interface.
type rtlNI struct {
	*rtlNode
	router string // where its router is in the design; "": there is none
}

// netSwitch is a switch.
type netSwitch struct {
	*rtlNode
	pins struct {
		Nonce *uint32 `port:"*"`
	}
}

// builder compiles each kind of node once.
type builder struct {
	ctx         context.Context
	waves       uint64
	checkpoints bool
	libraries   map[string]*verilator.Library
	models      []*verilator.Model // opened
}

func (b *builder) open(d verilator.Design, kind, name string, seed uint64, lines lines) *rtlNode {
	d.Trace = b.waves > 0 || b.checkpoints
	d.Checkpoint = d.Trace // so that a checkpoint fits a repetition with waves
	key := fmt.Sprint(kind, d.Top, d.Params)
	if b.libraries[key] == nil {
		b.libraries[key] = try.Get(verilator.Build(b.ctx, d))
	}
	m := &rtlNode{Model: try.Get(b.libraries[key].New(verilator.Config{Name: name, Seed: seed, Record: b.waves})), lines: lines}
	if kind == "" { // boards reset themselves
		try.OK(m.Bind(&m.rst))
	}
	m.clock = try.Get(m.Clock("clk", 2, 0))
	b.models = append(b.models, m.Model)
	return m
}

// niDesign is a network interface, and where its router is.
func (c Config) niDesign(p rtl.Params) (d verilator.Design, router string) {
	if d = ni.Design(p); c.Arrivals {
		d = watchedDesign(p)
	}
	router, d.Public = insideNI(p, c.Arrivals)
	if p.Virtual > 0 && !c.Arrivals {
		d.Public = append(d.Public, niBuffer)
	}
	return d, router
}

// switchDesign is a switch.
func (c Config) switchDesign(ports, lanes int, serial uint, oversample int) verilator.Design {
	p := withLanes(c.Params, lanes)
	d := verilator.Design{Top: "net_direct", Sources: rtl.Sources(), FS: rtl.FS, IncludeDirs: rtl.IncludeDirs, Params: map[string]string{}}
	for name, value := range map[string]int{
		"PORTS": ports, "SLOTS": c.Slots, "PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": p.ReplayBytes, "RX_BYTES": p.RxBytes,
		"HEADROOM": p.Headroom, "WIDTH": p.Width, "LANES": lanes,
	} {
		d.Params[name] = strconv.Itoa(value)
	}
	if c.Barriers {
		d.Params["BARRIER"] = "1"
	}
	d.Public = append(tablesInside(switchRouter), switchNumber)
	if serial != 0 {
		d.Params["SERIAL"], d.Params["OVERSAMPLE"] = strconv.FormatUint(uint64(serial), 10), strconv.Itoa(oversample)
	}
	return d
}

// switchLines are the lines of a switch whose links have so many lanes; those of serial ports are the lowest wire of each.
func switchLines(lanes int, serial uint) lines {
	return func(port, lane int) (rx, tx string) {
		at := (port-1)*lanes + lane
		if serial>>(port-1)&1 != 0 {
			return fmt.Sprintf("line_rx[%d:%d]", 9*at, 9*at), fmt.Sprintf("line_tx[%d:%d]", 9*at, 9*at)
		}
		return lineOf("line_rx", at), lineOf("line_tx", at)
	}
}

func (m *rtlNode) reset(held bool) {
	if m.rst.Rst != nil {
		*m.rst.Rst = held
	}
}

func (m *rtlNode) socket(port, lane int) socket {
	rx, tx := m.lines(port, lane)
	return socket{clock: m.clock, rx: rx, tx: tx, serial: m.serial>>(port-1)&1 != 0}
}

// status: a network interface tells its host alone.
func (m *rtlNode) status(int) (uint32, bool) { return 0, false }

// SetNonce gives the switch the nonce of this life, which lets its links come up.
func (s *netSwitch) SetNonce(nonce uint32) { *s.pins.Nonce = nonce }

func (s *netSwitch) status(port int) (status uint32, known bool) {
	if port < 1 {
		return 0, false
	}
	value, err := s.Peek(fmt.Sprintf("status[%d:%d]", 16*port-1, 16*port-16))
	return uint32(value), err == nil
}
