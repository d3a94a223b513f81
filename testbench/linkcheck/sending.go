package linkcheck

import (
	"bytes"

	"github.com/stafflink/lmmc/linkproto"
)

const (
	late = 2 * lag // until which the end may send what it would have sent without a LOST
	slip = 2       // that the retry timer takes longer, each time
	calm = 8 * lag // without LOSTs and acknowledgements, after which it is known what the end does about a LOST
)

// sending follows the frames that the end sends.
type sending struct {
	base   uint8          // the oldest that is not acknowledged
	next   uint8          // to begin, unless the end goes back
	top    uint8          // one past the last that was ever sent whole
	frees  uint64         // until then the end may act as if less was acknowledged
	copies [1 << 8][]byte // of what was sent, by number; nil: nothing in this life

	inside bool // a frame is being sent
	began  uint64
	spoke  uint64 // when the last symbol of a frame was said
	run    int    // symbols of frames, one each clock, up to then
	pause  uint64 // when the last symbol before it was said
	symbol int
	number uint8
	left   bool // the link has started again since: it ends anyhow

	may       uint64 // when the last LOST came that may have the end go back to base
	must      uint64 // when one came that has to; 0: none since it went back
	went      uint64 // when it last did
	resending bool   // it went back, and has not sent base again: it disregards LOST
	ignored   uint64 // when LOST came meanwhile
	waits     uint64 // since when the retry timer runs
}

// restart is for a link that starts again.
func (s *sending) restart() {
	*s = sending{inside: s.inside, began: s.began, spoke: s.spoke, run: s.run, symbol: s.symbol, number: s.number, left: s.inside}
}

// acknowledge takes an ACK or LOST of the peer's.
func (s *sending) acknowledge(clock uint64, w linkproto.Word) {
	if w.Value-s.base > s.top-s.base {
		return
	}
	if w.Value != s.base {
		freed := clock + 2*uint64(w.Value-s.base) // one packet after the other
		s.frees = freed + lag
		for ; s.base != w.Value; s.base++ {
			s.copies[s.base] = nil
		}
		s.resending, s.must, s.waits = false, 0, freed
	}
	if w.Stop {
		s.waits = clock
	}
	switch {
	case w.Kind != linkproto.KindLost:
	case s.resending:
		s.ignored = clock
	default:
		if underway := s.inside && s.number == s.base; s.top != s.base && !underway && s.must == 0 && clock > max(s.may, s.went, s.frees)+calm {
			s.must = clock
		}
		s.may = clock
	}
}

// frameSymbol takes a symbol of a frame.
func (k *Checker) frameSymbol(s linkproto.Symbol) {
	f, r := &k.sent, &k.received
	if r.stopped && k.clock > r.since+lag && k.sure(r.since) {
		k.fail("%v %d clocks after STOP", s, k.clock-r.since)
	}
	spoke := f.spoke
	if f.run++; spoke+1 != k.clock {
		f.run = 1
	}
	f.spoke = k.clock
	switch {
	case s == linkproto.SymSOP:
		if f.inside && !f.left && k.sure(f.began) {
			k.fail("a frame begins inside another")
		}
		f.inside, f.began, f.pause, f.symbol, f.left = true, k.clock, spoke, 0, false
	case !f.inside:
	case s == linkproto.SymAbort:
		f.inside = false
	case s.IsData():
		if f.symbol++; f.symbol == 1 {
			k.begin(uint8(s))
		}
	}
}

// begin checks the number of a frame that has begun.
func (k *Checker) begin(seq uint8) {
	f := &k.sent
	f.number = seq
	if !k.sure(f.began) {
		f.next, f.must = seq, 0
		return
	}
	if !k.any(f.began, func(s state) bool { return s.up }) {
		k.fail("frame %d, though the link is not up", seq)
	}
	at := f.began
	if k.words.began+2*linkproto.InitSymbols > at { // it was ready before the word
		at -= 2 * linkproto.InitSymbols
	}
	if r := &k.received; !r.stopped && at <= r.since+lag { // or before the STOP that has just been taken back
		at = min(at, r.halted)
	}
	back := seq == f.base || int8(seq-f.base) < 0 // it may not have noticed yet what is acknowledged
	switch {
	case seq == f.next || seq == f.base && int8(f.next-f.base) < 0:
		switch {
		case seq == f.base: // it comes behind what has just been acknowledged, to which the end had gone back
			f.must = 0
		case f.must != 0 && f.must+late <= at && f.frees <= at:
			k.fail("frame %d, though the peer asked for %d", seq, f.base)
		}
	case back && (f.may != 0 && f.may+late >= f.went || f.frees+late >= at):
		f.resending = seq == f.base && f.base != f.top && f.frees+late < at && f.may+calm >= at
		f.went, f.must = f.began, 0
	case back && f.base != f.top && k.retried():
		f.resending = true
	default:
		k.fail("frame %d, want %d", seq, f.next)
	}
	if seq-f.base >= linkproto.MaxWindow-1 && int8(seq-f.base) >= 0 {
		k.fail("frame %d, with %d not acknowledged", seq, f.base)
	}
	f.next = seq
}

// expiry returns when the retry timer ran out for the last time before a clock, at the latest, and how often it had.
func (k *Checker) expiry(clock uint64) (at uint64, times int) {
	f := &k.sent
	if clock < f.waits {
		return 0, 0
	}
	times = int(clock-f.waits) / k.cfg.Retry
	return f.waits + uint64(times*(k.cfg.Retry+slip)), times
}

// retried reports whether the retry timer has run out just before the frame that has begun, when all had been sent.
func (k *Checker) retried() bool {
	f := &k.sent
	at, times := k.expiry(f.began + lag)
	return times > 0 && f.began < at+prompt && f.pause <= at+lag
}

// frame takes a frame that was sent whole.
func (k *Checker) frame(payload []byte) {
	f := &k.sent
	f.inside = false
	if f.left {
		return
	}
	if int8(f.number-f.base) >= 0 { // else its bytes may have been overwritten
		if old := f.copies[f.number]; !linkproto.LengthFits(payload) || old != nil && !bytes.Equal(old, payload) {
			k.fail("frame %d: % x, the first time % x", f.number, payload, old)
		}
		f.copies[f.number] = bytes.Clone(payload)
	}
	if f.number == f.base && f.resending {
		f.resending = false
		if f.ignored+late >= k.clock {
			f.may = f.ignored
		}
	}
	if f.next = f.number + 1; int8(f.next-f.top) > 0 {
		if f.top == f.base {
			f.waits = k.clock
		}
		f.top = f.next
	}
}

// badFrame takes a frame that the peer does not take.
func (k *Checker) badFrame(reason linkproto.Reason) {
	f := &k.sent
	if f.inside = reason == linkproto.FrameStart; f.left || !k.sure(f.began) {
		return
	}
	if int8(f.number-f.base) < 0 && reason == linkproto.FrameCRC { // its bytes may have been overwritten
		return
	}
	k.fail("frame %d: %v", f.number, reason)
}

// overdue checks that the end goes back, and gives up, in time.
func (f *sending) overdue(k *Checker, clock uint64) {
	if !k.received.up || k.received.stopped || f.base == f.top {
		f.waits = clock
		return
	}
	at, times := k.expiry(clock)
	switch {
	case times >= k.cfg.RetryLimit:
		if clock > at+2*prompt {
			k.fail("no acknowledgement for %d clocks, and the link is not given up", clock-f.waits)
		}
	case times > 0 && clock > at+prompt && f.spoke+lag < at:
		k.fail("no acknowledgement for %d clocks, and frame %d is not sent again", clock-f.waits, f.base)
	}
}
