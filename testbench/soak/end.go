package soak

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

// end is one end of a link, with the host behind it. It begins a new life whenever it starts again; counts of packets are those of its
// present life.
type end interface {
	// push hands a packet over to be sent; false: there is no room now.
	push(packet []byte) bool
	// pull takes what the host has received, with the clocks of each packet's first and last byte. The packet is the caller's.
	pull(take func(packet []byte, first, last uint64))
	// losses says which packets this end has given up since it was last asked: [from, to).
	losses(each func(from, to uint64))
	// released is how many packets need not be sent any more: acknowledged or given up.
	released() uint64
	// committed is how many packets the link has delivered, read or not.
	committed() uint64
	// counter is one of the link's counters since the run began, of all lives.
	counter(c linkproto.Counter) uint64
	// up reports whether the link is up.
	up() bool
	// hesitate makes the host pause for a share of the clocks while it hands a packet over.
	hesitate(share float64)
	// read makes the host read, or stop reading.
	read(yes bool)
	// now is how many clocks of this end have passed.
	now() uint64
	// die begins a restart; the end is dead until reborn has returned true.
	die()
	// reborn ends the restart, if that is possible yet.
	reborn() bool
}

// rtlEnd is module link_end.
type rtlEnd struct {
	model   *verilator.Model
	clock   *verilator.Clock
	source  *verilator.Source
	sink    *verilator.Sink
	records *verilator.Sink
	pins    struct {
		Rst    *bool    `port:"rst"`
		Nonce  *uint32  `port:"nonce"`
		Status *uint16  `port:"status"`
		Counts []uint32 `port:"counts"`
		Freed  *uint32  `port:"freed"`
	}
	backlog int // bytes that wait before the design at most

	beats  []verilator.Beat
	coming []byte // what has come of the next packet
	began  uint64

	freed, taken uint32                        // when this life began
	last         [linkproto.NumCounters]uint32 // counters when last looked at
	totals       [linkproto.NumCounters]uint64
}

// attach is for a model that was just made.
func (e *rtlEnd) attach(period uint64) {
	e.beats = make([]verilator.Beat, 4096)
	try.OK(e.model.Bind(&e.pins))
	e.clock = try.Get(e.model.Clock("clk", period, 0))
	e.source = try.Get(e.model.Source(verilator.Stream("s")))
	e.sink = try.Get(e.model.Sink(verilator.Stream("m")))
	e.records = try.Get(e.model.Sink(verilator.Channel{Data: "r_data", Valid: "r_valid", Depth: 1024}))
	*e.pins.Rst = true
}

func (e *rtlEnd) push(packet []byte) bool {
	return !*e.pins.Rst && e.source.Pending()+len(packet) <= e.backlog && e.source.Send(packet)
}

func (e *rtlEnd) pull(take func(packet []byte, first, last uint64)) {
	for n := len(e.beats); n == len(e.beats); {
		n = e.sink.Read(e.beats)
		for _, b := range e.beats[:n] {
			if len(e.coming) == 0 {
				e.began = b.Cycle
			}
			if e.coming = append(e.coming, byte(b.Data)); !b.Last {
				continue
			}
			packet := e.coming
			e.coming = nil
			take(packet, e.began, b.Cycle)
		}
	}
}

func (e *rtlEnd) losses(each func(from, to uint64)) {
	for r, ok := e.records.Get(); ok; r, ok = e.records.Get() {
		each(uint64(uint32(r.Data>>32)-e.freed), uint64(uint32(r.Data)-e.freed))
	}
}

func (e *rtlEnd) released() uint64  { return uint64(*e.pins.Freed - e.freed) }
func (e *rtlEnd) committed() uint64 { return uint64(e.pins.Counts[linkproto.CntRxPackets] - e.taken) }
func (e *rtlEnd) up() bool          { return *e.pins.Status&1 != 0 }
func (e *rtlEnd) now() uint64       { return e.clock.Cycles() }

// counter works as long as it is asked once in 2^32 events.
func (e *rtlEnd) counter(c linkproto.Counter) uint64 {
	now := e.pins.Counts[c]
	e.totals[c] += uint64(now - e.last[c])
	e.last[c] = now
	return e.totals[c]
}

func (e *rtlEnd) hesitate(share float64) { e.source.SetThrottle(share) }

func (e *rtlEnd) read(yes bool) {
	if yes {
		e.sink.SetThrottle(0)
	} else {
		e.sink.SetThrottle(1)
	}
}

func (e *rtlEnd) die() { *e.pins.Rst = true }

// reborn waits until the design has thrown away what its host had handed over.
func (e *rtlEnd) reborn() bool {
	if e.source.Pending() > 0 {
		return false
	}
	*e.pins.Rst = false
	e.sink.Discard()
	e.coming = nil
	e.freed, e.taken = *e.pins.Freed, e.pins.Counts[linkproto.CntRxPackets]
	return true
}
