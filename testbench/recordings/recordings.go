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

// level turns a signal, a value a clock, into spans where it is 1.
func level(signal []bool, label string) []timing.Span {
	var spans []timing.Span
	for i, on := range signal {
		switch {
		case on && (i == 0 || !signal[i-1]):
			spans = append(spans, timing.Span{From: i, To: i + 1, Kind: timing.Level, Labels: []string{label}})
		case on:
			spans[len(spans)-1].To = i + 1
		}
	}
	return spans
}

// first returns the first index from which on something holds.
func first[T any](list []T, from int, what string, holds func(T) bool) int {
	at := slices.IndexFunc(list[from:], holds)
	if at < 0 {
		try.Failf("recordings: after %d clocks still no %s", len(list), what)
	}
	return from + at
}

func is(s linkproto.Symbol) func(linkproto.Symbol) bool {
	return func(x linkproto.Symbol) bool { return x == s }
}

func high(b bool) bool { return b }

// niRecord is what was to be seen in a niPair, an item a clock.
type niRecord struct {
	hostA, linkA, linkB, fromB, toB []linkproto.Symbol
	takenA, takenB, writes, holds   []bool
	addr                            []uint32
	mask                            []uint8
}

// record runs n clocks; at is called before each.
func recordNI(ctx context.Context, p *probe.NIPair, n int, at func(clock int)) *niRecord {
	var pins struct {
		HostA  *uint16 `port:"a_rx"`
		ToB    *uint16 `port:"b_rx"`
		FromB  *uint16 `port:"b_tx"`
		LinkA  *uint16 `port:"a_link"`
		LinkB  *uint16 `port:"b_link"`
		TakenA *bool   `port:"a_takes"`
		TakenB *bool   `port:"b_takes"`
		Writes *bool   `port:"b_writes"`
		Addr   *uint32 `port:"b_addr"`
		Mask   *uint8  `port:"b_mask"`
		Holds  *bool   `port:"b_holds"`
	}
	try.OK(p.Model.Bind(&pins))
	r := &niRecord{}
	for clock := range n {
		at(clock)
		try.OK(ctx.Err(), p.Turn(1))
		for _, line := range []struct {
			to  *[]linkproto.Symbol
			pin *uint16
		}{{&r.hostA, pins.HostA}, {&r.toB, pins.ToB}, {&r.fromB, pins.FromB}, {&r.linkA, pins.LinkA}, {&r.linkB, pins.LinkB}} {
			*line.to = append(*line.to, linkproto.Symbol(*line.pin))
		}
		for _, signal := range []struct {
			to  *[]bool
			pin *bool
		}{{&r.takenA, pins.TakenA}, {&r.takenB, pins.TakenB}, {&r.writes, pins.Writes}, {&r.holds, pins.Holds}} {
			*signal.to = append(*signal.to, *signal.pin)
		}
		r.addr, r.mask = append(r.addr, *pins.Addr), append(r.mask, *pins.Mask)
	}
	return r
}

// words are the writes to b's receive buffer.
func (r *niRecord) words() []timing.Span {
	var spans []timing.Span
	for i, on := range r.writes {
		if on {
			spans = append(spans, timing.Span{From: i, To: i + 1, Kind: timing.Event, Labels: []string{fmt.Sprintf("%#x", r.addr[i])},
				Text: fmt.Sprintf("word at %#x written, byte mask %04b", r.addr[i], r.mask[i])})
		}
	}
	return spans
}

func lane(name string, line []linkproto.Symbol) timing.Lane {
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
	r := recordNI(ctx, p, 200, func(clock int) {
		if clock == 0 {
			try.OK(p.A.Write(1, 0x40, []byte("8 bytes.")))
		}
	})
	eop := first(r.hostA, 0, "end of the frame from the host", is(linkproto.SymEOP))
	at := eop
	for _, stage := range []struct {
		name string
		ends func(from int) int
	}{
		{"host port: frame checked, packet committed", func(from int) int { return first(r.takenA, from, "packet from the host", high) }},
		{"through the NI, frame begun on the link", func(from int) int { return first(r.linkA, from, "frame on the link", is(linkproto.SymSOP)) }},
		{"frame on the link", func(from int) int { return first(r.linkA, from, "end of the frame on the link", is(linkproto.SymEOP)) }},
		{"link: frame checked, packet committed", func(from int) int { return first(r.takenB, from, "packet from the link", high) }},
		{"header checked, first word written", func(from int) int { return first(r.writes, from, "word written", high) }},
		{"last word written, data readable", func(from int) int {
			return first(r.writes, from+1, "second word written", high) + 1 // it shows from the next clock on
		}},
	} {
		end := stage.ends(at)
		stages = append(stages, Stage{stage.name, at - eop, end - eop})
		at = end
	}
	d = timing.Diagram{Name: "remote-write", Title: "Remote write",
		Text: "Host A writes 8 bytes into a frame of B's receive buffer. The packet goes to A's network interface, from there over the link, and is " +
			"written when its frame has been checked. No host takes part at B.",
		To: at + 8,
		Lanes: []timing.Lane{
			lane("host A to its network interface", r.hostA), lane("link, A to B", r.linkA), lane("link, B to A", r.linkB),
			{Name: "written to B's receive buffer", Spans: r.words()},
		},
		Marks: []timing.Mark{{At: eop, Label: "last symbol from the host"}, {At: at, Label: fmt.Sprintf("readable, %d clocks later", at-eop)}},
	}
	return d, stages
}
