package ni

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/linkcheck"
	"github.com/stafflink/lmmc/verilator"
)

// Port is a link endpoint in Go on a port of a network interface. It stands for whatever is at the other end of that cable: a host on
// port 0, a foreign network interface on another.
type Port struct {
	flowctl.End
	Link *flowctl.Endpoint // that End is, with one lane; nil with several
	// Far, unless nil, is at the other end of the cable instead of End.
	Far Lanes
	// UART is the line, if the port's PHY is one; nil otherwise.
	UART *UARTLine
	// Serial is the line, if the port's PHY is serial; nil otherwise.
	Serial *SerialLine
	// SymbolClocks is how many clocks a symbol takes, on a UART one of one byte.
	SymbolClocks int

	wires   []wire // by lane
	line    []linkproto.Symbol
	Mangle  func([]linkproto.Symbol) []linkproto.Symbol // what the cable does to symbols of the first lane towards the network interface; nil: nothing
	Swallow func([]linkproto.Symbol) []linkproto.Symbol // the same for those that come from it
	// Tap is told the clock in which each symbol of the first lane is on the pins of a direct PHY, towards the network interface or from it; nil: nobody is.
	Tap func(toNI bool, clock uint64, s linkproto.Symbol)

	checker *linkcheck.Checker // of what the network interface says; nil: nobody checks it
}

// End is an end of a lane, as symbols: a flowctl.Endpoint, or a lane of a port of a network interface in Go.
type End interface {
	Emit(dst []linkproto.Symbol) int
	Feed(in []linkproto.Symbol)
	Tick(n int)
}

// Lanes is an end of a cable with all of its lanes: a flowctl.End.
type Lanes interface {
	Emit(lane int, dst []linkproto.Symbol) int
	Feed(lane int, in []linkproto.Symbol)
	Tick(n int)
}

// wire carries symbols between a Port and the pins of a model.
type wire interface {
	room(n int) int                                // symbols that may be sent in the next n clocks
	put(symbols []linkproto.Symbol, n int)         // sends them
	get(dst []linkproto.Symbol) []linkproto.Symbol // appends what has come
	ticks(n int) int                               // symbol times in the last n clocks
	discard()                                      // forgets what has come
	// rested is discard when the network interface has been in reset for more than the clocks up to from: it says what has come then.
	rested(from uint64) error
	check() error // the first fault of what has come, by the rules of the line; nil: none
}

// NewPort attaches an endpoint to the symbol ports rx (the model's input) and tx of a model whose clock is declared.
func NewPort(m *verilator.Model, rx, tx string, c flowctl.Config) (*Port, error) {
	w, err := newDirectWire(m, nil, rx, tx)
	if err != nil {
		return nil, err
	}
	p := &Port{wires: []wire{w}, SymbolClocks: 1}
	return p, p.Restart(c)
}

// NewUARTPort attaches an endpoint to a UART's line.
func NewUARTPort(u *UARTLine, c flowctl.Config) (*Port, error) {
	p := &Port{UART: u, SymbolClocks: 10 * u.divisor, wires: []wire{&uartWire{UARTLine: u}}}
	return p, p.Restart(c)
}

// JoinPort attaches an endpoint to a port of a network interface in Go, a symbol a clock.
func JoinPort(near End, c flowctl.Config) (*Port, error) {
	p := &Port{wires: []wire{&goWire{near: near}}, SymbolClocks: 1}
	return p, p.Restart(c)
}

// openPort attaches an endpoint to a port of a network interface with parameters p.
func openPort(p rtl.Params, m *verilator.Model, clock *verilator.Clock, index int, c flowctl.Config) (*Port, error) {
	c.Lanes = p.LanesOf(index)
	phy, divisor := p.LinkPHY, p.LinkDivisor
	if index == 0 {
		phy, divisor = p.HostPHY, p.HostDivisor
	}
	if phy != rtl.Direct { // the network interface's times are chosen for the line
		c.AckDelay, c.Retry = p.AckDelay, p.Retry
	}
	switch {
	case phy == rtl.Direct:
		port := &Port{SymbolClocks: 1}
		for lane := range c.Lanes {
			rx, tx := p.Lane(index, lane)
			w, err := newDirectWire(m, clock, rx, tx)
			if err != nil {
				return nil, err
			}
			port.wires = append(port.wires, w)
		}
		return port, port.Restart(c)
	case phy == rtl.UART && c.Lanes == 1:
		rx, tx := p.Lines(index)
		u, err := NewUARTLine(m, clock, rx, tx, divisor)
		if err != nil {
			return nil, err
		}
		return NewUARTPort(u, c)
	case phy == rtl.Serial && c.Lanes == 1:
		rx, tx := p.Lines(index)
		l, err := NewSerialLine(m, rx, tx, p.Oversample, uint64(c.Nonce))
		if err != nil {
			return nil, err
		}
		port := &Port{Serial: l, SymbolClocks: 10 * p.Oversample, wires: []wire{l}}
		return port, port.Restart(c)
	}
	return nil, fmt.Errorf("ni: port %d has %d lanes of PHY %d: an endpoint in Go cannot be at their end, only another network interface", index, c.Lanes, phy)
}

// Restart replaces the endpoint by a new one, as when the process or the board behind the cable starts again.
func (p *Port) Restart(c flowctl.Config) error {
	end, err := flowctl.NewEnd(c)
	if err != nil {
		return err
	}
	p.End = end
	if one, ok := end.(flowctl.Single); ok {
		p.Link = one.Endpoint
	}
	return nil
}

// Replace puts another endpoint in the place of that of a port of one lane.
func (p *Port) Replace(link *flowctl.Endpoint) { p.End, p.Link = flowctl.Single{Endpoint: link}, link }

// before puts what the endpoint sends during the next n clocks on the lines.
func (p *Port) before(n int) {
	for lane, w := range p.wires {
		room := w.room(n)
		if cap(p.line) < room {
			p.line = make([]linkproto.Symbol, room)
		}
		line := p.line[:room]
		line = line[:p.far().Emit(lane, line)]
		if p.Mangle != nil && lane == 0 {
			line = p.Mangle(line)
		}
		w.put(line, n)
		if d, ok := w.(*directWire); ok && p.tapped() && lane == 0 {
			d.tapPut(p.tap, line)
		}
	}
}

// after hands the endpoint what has come in during the last n clocks.
func (p *Port) after(n int) {
	for lane, w := range p.wires {
		p.line = w.get(p.line[:0])
		line := p.line
		if d, ok := w.(*directWire); ok && p.tapped() && lane == 0 {
			for _, b := range d.got {
				p.tap(false, b.Cycle, linkproto.Symbol(b.Data))
			}
		}
		if p.Swallow != nil && lane == 0 {
			line = p.Swallow(line)
		}
		p.far().Feed(lane, line)
	}
	p.far().Tick(p.wires[0].ticks(n))
}

func (p *Port) tapped() bool { return p.Tap != nil || p.checker != nil }

// tap tells who looks on what is on the pins.
func (p *Port) tap(toNI bool, clock uint64, s linkproto.Symbol) {
	if p.Tap != nil {
		p.Tap(toNI, clock, s)
	}
	switch {
	case p.checker == nil:
	case toNI:
		p.checker.ToEnd(clock, s)
	default:
		p.checker.FromEnd(clock, s)
	}
}

func (p *Port) far() Lanes {
	if p.Far != nil {
		return p.Far
	}
	return p.End
}

// discard forgets what has come.
func (p *Port) discard() {
	for _, w := range p.wires {
		w.discard()
	}
	if p.checker != nil {
		p.checker.Reset()
	}
}

// Exchange runs a network interface that is in no Fabric for n clocks, with what its ports send and receive.
func Exchange(m Runner, n int, ports ...*Port) error {
	for _, p := range ports {
		p.before(n)
	}
	if err := m.Run(uint64(n)); err != nil {
		return err
	}
	for _, p := range ports {
		p.after(n)
	}
	return nil
}

// directWire is a wire of the direct PHY: a symbol a clock.
type directWire struct {
	source *verilator.Source
	sink   *verilator.Sink
	clock  *verilator.Clock // nil: nobody asks when
	free   uint64           // the first clock for which nothing has been put
	beats  []verilator.Beat
	got    []verilator.Beat // by the last get, of beats
}

func newDirectWire(m *verilator.Model, clock *verilator.Clock, rx, tx string) (*directWire, error) {
	w := &directWire{clock: clock}
	idle := uint64(linkproto.SymIdle)
	var err, err2 error
	w.source, err = m.Source(verilator.Channel{Data: rx, Idle: &idle, Depth: 2048})
	w.sink, err2 = m.Sink(verilator.Channel{Data: tx, Idle: &idle, Depth: 2048})
	return w, errors.Join(err, err2)
}

func (*directWire) room(n int) int  { return n }
func (*directWire) ticks(n int) int { return n }
func (w *directWire) discard()      { w.sink.Discard() }
func (w *directWire) check() error  { return nil }

func (w *directWire) rested(from uint64) error {
	for beat, ok := w.sink.Get(); ok; beat, ok = w.sink.Get() {
		if beat.Cycle > from {
			return fmt.Errorf("ni: clock %d: %v comes in reset", beat.Cycle, linkproto.Symbol(beat.Data))
		}
	}
	return nil
}

func (w *directWire) put(symbols []linkproto.Symbol, _ int) {
	for _, s := range symbols {
		w.source.Put(uint64(s), false)
	}
}

func (w *directWire) get(dst []linkproto.Symbol) []linkproto.Symbol {
	waiting := w.sink.Len()
	if cap(w.beats) < waiting {
		w.beats = make([]verilator.Beat, 2*waiting)
	}
	w.got = w.beats[:w.sink.Read(w.beats[:waiting])]
	for _, b := range w.got {
		dst = append(dst, linkproto.Symbol(b.Data))
	}
	return dst
}

// tapPut tells the clocks of what has just been put. The first is driven behind the next edge, and sampled at the one after.
func (w *directWire) tapPut(tap func(bool, uint64, linkproto.Symbol), line []linkproto.Symbol) {
	w.free = max(w.free, w.clock.Cycles()+2)
	for _, s := range line {
		tap(true, w.free, s)
		w.free++
	}
}

// goWire is a wire to a port of a network interface in Go.
type goWire struct {
	near   End
	clocks int // that it has not sent for yet
}

func (*goWire) room(n int) int  { return n }
func (*goWire) ticks(n int) int { return n }
func (*goWire) discard()        {}
func (*goWire) check() error    { return nil }

func (*goWire) rested(uint64) error { return nil }

func (w *goWire) put(symbols []linkproto.Symbol, n int) {
	w.near.Feed(symbols) // also if there are none: so an end elsewhere knows that its host has had its turn
	w.clocks += n
}

func (w *goWire) get(dst []linkproto.Symbol) []linkproto.Symbol {
	from := len(dst)
	dst = slices.Grow(dst, w.clocks)[:from+w.clocks]
	dst = dst[:from+w.near.Emit(dst[from:])]
	w.near.Tick(w.clocks)
	w.clocks = 0
	return dst
}
