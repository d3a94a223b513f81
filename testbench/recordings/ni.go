package recordings

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/testbench/timing"
)

// pageAndResume pages a port in and writes to it at once; the host answers when TRAP has arrived.
func pageAndResume(ctx context.Context) timing.Diagram {
	p := try.Get(probe.OpenNIPair(ctx))
	defer p.Model.Close()
	trapped, resumed := false, 0
	p.B.Received = func(x linkproto.Packet) { trapped = trapped || x.Type == linkproto.TypeTrap }
	r := watchNI(ctx, p, 600, func(clock int) {
		if clock == 0 {
			try.OK(p.A.Forward(linkproto.Packet{Type: linkproto.TypePage, Via: 1, Port: 7}))
			for i := range 2 {
				try.OK(p.A.Write(1, uint32(0x40+8*i), []byte("8 bytes.")))
			}
		}
		if trapped && resumed == 0 {
			resumed = clock + 60 // the time in which the host changes the pages
		}
		if resumed > 0 && clock == resumed {
			try.OK(p.B.Request(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}, func(linkproto.Packet) {}))
		}
	})
	start := r.first("a_link", 0, "PAGE on the link", is(linkproto.SymSOP))
	held := r.first("b_holds", start, "trap", high)
	released := r.first("b_holds", held, "end of the trap", low)
	written := r.first("b_writes", released, "held packet written", high)
	done := r.first("b_tx", released, "answer to RESUME", is(linkproto.SymEOP))
	return timing.Diagram{Name: "page-resume", Title: "PAGE: trap, hold, RESUME",
		Text: "A pages port 7 into frame 0 and writes to it without waiting. B reports the PAGE to its host as TRAP and holds what comes after it; " +
			"acknowledgements pass. The host changes the pages (60 clocks here) and says RESUME, then the held writes are carried out.",
		From: start - 4, To: max(done, written+24) + 4,
		Lanes: []timing.Lane{
			r.lane("link, A to B", "a_link"), r.lane("link, B to A", "b_link"), r.lane("B to its host", "b_tx"),
			{Name: "B holds the link's packets", Spans: level(r["b_holds"], high, "held")},
			r.lane("host to B", "b_rx"), {Name: "written to B's receive buffer", Spans: r.words()},
		},
		Marks: []timing.Mark{{At: held, Label: "trap"}, {At: released, Label: "RESUME carried out"}},
	}
}

// notifications writes to one frame faster than its host can be told.
func notifications(ctx context.Context) timing.Diagram {
	p := try.Get(probe.OpenNIPair(ctx))
	defer p.Model.Close()
	notify(p)
	const writes = 4
	r := watchNI(ctx, p, 400, func(clock int) {
		switch clock {
		case 0:
			try.OK(p.B.Request(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 0x400, Count: 80}, func(linkproto.Packet) {}))
		case 10: // B's host has its first bytes before the first word is written
			for i := range writes {
				try.OK(p.A.Write(1, uint32(0x40+4*i), []byte("word")))
			}
		}
	})
	start := r.first("a_link", 0, "write on the link", is(linkproto.SymSOP))
	end := start
	for i, s := range r["b_tx"] {
		if s == uint64(linkproto.SymEOP) {
			end = i
		}
	}
	return timing.Diagram{Name: "notify", Title: "NOTIFY",
		Text: "A writes four words into one frame, while B's host is busy with 80 bytes that it has asked for. What is written meanwhile is merged, so that " +
			"fewer NOTIFYs than writes tell which bytes have changed: a slow host gets wider ranges and delays nobody.",
		From: start - 4, To: end + 6,
		Lanes: []timing.Lane{
			r.lane("link, A to B", "a_link"), {Name: "written to B's receive buffer", Spans: r.words()},
			r.lane("host to B", "b_rx"), r.lane("B to its host", "b_tx"),
		},
	}
}
