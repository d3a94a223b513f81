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

// watchLink watches a pair of links until at says that it is enough.
func watchLink(ctx context.Context, l *probe.LinkPair, at func(clock int, r record) (enough bool)) record {
	run := func(n int) error { return l.Model.Run(uint64(n)) }
	return watch(ctx, l.Model, run, []string{"a_line", "b_line", "a_status", "b_status", "bm_valid", "bm_ready", "bm_last"}, at)
}

var up, stop = flag(linkproto.StatusUp), flag(linkproto.StatusOwnStop)

// ends reports whether b hands out the last byte of a packet in a clock.
func (r record) ends(clock int) bool { return r.delivers(clock) && high(r["bm_last"][clock]) }

// delivers reports whether b hands out a byte.
func (r record) delivers(clock int) bool {
	return high(r["bm_valid"][clock]) && high(r["bm_ready"][clock])
}

// delivered are the packets that b hands out.
func (r record) delivered() []timing.Span {
	var spans []timing.Span
	start, count := -1, 0
	for i := range r["bm_valid"] {
		if r.delivers(i) && start < 0 {
			start = i
		}
		if r.ends(i) {
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
	bothUp := 0
	r := watchLink(ctx, l, func(clock int, r record) bool {
		switch {
		case clock == 0:
			try.OK(l.Model.Poke("rst_a", 1), l.Model.Poke("rst_b", 1))
		case clock == 8:
			try.OK(l.Model.Poke("rst_a", 0))
		case clock == 8+later:
			try.OK(l.Model.Poke("rst_b", 0))
		case clock > 8+later && bothUp == 0 && up(r["a_status"][clock-1]) && up(r["b_status"][clock-1]):
			bothUp = clock
		}
		return bothUp > 0 && clock == bothUp+16
	})
	return timing.Diagram{Name: "init", Title: "INIT: a link comes up",
		Text: fmt.Sprintf("A leaves reset %d clocks before B and says INIT: who it is. B, as soon as it runs, says who it is. Who has heard that says a word sealed "+
			"for the other, and who hears a sealed word is up: it is known.", later),
		To: bothUp + 14,
		Lanes: []timing.Lane{
			r.lane("A to B", "a_line"), {Name: "A is up", Spans: level(r["a_status"], up, "up")},
			r.lane("B to A", "b_line"), {Name: "B is up", Spans: level(r["b_status"], up, "up")},
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
	full, reads, going := 0, 0, 0
	r := watchLink(ctx, l, func(clock int, r record) bool {
		l.Sources[0].Send(packet) // as much as it takes
		switch stopped := clock > 0 && stop(r["b_status"][clock-1]); {
		case full == 0 && stopped:
			full, reads = clock-1, clock+120
		case full > 0 && clock == reads:
			l.Sinks[1].SetThrottle(0)
		case full > 0 && clock > reads && going == 0 && !stopped:
			going = clock - 1
		}
		return going > 0 && clock == going+600
	})
	return timing.Diagram{Name: "stop-go", Title: "STOP and GO",
		Text: "B's reader does not read. When B's receive FIFO has filled up to the high watermark, B says STOP in a link state word, and A falls silent in " +
			"the middle of a frame; words go on. The reader reads again, at the low watermark B says GO, and the frame goes on where it was.",
		From: full - 24, To: going + 40,
		Lanes: []timing.Lane{
			r.lane("A to B", "a_line"), r.lane("B to A", "b_line"),
			{Name: "B wants STOP", Spans: level(r["b_status"], stop, "STOP")}, {Name: "B's reader takes", Spans: r.delivered()},
		},
		Marks: []timing.Mark{{At: full, Label: "high watermark"}, {At: reads, Label: "the reader reads again"}, {At: going, Label: "low watermark"}},
	}
}

// lostAndReplay damages one symbol of the second of four frames.
func lostAndReplay(ctx context.Context) timing.Diagram {
	l := settled(ctx)
	defer l.Model.Close()
	const packets, victim = 4, 2
	packet := write(4)
	frames, since, flipped, delivered, end := 0, 0, 0, 0, 0
	r := watchLink(ctx, l, func(clock int, r record) bool {
		if clock == 0 {
			for range packets {
				l.Sources[0].Send(packet)
			}
			return false
		}
		since++
		if is(linkproto.SymSOP)(r["a_line"][clock-1]) {
			frames, since = frames+1, 0
		}
		flip := uint64(0)
		if frames == victim && since == 9 && flipped == 0 {
			flip, flipped = 4, clock
		}
		try.OK(l.Model.Poke("flip_a", flip))
		if r.ends(clock - 1) {
			if delivered++; delivered == packets {
				end = clock
			}
		}
		return end > 0 && clock == end+30
	})
	start := r.first("a_line", 0, "frame", is(linkproto.SymSOP))
	return timing.Diagram{Name: "lost-replay", Title: "LOST and replay",
		Text: "One bit of frame 1 is wrong when it arrives. Its CRC tells; B drops it, and frame 2 behind it, and says LOST 1: go back to frame 1. A sends " +
			"from there again, and B's packets come out once and in order.",
		From: start - 4, To: end + 24,
		Lanes: []timing.Lane{
			r.lane("A to B, as sent", "a_line"), {Name: "damage on the way", Spans: []timing.Span{{From: flipped, To: flipped + 1, Kind: timing.Fault, Labels: []string{"a bit is inverted"}}}},
			r.lane("B to A", "b_line"), {Name: "B delivers", Spans: r.delivered()},
		},
	}
}
