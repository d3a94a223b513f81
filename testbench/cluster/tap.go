package cluster

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

// sent is what one direction of a cable carries, over all its lanes.
type sent struct {
	look  WayLook
	since uint64    // clock since which it says STOP
	next  *uint8    // number behind that of the newest frame; nil: none has been sent
	seen  [256]bool // numbers of the last half of them, of which frames have come
	acked *uint8    // what the sender wants next of the other direction; nil: it has not said
	life  linkproto.Life
}

// tap looks at a lane of it.
type tap struct {
	sink  *verilator.Sink  // of RTL; nil for a model
	skew  uint64           // of the sink's clock
	sent  []verilator.Beat // by a model, and not looked at yet
	clock uint64           // for the model, how many have passed
	head  *linkproto.Deframer
}

// take takes what a model sends from the next of so many clocks on, a symbol each.
func (t *tap) take(symbols []linkproto.Symbol, clocks int) {
	for i, s := range symbols {
		if s != linkproto.SymIdle {
			t.sent = append(t.sent, verilator.Beat{Data: uint64(s), Cycle: t.clock + uint64(i) + 1})
		}
	}
	t.clock += uint64(clocks)
}

// read returns what has been sent since it was called last, in memory that is there for it, or its own until take.
func (t *tap) read(into []verilator.Beat) (beats []verilator.Beat) {
	if t.sink == nil {
		beats, t.sent = t.sent, t.sent[:0]
		return beats
	}
	beats = into[:t.sink.Read(into)]
	for i := range beats {
		beats[i].Cycle -= t.skew
	}
	return beats
}

// heard is what has been sent over a lane.
type heard struct {
	way, lane int
	beats     []verilator.Beat
}

// tell tells what all lanes have carried, in the order of clocks.
func tell(l Listener, all []heard) {
	for {
		var next *heard
		for i := range all {
			if h := &all[i]; len(h.beats) > 0 && (next == nil || h.beats[0].Cycle < next.beats[0].Cycle) {
				next = h
			}
		}
		if next == nil {
			return
		}
		b := next.beats[0]
		next.beats = next.beats[1:]
		l(next.way, next.lane, b.Cycle, linkproto.Symbol(b.Data))
	}
}

// hear takes symbols that were sent over a lane until now.
func (w *sent) hear(lane int, head *linkproto.Deframer, symbols []linkproto.Symbol, now uint64) {
	w.look.Symbols += uint64(len(symbols))
	for len(symbols) > 0 {
		e, n := head.Next(symbols)
		symbols = symbols[n:]
		switch e.Kind {
		case linkproto.EventFrame:
			w.look.Frames++
			w.frame(e.Seq)
		case linkproto.EventInit:
			w.look.Words++
			w.say(lane, false, e.Init.Stop, now)
			if e.Init.Life != w.life {
				w.life, w.next, w.acked, w.seen = e.Init.Life, nil, nil, [256]bool{}
			}
		case linkproto.EventWord:
			w.look.Words++
			w.say(lane, true, e.Word.Stop, now)
			if w.acked == nil || e.Word.Value-*w.acked < linkproto.MaxWindow { // else a faster lane has said more
				w.acked = new(e.Word.Value)
			}
		}
	}
}

// frame takes note of a frame, which has been sent before if its number has been seen. Lanes bring them in any order.
func (w *sent) frame(seq uint8) {
	if w.next == nil {
		w.next = new(seq)
	}
	if seq-*w.next < linkproto.MaxWindow {
		for ; *w.next != seq+1; *w.next++ {
			w.seen[*w.next] = false
		}
	} else if w.seen[seq] {
		w.look.Again++
	}
	w.seen[seq] = true
}

// underway is how many frames have been sent that the other direction has not acknowledged.
func (w *sent) underway(back *sent) int {
	if w.next == nil || back.acked == nil {
		return 0
	}
	if n := *w.next - *back.acked; n <= linkproto.MaxWindow {
		return int(n)
	}
	return 0
}

// say keeps what a word says. STOP is what the last word of any lane said.
func (w *sent) say(lane int, up, stop bool, now uint64) {
	switch {
	case stop && !w.look.Stop:
		w.since = now
	case !stop && w.look.Stop:
		w.look.Stopped += now - w.since
	}
	w.look.Lanes &^= 1 << lane
	if up {
		w.look.Lanes |= 1 << lane
	}
	w.look.Up, w.look.Stop = w.look.Lanes != 0, stop
}
