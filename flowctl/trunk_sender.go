package flowctl

import "github.com/stafflink/lmmc/linkproto"

// trunkSender keeps packets as a sender does, whose frames leave by several lanes: top counts the packets of which a frame has begun.
type trunkSender struct {
	sender

	// No copy of a frame before number safe is on its way any more. A frame begins only while its number is less than half the sequence space
	// beyond, so that the receiver knows a late copy for one.
	safe, later uint8 // later becomes safe
	settling    int   // ticks until then; -1: none is waited for

	baseDone int // ticks since the oldest frame was last sent whole, as far as is known; at most LaneSkew
}

func newTrunkSender(c Config) trunkSender {
	return trunkSender{sender: newSender(c), settling: -1, baseDone: linkproto.LaneSkew}
}

// ready reports whether another frame may begin.
func (s *trunkSender) ready() bool {
	return s.next < s.count && s.baseSeq+uint8(s.next)-s.safe < linkproto.MaxWindow-1
}

func (s *trunkSender) tick(n int) {
	s.baseDone = min(s.baseDone+n, linkproto.LaneSkew)
	if s.settling < 0 {
		return
	}
	if s.settling -= n; s.settling <= 0 {
		s.safe, s.settling = s.later, -1
	}
}

// settle begins to wait for the copies of frames before the base. None of them is being sent.
func (s *trunkSender) settle() {
	if s.settling < 0 && s.safe != s.baseSeq {
		s.later, s.settling = s.baseSeq, linkproto.LaneSkew
	}
}

// forget is for another life of the link.
func (s *trunkSender) forget() int {
	s.safe, s.later, s.settling, s.baseDone = 0, 0, -1, linkproto.LaneSkew
	return s.reset()
}

// sending reports whether there is a frame symbol to send over a lane.
func (t *Trunk) sending(l *lane) bool { return l.open() && !l.stop && (l.sending() || t.tx.ready()) }

// emitFrame sends symbols of the lane's frame, and begins one before if there is none.
func (t *Trunk) emitFrame(l *lane, dst []linkproto.Symbol) int {
	s := &t.tx
	if !l.sending() {
		slot := s.slot(s.next)
		l.frame, l.sent = s.baseSeq+uint8(s.next), 0
		l.line = linkproto.AppendFrame(l.line[:0], l.key, l.frame, s.bytes.get(slot.at, slot.len))
		s.next++
		s.top = max(s.top, s.next)
	}
	n := copy(dst, l.line[l.sent:])
	l.sent += n
	if !l.sending() {
		if l.frame == s.baseSeq {
			s.baseDone = 0
		}
		t.settle()
	}
	return n
}

// settle has the sender wait for late copies if no lane sends one.
func (t *Trunk) settle() {
	for k := range t.lanes {
		if l := &t.lanes[k]; l.sending() && l.frame-t.tx.baseSeq >= linkproto.MaxWindow {
			return
		}
	}
	t.tx.settle()
}

// acknowledged handles a word's next expected number, and LOST.
func (t *Trunk) acknowledged(w linkproto.Word) {
	if behind := t.tx.baseSeq - w.Value; behind > 0 && behind < linkproto.MaxWindow {
		return // a faster lane has said more
	}
	packets, ok := t.tx.acknowledge(w.Value)
	if !ok {
		t.count(linkproto.CntBadWord)
		return
	}
	if packets > 0 {
		t.counters[linkproto.CntTxPackets] += uint32(packets)
		t.waited, t.retries = 0, 0
		t.tx.baseDone = linkproto.LaneSkew
		t.settle()
	}
	if w.Kind == linkproto.KindLost && t.missed() {
		t.goBack()
	}
}

// missed reports whether the oldest frame has been sent, is not being sent, and did not just leave.
func (t *Trunk) missed() bool {
	s := &t.tx
	for k := range t.lanes {
		if l := &t.lanes[k]; l.sending() && l.frame == s.baseSeq {
			return false
		}
	}
	return s.next > 0 && s.baseDone >= linkproto.LaneSkew
}
