package debug

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// recording is what the trace buffer holds, and what it was to hold.
type recording struct {
	linkproto.TraceSetup
	asked, running, triggered bool // asked: the host has
	count, mark, lost         uint32
	stopped                   uint64                  // when it was told to, if it ran
	records                   []linkproto.TraceRecord // the last of them, in the order of the ring
}

// read stops the recording and reads the ring.
func (x *exact) read(setup linkproto.TraceSetup) recording {
	control := try.Get(x.ReadRegister(0, linkproto.TraceControl.Reg()))
	try.OK(x.WriteRegister(0, linkproto.TraceControl.Reg(), 0))
	v := x.readAll(linkproto.TraceControl.Reg(), linkproto.TraceCount.Reg(), linkproto.TraceMark.Reg(), linkproto.TraceLost.Reg())
	r := recording{TraceSetup: setup, running: linkproto.TraceRun.Of(control) == 1, triggered: linkproto.TraceTriggered.Of(control) == 1,
		count: v[1], mark: v[2], lost: v[3], stopped: x.control}
	if want := control &^ linkproto.TraceRun.In(1); v[0] != want {
		try.Failf("CONTROL reads %d once stopped, want %d", v[0], want)
	}
	var ring []linkproto.Reg
	depth := uint32(x.Params.Trace)
	for n := r.count - min(r.count, depth); n < r.count; n++ {
		ring = append(ring, linkproto.TraceRingReg(int(n%depth), 0), linkproto.TraceRingReg(int(n%depth), 1))
	}
	for words := range slices.Chunk(x.readAll(ring...), 2) {
		r.records = append(r.records, linkproto.DecodeTraceRecord([2]uint32(words)))
	}
	return r
}

// readAll reads registers, many at once.
func (x *exact) readAll(regs ...linkproto.Reg) []uint32 {
	values := make([]uint32, len(regs))
	asked, told := 0, 0
	try.OK(x.Until(1_000_000, "the answers", func() bool {
		for asked < len(regs) {
			n := asked
			err := x.Node.Host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: regs[n]}, func(a linkproto.Packet) {
				if a.Type != linkproto.TypeRegData {
					try.Failf("reading register %v is answered %v", regs[n], a.Status)
				}
				values[n] = a.Value
				told++
			})
			if errors.Is(err, ni.ErrBusy) {
				break
			}
			try.OK(err)
			asked++
		}
		return told == len(regs)
	}))
	return values
}

// check holds a recording that began in a clock against what has happened since.
func (x *exact) check(r recording, start uint64) {
	var events, triggers uint32
	for _, e := range r.Events {
		events |= e.Bit()
	}
	for _, e := range r.Trigger {
		triggers |= e.Bit()
	}
	of := func(list []int, port int) bool { return list == nil || slices.Contains(list, port) }
	depth, first := uint32(x.Params.Trace), r.count-uint32(len(r.records))
	whole := r.count <= depth

	// By port: the clocks in which something was to be recorded, of which those are taken off that have been.
	due := make([][]uint64, len(x.cables))
	for port, c := range x.cables {
		for t, e := range c.happened {
			if e&events != 0 && t >= start && of(r.Ports, port) {
				due[port] = append(due[port], t)
			}
		}
		slices.Sort(due[port])
	}
	latest, fits := uint64(0), uint32(math.MaxUint32)
	last := make([]int, len(due)) // by port, of due, behind its last record
	for i, rec := range r.records {
		number, t, port := first+uint32(i), uint64(rec.Time), int(rec.Port)
		what := fmt.Sprintf("record %d of %d: %#x at port %d in clock %d", number, r.count, rec.Events, port, t)
		if port >= len(due) {
			try.Failf("%s: there is no such port", what)
		}
		at, is := slices.BinarySearch(due[port], t)
		switch {
		case !is:
			try.Failf("%s: nothing that was to be recorded", what)
		case rec.Events != x.cables[port].happened[t]&events:
			try.Failf("%s, want %#x", what, x.cables[port].happened[t]&events)
		case at < last[port] || t+16 < latest:
			try.Failf("%s comes too late, behind clock %d", what, latest)
		case (whole || last[port] > 0) && rec.Lost != (at > last[port]):
			try.Failf("%s: events lost before it: %v, but %d", what, rec.Lost, at-last[port])
		}
		if whole || last[port] > 0 {
			for _, lost := range due[port][last[port]:at] {
				if before := slices.Index(due[port], lost) - 1; before < 0 || lost-due[port][before] >= uint64(len(due)) {
					try.Failf("%s: what happened in clock %d was lost, though the port's turn had come since the one before", what, lost)
				}
			}
		}
		last[port], latest = at+1, max(latest, t)
		if rec.Events&triggers != 0 && of(r.TriggerPorts, port) {
			fits = min(fits, number)
		}
	}

	// The trigger, and where it stopped.
	limit := r.mark + uint32(r.Post)
	switch {
	case !r.triggered && (r.asked || fits != math.MaxUint32):
		try.Failf("record %d was to trigger, the host: %v, and nothing has", fits, r.asked)
	case !r.triggered:
		limit = math.MaxUint32
	case r.mark == fits && r.asked && !r.running && r.count == limit: // the host has just before
	case r.mark == fits:
		limit++
	case !r.asked && (whole || r.mark >= first):
		try.Failf("record %d triggered, want %d", r.mark, fits)
	case !r.asked:
		limit++
	case r.mark > fits:
		try.Failf("the host has triggered at record %d, want record %d to", r.mark, fits)
	}
	if r.running != (r.count < limit) || r.count > limit {
		try.Failf("%d records, want %d at most; recording: %v", r.count, limit, r.running)
	}

	// What is not there is counted as lost.
	least, most := 0, 0
	ended := latest
	if r.running {
		ended = r.stopped
	}
	for _, list := range due {
		for _, t := range list {
			if t+16 < ended {
				least++
			}
			if t < ended+64 {
				most++
			}
		}
	}
	if have := int(r.count + r.lost); have < least || have > most {
		try.Failf("%d records and %d lost, want %d to %d together", r.count, r.lost, least, most)
	}
}
