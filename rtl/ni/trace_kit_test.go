package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type tracePorts struct {
	WrEn, RingEn    *bool   `port:"*"`
	WrReg, RdReg    *uint8  `port:"*"`
	WrData, RdValue *uint32 `port:"*"`
	RingData        *uint64 `port:"*"`
}

// tracer is ni_trace, with what its ports (ni_trace_port) have seen noted beside it.
type tracer struct {
	t      *testing.T
	b      *testbench.Bench
	p      tracePorts
	rng    *testbench.Rand
	ports  int
	depth  int
	level  []uint32 // as in LINK_STATUS
	was    []uint32
	counts []uint32
	inject []bool
	now    uint32
	seen   map[[2]uint32]uint32 // port and clock to events
}

func newTracer(t *testing.T, ports, depth int, first uint32) *tracer {
	x := &tracer{t: t, ports: ports, depth: depth, level: make([]uint32, ports), was: make([]uint32, ports), counts: make([]uint32, ports), inject: make([]bool, ports)}
	x.b = moduletest.Open(t, "ni_trace", params{"PORTS": ports, "DEPTH": depth, "FIRST_CLOCK": fmt.Sprint(first)}, &x.p)
	x.rng = x.b.Rand("events")
	x.now = x.read(linkproto.TraceNow)
	if x.now-first > 64 {
		t.Errorf("the clock begins at %#x, want %#x", x.now, first)
	}
	check.Equal(t, "MARK after reset", x.read(linkproto.TraceMark), 0)
	x.quiet()
	return x
}

// quiet lets no event happen in the next clock.
func (x *tracer) quiet() {
	for p := range x.ports {
		x.counts[p], x.inject[p] = 0, false
	}
}

// random lets events happen at each port with a probability, several at once now and then.
func (x *tracer) random(density float64) {
	x.quiet()
	for p := range x.ports {
		for x.rng.Chance(density) {
			switch x.rng.IntN(3) {
			case 0:
				x.level[p] ^= 1 << x.rng.IntN(5)
			case 1:
				x.inject[p] = true
			default:
				x.counts[p] |= 1 << x.rng.IntN(16)
			}
		}
		x.level[p] = x.level[p]&0x1F | x.rng.Uint32()&0xFF00 // epochs mean nothing here
	}
}

// clock runs one clock and notes what happens in it.
func (x *tracer) clock() {
	for p := range x.ports {
		events := x.counts[p]
		edge := func(bit int, rise, fall linkproto.TraceEvent) {
			is, was := x.level[p]>>bit&1, x.was[p]>>bit&1
			if is > was && rise != 0 {
				events |= rise.Bit()
			}
			if is < was && fall != 0 {
				events |= fall.Bit()
			}
		}
		edge(0, linkproto.EvUp, 0)
		edge(1, linkproto.EvPeerStop, linkproto.EvPeerGo)
		edge(2, 0, linkproto.EvGo)
		edge(3, linkproto.EvTrapped, linkproto.EvResumed)
		edge(4, linkproto.EvMissing, linkproto.EvFound)
		if x.inject[p] {
			events |= linkproto.EvInjected.Bit()
		}
		if x.seen != nil && events != 0 {
			x.seen[[2]uint32{uint32(p), x.now}] = events
		}
		x.was[p] = x.level[p]
		set(x.t, x.b, "counted", 16, p, uint64(x.counts[p]))
		set(x.t, x.b, "status", 16, p, uint64(x.level[p]))
		set(x.t, x.b, "injected", 1, p, uint64(count(x.inject[p])))
	}
	x.b.Step(1)
	x.now++
}

func (x *tracer) idle(n int) {
	x.quiet()
	for range n {
		x.clock()
	}
}

func (x *tracer) write(r linkproto.TraceReg, v uint32) {
	x.quiet()
	*x.p.WrEn, *x.p.WrReg, *x.p.WrData = true, uint8(r), v
	x.clock()
	*x.p.WrEn = false
}

func (x *tracer) read(r linkproto.TraceReg) uint32 {
	*x.p.RdReg = uint8(r)
	settle(x.t, x.b)
	return *x.p.RdValue
}

func (x *tracer) start(s linkproto.TraceSetup) {
	err := s.Start(func(r linkproto.Reg, v uint32) error {
		x.write(linkproto.TraceReg(r-linkproto.RegTrace), v)
		return nil
	})
	check.Fatal(x.t, err)
	x.idle(1)
	x.seen = map[[2]uint32]uint32{}
}

func (x *tracer) place(i int) linkproto.TraceRecord {
	*x.p.RingEn = true
	check.Fatal(x.t, x.b.Model().Poke("ring_index", uint64(i)))
	x.idle(1)
	*x.p.RingEn = false
	return linkproto.DecodeTraceRecord([2]uint32{uint32(*x.p.RingData), uint32(*x.p.RingData >> 32)})
}

// ring returns the records that are there, the oldest first, and the number of the first.
func (x *tracer) ring() (records []linkproto.TraceRecord, first int) {
	if x.read(linkproto.TraceControl)&1 != 0 {
		x.write(linkproto.TraceControl, 0)
		x.idle(1)
	}
	count := int(x.read(linkproto.TraceCount))
	first = max(count-x.depth, 0)
	for n := first; n < count; n++ {
		records = append(records, x.place(n%x.depth))
	}
	return records, first
}

// check compares a recording that has not gone round with what happened, and returns how often events of a port were lost.
func (x *tracer) check(what string, records []linkproto.TraceRecord, events uint32, ports uint32) int {
	x.t.Helper()
	last := map[uint8]uint32{}
	taken := map[[2]uint32]bool{}
	for i, r := range records {
		key := [2]uint32{uint32(r.Port), r.Time}
		want := x.seen[key] & events
		if taken[key] || want == 0 || r.Events != want || ports>>r.Port&1 == 0 {
			x.t.Fatalf("%s: record %d says that %#x happened at port %d in clock %d, want %#x, once", what, i, r.Events, r.Port, r.Time, want)
		}
		taken[key] = true
		gap := false
		for missed := range x.seen {
			after, known := last[r.Port]
			gap = gap || missed[0] == uint32(r.Port) && x.seen[missed]&events != 0 && missed[1] < r.Time && (!known || missed[1] > after) && !taken[missed]
		}
		if previous, known := last[r.Port]; known && previous > r.Time || gap != r.Lost {
			x.t.Fatalf("%s: record %d of port %d and clock %d, the one before is of clock %d; lost %v, want %v", what, i, r.Port, r.Time, previous, r.Lost, gap)
		}
		last[r.Port] = r.Time
	}
	lost := 0
	for key, happened := range x.seen {
		if happened&events != 0 && ports>>key[0]&1 != 0 && !taken[key] {
			lost++
		}
	}
	if have := int(x.read(linkproto.TraceLost)); have != lost {
		x.t.Fatalf("%s: %d records are missing, LOST says %d", what, lost, have)
	}
	return lost
}
