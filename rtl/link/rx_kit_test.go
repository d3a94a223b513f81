package link_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

const (
	fifoBytes = 512
	high      = fifoBytes - headroom
	low       = (high + maxPacket) / 2
	waiting   = 3 // bytes behind the memory, which do not count
)

// rxEvents counts what becomes of frames.
type rxEvents struct{ packet, crc, dup, gap, overrun, stray, malformed int }

// receiver is link_rx with a reader.
type receiver struct {
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	pins struct {
		Rst, Sop, Eop, Aborted, Data, Err, Up, Restart, Lost, Stop, EvPacket, EvCrc, EvDup, EvGap, EvOverrun, EvStray, EvMalformed *bool   `port:"*"`
		MValid, MReady, MLast, MSure, MVoid                                                                                        *bool   `port:"*"`
		ByteQ, Expected                                                                                                            *uint8  `port:"*"`
		Key                                                                                                                        *uint32 `port:"*"`
	}
	out     *moduletest.Beats
	take    float64 // chance that the reader is ready
	seen    rxEvents
	coming  []byte
	voids   int // packets taken back while they were shown
	packets [][]byte
}

func newReceiver(t *testing.T) *receiver { return newReceiverOf(t, 1, 0) }

// eachReceiver runs a test with each WIDTH and each EARLY.
func eachReceiver(t *testing.T, body func(t *testing.T, width, early int)) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		for early := range 3 {
			t.Run(fmt.Sprint("early ", early), func(t *testing.T) { body(t, width, early) })
		}
	})
}

func newReceiverOf(t *testing.T, width, early int) *receiver {
	r := &receiver{t: t, take: 1}
	r.b = moduletest.Open(t, "link_rx", params{"RX_BYTES": fifoBytes, "MAX_PACKET": maxPacket, "HEADROOM": headroom, "WIDTH": width, "EARLY": early}, &r.pins)
	r.out = moduletest.NewBeats(t, r.b, "m", width)
	r.rng = r.b.Rand("reader")
	*r.pins.Up, *r.pins.Key = true, uint32(frameKey)
	r.idle(2)
	r.seen = rxEvents{}
	return r
}

// clock gives the module one symbol.
func (r *receiver) clock(s linkproto.Symbol) {
	p := &r.pins
	*p.Sop, *p.Eop, *p.Aborted, *p.Data, *p.Err = s == linkproto.SymSOP, s == linkproto.SymEOP, s == linkproto.SymAbort, s.IsData(), s == linkproto.SymErr
	*p.ByteQ = byte(s)
	*p.MReady = r.rng.Chance(r.take)
	if *p.MVoid {
		if *p.MValid {
			r.t.Fatal("a packet is taken back, and goes on")
		}
		r.coming = r.coming[:0]
		r.voids++
	}
	if *p.MReady && *p.MValid {
		r.coming = append(r.coming, r.out.Get()...)
		if *p.MLast {
			if !*p.MSure {
				r.t.Fatal("a whole packet is not sure")
			}
			r.packets = append(r.packets, slices.Clone(r.coming))
			r.coming = r.coming[:0]
		}
	}
	r.b.Step(1)
	for _, e := range []struct {
		pulse bool
		count *int
	}{{*p.EvPacket, &r.seen.packet}, {*p.EvCrc, &r.seen.crc}, {*p.EvDup, &r.seen.dup}, {*p.EvGap, &r.seen.gap}, {*p.EvOverrun, &r.seen.overrun},
		{*p.EvStray, &r.seen.stray}, {*p.EvMalformed, &r.seen.malformed}} {
		if e.pulse {
			*e.count++
		}
	}
}

func (r *receiver) idle(n int) {
	for range n {
		r.clock(linkproto.SymIdle)
	}
}

func (r *receiver) feed(symbols []linkproto.Symbol) {
	for _, s := range symbols {
		r.clock(s)
	}
}

func (r *receiver) frame(seq int, payload []byte) {
	r.feed(framed(seq, payload))
}

// restart ends the session as link_state does.
func (r *receiver) restart() {
	*r.pins.Up, *r.pins.Restart = false, true
	r.clock(linkproto.SymIdle)
	*r.pins.Restart = false
}

// expect compares what has been counted, and the state, after everything has come through.
func (r *receiver) expect(what string, want rxEvents, expected int, lost bool) {
	r.t.Helper()
	r.idle(4)
	if r.seen != want || *r.pins.Expected != uint8(expected) || *r.pins.Lost != lost {
		r.t.Fatalf("cycle %d: %s: counted %+v, expects %d, lost %v; want %+v, %d, %v", r.b.Cycle(), what, r.seen, *r.pins.Expected, *r.pins.Lost,
			want, uint8(expected), lost)
	}
}
