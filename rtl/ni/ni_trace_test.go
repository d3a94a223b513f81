package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Whatever happens at how many ports at once, each record tells what happened at its port in its clock, in order, and what is
// missing is counted and told.
func TestTrace(t *testing.T) {
	for _, ports := range []int{2, 3, 8} {
		t.Run(fmt.Sprint(ports), func(t *testing.T) {
			x := newTracer(t, ports, 1024, 1000)
			lost := 0
			for round := range 24 {
				var s linkproto.TraceSetup
				events, from := uint32(1<<linkproto.NumTraceEvents-1), uint32(0xFF)
				if round%3 == 2 { // some events at some ports
					events, from = 0, 0
					s.Events, s.Ports = []linkproto.TraceEvent{}, []int{}
					for e := range linkproto.TraceEvent(linkproto.NumTraceEvents) {
						if x.rng.Bool() {
							events |= e.Bit()
							s.Events = append(s.Events, e)
						}
					}
					for p := range ports {
						if x.rng.Bool() {
							from |= 1 << p
							s.Ports = append(s.Ports, p)
						}
					}
				}
				x.start(s)
				density := []float64{0.02, 0.3, 0.7, 1.5 / float64(ports)}[round%4]
				for clocks := 1000 / ports; clocks > 0; clocks-- {
					x.random(min(density, 0.9))
					x.clock()
				}
				x.idle(20)
				records, _ := x.ring()
				lost += x.check(fmt.Sprintf("round %d", round), records, events, from)
			}
			if lost == 0 {
				t.Error("nothing was lost at any density")
			}
		})
	}
}

// Registers above POST are not written, nor is another one in their place.
func TestTraceRegisters(t *testing.T) {
	x := newTracer(t, 2, 64, 0)
	for r := range linkproto.TraceReg(16) {
		x.write(r, 1<<r)
	}
	for r := linkproto.TraceMask; r <= linkproto.TracePost; r++ {
		check.Equal(t, fmt.Sprint("register ", r), x.read(r), uint32(1)<<r)
	}
}

// One port alone is recorded at every clock, and all ports at once in one clock, without a loss.
func TestTraceKeepsUp(t *testing.T) {
	const ports = 8
	x := newTracer(t, ports, 1024, 7)
	for port := range ports {
		x.start(linkproto.TraceSetup{})
		x.write(linkproto.TraceMask, 1<<28-1) // those above the last event stand for nothing
		for range 200 {
			x.quiet()
			x.counts[port] = 1 + x.rng.Uint32()&0xFFFE
			x.clock()
		}
		x.idle(20)
		records, _ := x.ring()
		if lost := x.check(fmt.Sprintf("port %d", port), records, 1<<28-1, 0xFF); lost > 0 || len(records) != 200 {
			t.Errorf("port %d: %d records, %d lost", port, len(records), lost)
		}
	}
	x.start(linkproto.TraceSetup{})
	for range 50 {
		x.quiet()
		for p := range ports {
			x.counts[p] = 1 << x.rng.IntN(16)
		}
		x.clock()
		x.idle(ports - 1)
	}
	x.idle(20)
	records, _ := x.ring()
	if lost := x.check("all at once", records, 1<<28-1, 0xFF); lost > 0 || len(records) != 50*ports {
		t.Errorf("all at once: %d records, %d lost", len(records), lost)
	}
}

// A trace that is started while one runs, with records on their way to the ring, has none of those.
func TestTraceStartsAnew(t *testing.T) {
	x := newTracer(t, 3, 64, 0)
	x.start(linkproto.TraceSetup{})
	for round := range 40 {
		for range x.rng.IntN(8) {
			x.random(0.5)
			x.clock()
		}
		*x.p.WrEn, *x.p.WrReg, *x.p.WrData = true, uint8(linkproto.TraceControl), linkproto.TraceRun.In(1)
		x.random(0.5)
		x.clock()
		*x.p.WrEn = false
		x.random(0.5)
		x.clock()
		x.seen = map[[2]uint32]uint32{}
		for range x.rng.IntN(12) {
			x.random(0.5)
			x.clock()
		}
		x.idle(20)
		count := int(x.read(linkproto.TraceCount))
		records := make([]linkproto.TraceRecord, count)
		for i := range records {
			records[i] = x.place(i)
		}
		x.check(fmt.Sprintf("round %d", round), records, 1<<linkproto.NumTraceEvents-1, 0xFF)
	}
}

// The ring holds the last records; the trigger's has the number that MARK says, and POST follow it.
func TestTraceTrigger(t *testing.T) {
	x := newTracer(t, 3, 16, 0)
	trigger := linkproto.EvTrapped
	for round := range 60 {
		at := x.rng.IntN(3) // the port that triggers
		post := testbench.Pick[uint16](x.rng, 0, 1, 3, 15, 16, 40)
		s := linkproto.TraceSetup{Trigger: []linkproto.TraceEvent{trigger}, TriggerPorts: []int{at}, Post: post}
		byHost := round%4 == 3
		if byHost {
			s.Trigger = nil
		}
		busy := round%8 == 7 // a record is written each clock
		x.start(s)
		check.Equal(t, "MARK before the trigger", x.read(linkproto.TraceMark), 0)
		before, asked := x.rng.IntN(60), 0
		for i := range before + 200 {
			x.random(0.15)
			for p := range x.ports { // the trigger at its port, and only when it is time; elsewhere it does not trigger
				if p == at && (i < before || byHost) {
					x.level[p] &^= 1 << 3
				}
				if busy {
					x.counts[p] |= 1
				}
			}
			if i > before && x.rng.Chance(0.3) && !byHost { // what triggers comes again, and means nothing then
				x.level[at] ^= 1 << 3
			}
			if i == before {
				x.level[at] |= 1 << 3
				if byHost {
					asked = int(x.read(linkproto.TraceCount))
					x.write(linkproto.TraceControl, linkproto.TraceTriggered.In(1))
					continue
				}
			}
			x.clock()
		}
		control := x.read(linkproto.TraceControl)
		if control != linkproto.TraceTriggered.In(1) {
			t.Fatalf("round %d: after the trigger CONTROL reads %d", round, control)
		}
		records, first := x.ring()
		count, mark := int(x.read(linkproto.TraceCount)), int(x.read(linkproto.TraceMark))
		want := mark + 1 + int(post)
		if byHost {
			want = mark + int(post)
			if mark < asked || mark > asked+3 {
				t.Fatalf("round %d: MARK is %d, the host triggered after %d records", round, mark, asked)
			}
		}
		if count != want {
			t.Fatalf("round %d: %d records, the trigger's is %d, want %d after it", round, count, mark, post)
		}
		for i, r := range records {
			if want := x.seen[[2]uint32{uint32(r.Port), r.Time}]; r.Events != want {
				t.Fatalf("round %d: record %d says %#x of port %d, clock %d, want %#x", round, first+i, r.Events, r.Port, r.Time, want)
			}
			hit := int(r.Port) == at && r.Events&trigger.Bit() != 0
			if !byHost && hit && first+i < mark || !byHost && first+i == mark && !hit {
				t.Fatalf("round %d: record %d has the trigger %v, MARK is %d", round, first+i, hit, mark)
			}
		}
	}
}

// Records and losses are counted through 16 bits and more.
func TestTraceCounts(t *testing.T) {
	const ports = 8
	x := newTracer(t, ports, 16, 0)
	x.start(linkproto.TraceSetup{})
	for p := range ports {
		set(x.t, x.b, "counted", 16, p, 1)
	}
	x.b.Step(20)
	count, lost := x.read(linkproto.TraceCount), x.read(linkproto.TraceLost)
	for count < 1<<17 {
		n := uint32(x.rng.Between(1, 2000))
		x.b.Step(uint64(n))
		count, lost = count+n, lost+n*(ports-1) // one can be written a clock
		if c, l := x.read(linkproto.TraceCount), x.read(linkproto.TraceLost); c != count || l != lost {
			t.Fatalf("%#x records, %#x lost, want %#x and %#x", c, l, count, lost)
		}
	}
}

// When the clock passes zero that is recorded, though nothing else is, even if the port is busy just then; it triggers if it is to.
func TestTraceZero(t *testing.T) {
	for round := range 4 {
		busy, triggers := round%2 == 1, round >= 2
		x := newTracer(t, 2, 64, 0xFFFFFF00)
		events := []linkproto.TraceEvent{}
		if busy {
			events = nil
		}
		setup := linkproto.TraceSetup{Events: events, Trigger: []linkproto.TraceEvent{linkproto.EvTrapped}, Post: 60}
		if triggers {
			setup.Trigger = append(setup.Trigger, linkproto.EvZero)
		}
		x.start(setup)
		for x.now != 40 {
			x.quiet()
			if busy && int32(x.now) > -20 && int32(x.now) < 20 {
				x.counts[0], x.counts[1] = 1, 1
			}
			x.clock()
		}
		if control := x.read(linkproto.TraceControl); linkproto.TraceTriggered.Of(control) == 1 != triggers {
			t.Errorf("busy %v: CONTROL reads %d, zero is to trigger: %v", busy, control, triggers)
		}
		records, _ := x.ring()
		zeros := 0
		for _, r := range records {
			if r.Events&linkproto.EvZero.Bit() != 0 {
				zeros++
				if r.Port != 0 || r.Time > 8 {
					t.Errorf("busy %v: zero is recorded at port %d, clock %d", busy, r.Port, r.Time)
				}
			}
		}
		if zeros != 1 || !busy && len(records) != 1 {
			t.Errorf("busy %v: %d records, %d of them zero", busy, len(records), zeros)
		}
	}
}
