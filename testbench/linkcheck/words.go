package linkcheck

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// words follows the link state words that the end says, and those that it owes.
type words struct {
	inside   bool   // one is being said
	began    uint64 // it, or the last one
	amid     bool   // it, or the last one, stands in a frame of which a symbol was sent each clock
	before   uint64 // the last one that was no BARRIER
	any      bool   // there was one
	stop     bool   // it says STOP
	stops    int    // so many have said it behind one that did not
	kind     linkproto.Kind
	value    uint8
	torn     linkproto.Reason // of a word that the peer does not take, as when another life began amid it
	owed     uint64           // since when one has to be said at once; 0: none has
	asked    uint64           // when one had to be for the last time
	progress uint64           // since when frames that have come are not told; 0: all are
}

// owe says that a word has to be said at once.
func (w *words) owe(clock uint64) {
	w.asked = clock
	if w.owed == 0 {
		w.owed = clock
	}
}

// arrived says that there is something to tell, though not at once.
func (w *words) arrived(clock uint64) {
	if w.progress == 0 {
		w.progress = clock
	}
}

// say takes a symbol that the end says.
func (k *Checker) say(s linkproto.Symbol) {
	w := &k.words
	switch {
	case s == linkproto.SymLSW:
		if w.inside {
			k.fail("a word is cut off by another")
		}
		w.inside, w.began = true, k.clock
		w.amid = k.sent.inside && k.sent.run >= lag && k.sent.spoke+1 == k.clock
	case w.inside && !s.IsData():
		k.fail("%v inside a word", s)
	case !w.inside:
		k.frameSymbol(s)
	}
	events(k.out, s, func(ev linkproto.Event) {
		switch ev.Kind {
		case linkproto.EventInit:
			w.inside = false
			k.sayInit(ev.Init)
		case linkproto.EventWord:
			w.inside = false
			k.sayWord(ev.Word)
		case linkproto.EventBadWord:
			w.inside = false
			if k.sure(w.began) && w.torn == linkproto.ReasonNone {
				w.torn = ev.Reason
			}
		case linkproto.EventFrame:
			k.frame(ev.Payload)
		case linkproto.EventBadFrame:
			k.badFrame(ev.Reason)
		case linkproto.EventStray:
			if ev.Reason != linkproto.StrayFrame {
				k.fail("%v", ev.Reason)
			}
		}
	})
}

func (k *Checker) sayInit(w linkproto.Init) {
	want := k.cfg.Init
	want.Stop, want.Node, want.Life = w.Stop, w.Node, w.Life
	if w != want {
		k.fail("INIT %+v, want %+v", w, want)
	}
	r := &k.received
	if k.doubt != nil && (w.Life ^ k.life).HostLife() {
		k.fail("%v", k.doubt)
	}
	k.doubt = nil
	switch {
	case !k.named:
		k.unsettle()
	case w.Life != k.life:
		k.words.torn = linkproto.ReasonNone
		if k.sure(k.words.began) && !k.follows(w.Life) {
			k.doubt = fmt.Errorf("life %#x follows %#x: of another epoch than the next", w.Life, k.life)
		}
		if k.sure(k.words.began) && r.up && !r.again && (w.Life ^ k.life).HostLife() && !k.mayLeave() {
			k.fail("the link starts again for nothing")
		}
		if k.unsure = r.again && k.words.began <= r.changed()+lag; !r.again { // it may have started again by itself before it heard of another peer
			k.unsure = r.known
			k.change()
			r.state = state{}
		}
		r.up, r.lost, r.expect, r.again = false, false, 0, false
		k.restart()
		k.in.DropFrame()
		k.unsettle()
	case k.sure(k.words.began) && !k.any(k.words.began, func(s state) bool { return !s.up }):
		k.fail("INIT, though the link is up")
	}
	k.named, k.life = true, w.Life
	k.said(linkproto.Word{Kind: linkproto.KindInit, Stop: w.Stop})
	k.seal()
}

// mayLeave reports whether the end has a reason to leave UP: its peer has been silent for long, or has acknowledged nothing.
func (k *Checker) mayLeave() bool {
	_, times := k.expiry(k.words.began + lag)
	return times >= k.cfg.RetryLimit || k.words.began+prompt >= k.received.heard+3*uint64(k.cfg.WordTimer)
}

// follows reports whether a life can be the end's next: of the next epoch, whatever its nonce makes of that, or of another nonce.
func (k *Checker) follows(life linkproto.Life) bool {
	change := life ^ k.life
	if !change.HostLife() {
		return true
	}
	if k.cfg.Host {
		return life.Epoch() == linkproto.NextEpoch(k.life.Epoch())
	}
	bits := change.Epoch() // 255 is followed by 1
	return bits&(bits+1) == 0 || bits == linkproto.NextEpoch(255)^255
}

func (k *Checker) sayWord(w linkproto.Word) {
	if w.Kind == linkproto.KindBarrier {
		if !k.cfg.Barriers {
			k.fail("BARRIER")
		}
		return
	}
	r := &k.received
	if r.overflow && !w.Stop && r.brought+lag < k.words.began {
		k.change()
		r.overflow, r.expect, r.lost = false, w.Value, w.Kind == linkproto.KindLost
		k.words.owed = 0
	}
	if k.sure(k.words.began) && !r.overflow && !k.any(k.words.began, func(s state) bool {
		return s.known && !s.refused && w.Value == s.expect && (w.Kind == linkproto.KindLost) == s.lost
	}) {
		k.fail("%v %d, but the end has heard %+v", w.Kind, w.Value, r.state)
	}
	if k.sure(k.words.began) && k.anonymous() {
		k.fail("%v, though the end's node has no nonce", w.Kind)
	}
	if w.Value == r.expect {
		k.words.progress = 0
	}
	k.said(w)
}

// said is for a word that is whole: whether it had to be, or might.
func (k *Checker) said(now linkproto.Word) {
	w := &k.words
	if w.torn != linkproto.ReasonNone {
		k.fail("a word that the peer does not take: %v", w.torn)
	}
	urgent := w.kind != now.Kind || w.stop != now.Stop || w.asked+lag >= w.before || k.received.overflow
	if pause := k.pause(now); w.any && k.sure(w.before) && !urgent && w.began+lag < w.before+uint64(pause) {
		k.fail("%v %d after %d clocks, which might have waited for %d", now.Kind, now.Value, w.began-w.before, pause)
	}
	if now.Stop && !w.stop {
		w.stops++
	}
	w.kind, w.stop, w.value, w.before, w.any = now.Kind, now.Stop, now.Value, w.began, true
	if w.owed != 0 && w.owed <= w.began {
		w.owed = 0
	}
}

// pause is how long after the last word one has to wait that is not to be said at once.
func (k *Checker) pause(now linkproto.Word) int {
	w, moved := &k.words, k.words.value != now.Value
	switch {
	case now.Kind != linkproto.KindAck || moved && w.amid:
		return k.cfg.AckDelay
	case moved:
		return 0
	case w.amid:
		return k.cfg.WordTimer
	}
	return k.cfg.WordTimer / 2
}

// overdue checks that nothing is owed any more that had to be said before a clock.
func (k *Checker) overdue(clock uint64) {
	w, r := &k.words, &k.received
	if k.err != nil || w.inside || !k.sure(clock-prompt) {
		return
	}
	since := func(from uint64) int { return int(clock - from) }
	again := k.cfg.WordTimer
	if !r.up || r.lost {
		again = k.cfg.AckDelay
	}
	switch {
	case w.owed != 0 && !r.overflow && since(w.owed) > prompt:
		k.fail("nothing said for %d clocks, though it had to be at once", since(w.owed))
	case since(max(w.before, r.changed())) > again+2*prompt:
		k.fail("no word for %d clocks", since(w.before))
	case w.progress != 0 && !r.overflow && since(w.progress) > prompt && since(w.before) > k.cfg.AckDelay+prompt:
		k.fail("frames that have come are not told for %d clocks", since(w.before))
	}
	k.sent.overdue(k, clock)
}
