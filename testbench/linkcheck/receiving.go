package linkcheck

import "github.com/stafflink/lmmc/linkproto"

// state is what the end has heard.
type state struct {
	known, refused, up, lost bool
	expect                   uint8
}

// receiving follows what the end hears.
type receiving struct {
	state
	peer     linkproto.Init
	stopped  bool   // the peer says STOP
	since    uint64 // when it has said so, or GO
	halted   uint64 // when it said STOP for the last time behind a GO that the end had time to act on
	heard    uint64 // when its last word came that was no INIT
	past     []past
	again    bool   // the peer's INIT of another life has the end start again, of which it has not told yet
	behind   int    // frame symbols that have come since the end says STOP
	brought  uint64 // when the last symbol of a frame came
	overflow bool   // more than the end has room for: what it has taken shows when it says GO
}

// past is a state that ended in a clock.
type past struct {
	state
	until uint64
}

// change keeps the state that ends now.
func (k *Checker) change() {
	r := &k.received
	for len(r.past) > 0 && r.past[0].until+4*prompt < k.clock {
		r.past = r.past[1:]
	}
	r.past = append(r.past, past{r.state, k.clock})
}

// changed is since when the state holds.
func (r *receiving) changed() uint64 {
	if len(r.past) == 0 {
		return 0
	}
	return r.past[len(r.past)-1].until
}

// any reports whether a condition holds for a state that the end may still take for true in a clock.
func (k *Checker) any(clock uint64, holds func(state) bool) bool {
	for _, p := range k.received.past {
		if p.until+lag >= clock && holds(p.state) {
			return true
		}
	}
	return holds(k.received.state)
}

// hear takes a symbol that reaches the end.
func (k *Checker) hear(s linkproto.Symbol) {
	r := &k.received
	if _, _, inside := k.in.Pending(); inside {
		r.behind++
		r.brought = k.clock
	}
	if !k.words.stop {
		r.behind = 0
	}
	r.overflow = r.overflow || r.up && r.behind > k.cfg.Headroom-2*prompt
	events(k.in, s, func(ev linkproto.Event) {
		switch ev.Kind {
		case linkproto.EventInit:
			k.hearInit(ev.Init)
		case linkproto.EventWord:
			k.hearWord(ev.Word)
		case linkproto.EventFrame:
			k.hearFrame(ev.Seq)
		case linkproto.EventBadFrame:
			k.missing()
		}
	})
}

func (k *Checker) hearInit(w linkproto.Init) {
	r := &k.received
	if k.cfg.Host && !w.Life.HostLife() {
		return
	}
	owes := true
	switch {
	case r.known && w.Life != r.peer.Life:
		k.change()
		k.unsettle()
		if r.up {
			r.again = true
			k.restart()
		}
		owes = r.up
		r.state = state{}
	case !r.known:
		k.change()
		k.unsettle()
		r.known, r.peer = true, w
		r.refused = w.MaxPacket() < k.cfg.MaxPacket || w.Lanes != 1
	}
	k.unsure = false
	k.hearStop(w.Stop)
	if owes {
		k.words.owe(k.clock)
	}
	k.seal()
}

// restart is for a link that starts again.
func (k *Checker) restart() {
	k.words.progress = 0
	k.sent.restart()
	k.out.DropFrame()
}

func (k *Checker) hearStop(stop bool) {
	if r := &k.received; r.stopped != stop {
		if stop && k.clock > r.since+lag {
			r.halted = k.clock
		}
		r.stopped, r.since = stop, k.clock
	}
}

func (k *Checker) hearWord(w linkproto.Word) {
	r := &k.received
	if w.Kind == linkproto.KindBarrier || !r.known || r.refused || !k.named || k.anonymous() || k.unsure {
		return
	}
	if !r.up {
		k.change()
		r.up = true
		k.words.owe(k.clock)
		k.in.DropFrame()
	}
	r.heard = k.clock
	k.hearStop(w.Stop)
	k.sent.acknowledge(k.clock, w)
}

// anonymous reports whether the end's node has no nonce.
func (k *Checker) anonymous() bool { return !k.cfg.Host && k.life&1 == 0 }

func (k *Checker) hearFrame(seq uint8) {
	r := &k.received
	switch {
	case !r.up:
	case seq == r.expect:
		k.change()
		r.expect++
		if r.lost {
			r.lost = false
			k.words.owe(k.clock)
		}
		k.words.arrived(k.clock)
	case r.expect-seq <= linkproto.MaxWindow:
		k.words.owe(k.clock)
	default:
		k.missing()
	}
}

// missing has the end ask its peer to go back.
func (k *Checker) missing() {
	r := &k.received
	if r.up && !r.lost {
		k.change()
		r.lost = true
		k.words.owe(k.clock)
	}
}
