package recordings

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/timing"
)

// linkRecord is what was to be seen at two link endpoints, an item a clock.
type linkRecord struct {
	lineA, lineB     []linkproto.Symbol
	upA, upB         []bool
	stopB            []bool // b says STOP
	deliversB, lastB []bool // b hands out a byte, the last one of a packet
}

// linkPins are the probes of module link_pair and what a recording sets.
type linkPins struct {
	LineA   *uint16 `port:"a_line"`
	LineB   *uint16 `port:"b_line"`
	StatusA *uint32 `port:"a_status"`
	StatusB *uint32 `port:"b_status"`
	Valid   *bool   `port:"bm_valid"`
	Ready   *bool   `port:"bm_ready"`
	Last    *bool   `port:"bm_last"`
	Flip    *uint16 `port:"flip_a"`
	RstA    *bool   `port:"rst_a"`
	RstB    *bool   `port:"rst_b"`
}

// record runs clocks until at, which is called before each, says that it is enough.
func recordLink(ctx context.Context, l *probe.LinkPair, at func(clock int, pins linkPins, r *linkRecord) (enough bool)) *linkRecord {
	const most = 100_000
	var pins linkPins
	try.OK(l.Model.Bind(&pins))
	r := &linkRecord{}
	for clock := range most {
		if at(clock, pins, r) {
			return r
		}
		try.OK(ctx.Err(), l.Model.Run(1))
		r.lineA, r.lineB = append(r.lineA, linkproto.Symbol(*pins.LineA)), append(r.lineB, linkproto.Symbol(*pins.LineB))
		r.upA, r.upB = append(r.upA, linkproto.StatusUp.Of(*pins.StatusA) != 0), append(r.upB, linkproto.StatusUp.Of(*pins.StatusB) != 0)
		r.stopB = append(r.stopB, linkproto.StatusOwnStop.Of(*pins.StatusB) != 0)
		r.deliversB, r.lastB = append(r.deliversB, *pins.Valid && *pins.Ready), append(r.lastB, *pins.Last)
	}
	try.Failf("recordings: %d clocks were not enough", most)
	return nil
}

// delivered are the packets that b hands out.
func (r *linkRecord) delivered() []timing.Span {
	var spans []timing.Span
	start, count := -1, 0
	for i, on := range r.deliversB {
		if on && start < 0 {
			start = i
		}
		if on && r.lastB[i] {
			spans = append(spans, timing.Span{From: start, To: i + 1, Kind: timing.Level, Labels: []string{fmt.Sprintf("packet %d", count), fmt.Sprint(count)}})
			start, count = -1, count+1
		}
	}
	return spans
}

// handshake resets both ends, and lets one begin later than the other.
func handshake(ctx context.Context) timing.Diagram {
	const later = 24
	l := try.Get(probe.OpenLinkPair(ctx, 1, 1))
	defer l.Model.Close()
	up := 0
	r := recordLink(ctx, l, func(clock int, pins linkPins, r *linkRecord) bool {
		switch {
		case clock == 0:
			*pins.RstA, *pins.RstB = true, true
		case clock == 8:
			*pins.RstA = false
		case clock == 8+later:
			*pins.RstB = false
		case clock > 8+later && up == 0 && r.upA[clock-1] && r.upB[clock-1]:
			up = clock
		}
		return up > 0 && clock == up+16
	})
	return timing.Diagram{Name: "init", Title: "INIT: a link comes up",
		Text: fmt.Sprintf("A leaves reset %d clocks before B and says INIT with its epoch. B, as soon as it runs, answers with its own and with A's as echo; "+
			"when each has seen its own epoch come back, both are up, and words carry acknowledgements.", later),
		To: up + 14,
		Lanes: []timing.Lane{
			lane("A to B", r.lineA), {Name: "A is up", Spans: level(r.upA, "up")}, lane("B to A", r.lineB), {Name: "B is up", Spans: level(r.upB, "up")},
		},
		Marks: []timing.Mark{{At: 8, Label: "A leaves reset"}, {At: 8 + later, Label: "B leaves reset"}},
	}
}

// write is a WRITE of n bytes to the start of a page.
func write(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i)
	}
	return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Data: data})
}

// settled runs a pair of links until they are up and quiet.
func settled(ctx context.Context) *probe.LinkPair {
	l := try.Get(probe.OpenLinkPair(ctx, 1, 1))
	try.OK(l.Model.Run(2000))
	return l
}

// stopAndGo lets b's reader stop until b says STOP, and read again.
func stopAndGo(ctx context.Context) timing.Diagram {
	l := settled(ctx)
	defer l.Model.Close()
	packet := write(500)
	l.Sinks[1].SetThrottle(1)
	stop, reads, going := 0, 0, 0
	r := recordLink(ctx, l, func(clock int, _ linkPins, r *linkRecord) bool {
		l.Sources[0].Send(packet) // as much as it takes
		switch stopped := clock > 0 && r.stopB[clock-1]; {
		case stop == 0 && stopped:
			stop, reads = clock-1, clock+120
		case stop > 0 && clock == reads:
			l.Sinks[1].SetThrottle(0)
		case stop > 0 && clock > reads && going == 0 && !stopped:
			going = clock - 1
		}
		return going > 0 && clock == going+600
	})
	return timing.Diagram{Name: "stop-go", Title: "STOP and GO",
		Text: "B's reader does not read. When B's receive FIFO has filled up to the high watermark, B says STOP in a link state word, and A falls silent in " +
			"the middle of a frame; words go on. The reader reads again, at the low watermark B says GO, and the frame goes on where it was.",
		From: stop - 24, To: going + 40,
		Lanes: []timing.Lane{
			lane("A to B", r.lineA), lane("B to A", r.lineB), {Name: "B wants STOP", Spans: level(r.stopB, "STOP")}, {Name: "B's reader takes", Spans: r.delivered()},
		},
		Marks: []timing.Mark{{At: stop, Label: "high watermark"}, {At: reads, Label: "the reader reads again"}, {At: going, Label: "low watermark"}},
	}
}

// lostAndReplay damages one symbol of the second of four frames.
func lostAndReplay(ctx context.Context) timing.Diagram {
	l := settled(ctx)
	defer l.Model.Close()
	const packets, victim = 4, 2
	packet := write(4)
	frames, since, flipped, delivered, end := 0, 0, 0, 0, 0
	r := recordLink(ctx, l, func(clock int, pins linkPins, r *linkRecord) bool {
		if clock == 0 {
			for range packets {
				l.Sources[0].Send(packet)
			}
			return false
		}
		since++
		if r.lineA[clock-1] == linkproto.SymSOP {
			frames, since = frames+1, 0
		}
		*pins.Flip = 0
		if frames == victim && since == 9 && flipped == 0 {
			*pins.Flip, flipped = 4, clock
		}
		if r.deliversB[clock-1] && r.lastB[clock-1] {
			if delivered++; delivered == packets {
				end = clock
			}
		}
		return end > 0 && clock == end+30
	})
	start := first(r.lineA, 0, "frame", is(linkproto.SymSOP))
	return timing.Diagram{Name: "lost-replay", Title: "LOST and replay",
		Text: "One bit of frame 1 is wrong when it arrives. Its CRC tells; B drops it, and frame 2 behind it, and says LOST 1: go back to frame 1. A sends " +
			"from there again, and B's packets come out once and in order.",
		From: start - 4, To: end + 24,
		Lanes: []timing.Lane{
			lane("A to B, as sent", r.lineA), {Name: "damage on the way", Spans: []timing.Span{{From: flipped, To: flipped + 1, Kind: timing.Fault, Labels: []string{"a bit is inverted"}}}},
			lane("B to A", r.lineB), {Name: "B delivers", Spans: r.delivered()},
		},
	}
}
