package soak

import (
	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// goEnd is flowctl.Endpoint, on the line of a model: the host's end of the cable to its network interface.
type goEnd struct {
	link    *flowctl.Endpoint
	clock   *verilator.Clock
	source  *verilator.Source // of symbols, towards the model
	sink    *verilator.Sink
	cables  [2]*cable // from the model, and to it
	reading bool
	dead    bool

	line    []linkproto.Symbol
	raw     []uint16
	arrived []arrival
	pushed  uint64
	former  [linkproto.NumCounters]uint64 // counters of former lives
}

type arrival struct {
	packet []byte
	at     uint64
}

// cable is one direction of a cable in Go.
type cable struct {
	faults    *testbench.Injector
	unplugged bool
	open      uint64
}

func (c *cable) pass(dst []uint16, s uint16) []uint16 {
	if c.unplugged {
		s = uint16(c.open)
	}
	return c.faults.Pass(dst, s)
}

func newGoEnd(m *rtlEnd, epoch uint8) *goEnd {
	e := &goEnd{clock: m.clock, reading: true}
	for i := range e.cables {
		e.cables[i] = &cable{faults: testbench.FaultPlan(nil).Injector(9)}
	}
	idle := uint64(linkproto.SymIdle)
	e.source = try.Get(m.model.Source(verilator.Channel{Data: "line_rx", Idle: &idle}))
	e.sink = try.Get(m.model.Sink(verilator.Channel{Data: "line_tx", Idle: &idle}))
	e.link = try.Get(flowctl.New(flowctl.Config{MaxPacket: maxPacket, ReplayBytes: 4096, ReceiveBytes: 4096, Silence: -1, Epoch: epoch}))
	return e
}

// turn runs the model for n clocks, with the end at the other end of its line.
func (e *goEnd) turn(m *verilator.Model, n int) {
	if cap(e.line) < n {
		e.line = make([]linkproto.Symbol, n)
	}
	// What duplicates have pushed back goes first; the end sends as much less.
	line := e.line[:max(n-e.source.Pending(), 0)]
	sent := 0
	if !e.dead {
		sent = e.link.Emit(line)
	}
	e.raw = e.raw[:0]
	for i := range line {
		s := linkproto.SymIdle
		if i < sent {
			s = line[i]
		}
		e.raw = e.cables[1].pass(e.raw, uint16(s))
	}
	for _, s := range e.raw {
		e.source.Put(uint64(s), false)
	}
	start := e.clock.Cycles()
	try.OK(m.Run(uint64(n)))
	e.feed(start, n)
	if !e.dead {
		e.link.Tick(n)
	}
}

// feed hands over what the model has sent in the last n clocks, up to the end of a frame at a time, so that the clock in which a packet
// arrives is known.
func (e *goEnd) feed(start uint64, n int) {
	beat, ok := e.sink.Get()
	e.line = e.line[:0]
	for clock := start + 1; clock <= start+uint64(n); clock++ {
		s := linkproto.SymIdle
		if ok && beat.Cycle == clock {
			s = linkproto.Symbol(beat.Data)
			beat, ok = e.sink.Get()
		}
		e.raw = e.cables[0].pass(e.raw[:0], uint16(s))
		for _, s := range e.raw {
			if s := linkproto.Symbol(s); s != linkproto.SymIdle {
				e.line = append(e.line, s)
			}
		}
		if len(e.line) > 0 && e.line[len(e.line)-1] == linkproto.SymEOP {
			e.take(clock)
		}
	}
	e.take(start + uint64(n))
}

func (e *goEnd) take(clock uint64) {
	if !e.dead {
		e.link.Feed(e.line)
		for e.reading {
			packet, ok := e.link.Receive()
			if !ok {
				break
			}
			e.arrived = append(e.arrived, arrival{append([]byte(nil), packet...), clock})
		}
	}
	e.line = e.line[:0]
}

func (e *goEnd) push(packet []byte) bool {
	if e.dead || e.link.Send(packet) != nil {
		return false
	}
	e.pushed++
	return true
}

func (e *goEnd) pull(take func(packet []byte, first, last uint64)) {
	for _, a := range e.arrived {
		take(a.packet, a.at, a.at)
	}
	e.arrived = e.arrived[:0]
}

func (e *goEnd) losses(each func(from, to uint64)) {
	if loss, ok := e.link.Lost(); ok {
		each(loss.First, loss.First+loss.Count)
	}
}

func (e *goEnd) released() uint64  { return e.pushed - uint64(e.link.Queued()) }
func (e *goEnd) committed() uint64 { return uint64(e.link.Counter(linkproto.CntRxPackets)) }
func (e *goEnd) up() bool          { return e.link.Status().Up }
func (e *goEnd) read(yes bool)     { e.reading = yes }
func (e *goEnd) hesitate(float64)  {} // packets are handed over whole
func (e *goEnd) now() uint64       { return e.clock.Cycles() }

func (e *goEnd) counter(c linkproto.Counter) uint64 {
	return e.former[c] + uint64(e.link.Counter(c))
}

func (e *goEnd) die() { e.dead = true }

func (e *goEnd) reborn() bool {
	for c := range e.former {
		e.former[c] += uint64(e.link.Counter(linkproto.Counter(c)))
	}
	c := e.link.Config()
	c.Epoch = linkproto.NextEpoch(e.link.Status().Epoch)
	e.link, e.pushed, e.dead = try.Get(flowctl.New(c)), 0, false
	e.arrived = e.arrived[:0]
	return true
}
