// Package recordings records the main exchanges of the protocol on the RTL for timing diagrams.
package recordings

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/testbench/timing"
	"github.com/stafflink/lmmc/testbench/wire"
	"github.com/stafflink/lmmc/verilator"
)

// Stage is a part of the way of a remote write.
type Stage struct {
	Name     string
	From, To int // clocks after the last symbol has entered the sender's host port
}

// All runs the main exchanges of the protocol on the RTL, clock by clock, and returns what was to be seen on its cables and inside,
// and the stages of the remote write among them. Exchanges that fail are left out, and the error says why.
func All(ctx context.Context) (all []timing.Diagram, stages []Stage, err error) {
	for _, record := range []func(context.Context) timing.Diagram{
		func(ctx context.Context) (d timing.Diagram) {
			d, stages = remoteWrite(ctx)
			return d
		},
		handshake, stopAndGo, lostAndReplay, pageAndResume, notifications,
	} {
		err = errors.Join(err, try.Run(func() { all = append(all, record(ctx)) }))
	}
	return all, stages, err
}

// record is what was to be seen at ports of a model, a value a clock.
type record map[string][]uint64

// watch runs clocks until at, which is called before each, says that it is enough.
func watch(ctx context.Context, m *verilator.Model, run func(clocks int) error, ports []string,
	at func(clock int, r record) (enough bool)) record {
	const most = 100_000
	r := record{}
	for clock := range most {
		if at(clock, r) {
			return r
		}
		try.OK(ctx.Err(), run(1))
		for _, port := range ports {
			r[port] = append(r[port], try.Get(m.Peek(port)))
		}
	}
	try.Failf("recordings: %d clocks were not enough", most)
	return nil
}

// level turns a signal into spans where something holds.
func level(signal []uint64, holds func(uint64) bool, label string) []timing.Span {
	var spans []timing.Span
	for i, v := range signal {
		switch {
		case !holds(v):
		case i == 0 || !holds(signal[i-1]):
			spans = append(spans, timing.Span{From: i, To: i + 1, Kind: timing.Level, Labels: []string{label}})
		default:
			spans[len(spans)-1].To = i + 1
		}
	}
	return spans
}

// first returns the first index from which on something holds.
func (r record) first(port string, from int, what string, holds func(uint64) bool) int {
	at := slices.IndexFunc(r[port][from:], holds)
	if at < 0 {
		try.Failf("recordings: after %d clocks still no %s", len(r[port]), what)
	}
	return from + at
}

func is(s linkproto.Symbol) func(uint64) bool { return func(v uint64) bool { return v == uint64(s) } }

func high(v uint64) bool { return v != 0 }

func low(v uint64) bool { return v == 0 }

// flag says of a LINK_STATUS whether a field of it is set.
func flag(f linkproto.Bits) func(uint64) bool {
	return func(status uint64) bool { return f.Of(uint32(status)) != 0 }
}

// watchNI watches two network interfaces for n clocks; at is called before each.
func watchNI(ctx context.Context, p *probe.NIPair, n int, at func(clock int)) record {
	ports := []string{"a_rx", "b_rx", "b_tx", "a_link", "b_link", "b_sure", "b_writes", "b_addr", "b_mask", "b_holds"}
	return watch(ctx, p.Model, p.Turn, ports, func(clock int, _ record) bool {
		if clock < n {
			at(clock)
		}
		return clock == n
	})
}

// words are the writes to b's receive buffer.
func (r record) words() []timing.Span {
	var spans []timing.Span
	for i, writes := range r["b_writes"] {
		if high(writes) {
			addr := r["b_addr"][i]
			spans = append(spans, timing.Span{From: i, To: i + 1, Kind: timing.Event, Labels: []string{fmt.Sprintf("%#x", addr)},
				Text: fmt.Sprintf("word at %#x written, byte mask %04b", addr, r["b_mask"][i])})
		}
	}
	return spans
}

// lane draws the symbols of a port.
func (r record) lane(name, port string) timing.Lane {
	var line []linkproto.Symbol
	for _, v := range r[port] {
		line = append(line, linkproto.Symbol(v))
	}
	return timing.Lane{Name: name, Spans: wire.Spans(line, 0)}
}

func notify(p *probe.NIPair) {
	on := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegControl, Value: 1}
	try.OK(p.B.Request(on, func(linkproto.Packet) {}))
	try.OK(p.Run(1000))
}

func remoteWrite(ctx context.Context) (d timing.Diagram, stages []Stage) {
	p := try.Get(probe.OpenNIPair(ctx))
	defer p.Model.Close()
	r := watchNI(ctx, p, 200, func(clock int) {
		if clock == 0 {
			try.OK(p.A.Write(1, 0x40, []byte("8 bytes.")))
		}
	})
	eop := r.first("a_rx", 0, "end of the frame from the host", is(linkproto.SymEOP))
	begins := r.first("a_link", 0, "frame on the link", is(linkproto.SymSOP))
	at := eop
	for _, stage := range []struct {
		name string
		ends func(from int) int
	}{
		{"rest of the packet through the NI, frame on the link ended", func(from int) int {
			return r.first("a_link", from, "end of the frame on the link", is(linkproto.SymEOP))
		}},
		{"link: frame checked, packet committed", func(from int) int { return r.first("b_sure", from, "packet from the link committed", high) }},
		{"first word written", func(from int) int { return r.first("b_writes", from, "word written", high) }},
		{"last word written, data readable", func(from int) int {
			return r.first("b_writes", from+1, "second word written", high) + 1 // it shows from the next clock on
		}},
	} {
		end := stage.ends(at)
		stages = append(stages, Stage{stage.name, at - eop, end - eop})
		at = end
	}
	d = timing.Diagram{Name: "remote-write", Title: "Remote write",
		Text: "Host A writes 8 bytes into a frame of B's receive buffer. The packet goes to A's network interface and from there over the link while " +
			"its frame is still coming. It is written when both frames have been checked. No host takes part at B.",
		To: at + 8,
		Lanes: []timing.Lane{
			r.lane("host A to its network interface", "a_rx"), r.lane("link, A to B", "a_link"), r.lane("link, B to A", "b_link"),
			{Name: "written to B's receive buffer", Spans: r.words()},
		},
		Marks: []timing.Mark{{At: begins, Label: "frame on the link begins"}, {At: eop, Label: "last symbol from the host"}, {At: at, Label: fmt.Sprintf("readable, %d clocks later", at-eop)}},
	}
	return d, stages
}
