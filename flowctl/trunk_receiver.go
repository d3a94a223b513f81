package flowctl

import "github.com/stafflink/lmmc/linkproto"

// Feed takes symbols that arrived over a lane, in order. It accepts any input, and invalidates the packet that Receive returned last.
func (t *Trunk) Feed(k int, in []linkproto.Symbol) {
	l := &t.lanes[k]
	for len(in) > 0 {
		ev, n := l.deframer.Next(in)
		in = in[n:]
		switch ev.Kind {
		case linkproto.EventFrame:
			l.active = true
			t.frame(l, ev.Seq, ev.Payload)
		case linkproto.EventBadFrame:
			l.active = true
			t.badFrame(l)
		case linkproto.EventWord:
			t.word(l, ev.Word)
		case linkproto.EventInit:
			t.init(l, ev.Init)
		case linkproto.EventBadWord:
			t.badWord(l)
		case linkproto.EventStray:
			t.count(linkproto.CntRxStray)
		}
	}
	if _, n, ok := l.deframer.Pending(); ok && n != l.seen {
		l.active, l.seen = true, n
	}
	t.order()
	t.watch()
}

// frame keeps a frame whose CRC is right until its turn has come. A number before that of one which waits on the same lane says that the sender has
// gone back, and will send again what waits.
func (t *Trunk) frame(l *lane, seq uint8, payload []byte) {
	if !t.up {
		t.count(linkproto.CntRxStray)
		return
	}
	l.good()
	waits := len(l.skew)
	if waits > 0 && int8(seq-l.skew[waits-1].seq) < 0 {
		t.counters[linkproto.CntRxGap] += uint32(waits)
		l.drop()
	}
	if l.used+len(payload) > t.cfg.SkewBytes {
		t.counters[linkproto.CntRxGap] += uint32(len(l.skew))
		l.drop()
		t.count(linkproto.CntRxOverrun)
		t.suspect = true
		return
	}
	l.skew = append(l.skew, skewed{seq, append([]byte(nil), payload...)})
	l.used += len(payload)
	t.order()
}

func (t *Trunk) badFrame(l *lane) {
	if !t.up {
		t.count(linkproto.CntRxStray)
		return
	}
	t.count(linkproto.CntRxCRC)
	t.suspect = true
	t.fault(l)
}

// order takes the frames whose turn it is, and drops those that have been delivered before.
func (t *Trunk) order() {
	for again := true; again; {
		again = false
		for k := range t.lanes {
			for l := &t.lanes[k]; len(l.skew) > 0; again = true {
				head := l.skew[0]
				if head.seq == t.rx.expect {
					if !t.deliver(head.payload) {
						return
					}
				} else if t.rx.isDuplicate(head.seq) {
					t.count(linkproto.CntRxDup)
					l.words.urgent = true
				} else {
					break
				}
				l.skew, l.used = l.skew[1:], l.used-len(head.payload)
			}
		}
	}
}

// deliver takes the expected frame; false if there is no room yet.
func (t *Trunk) deliver(payload []byte) bool {
	if !linkproto.LengthFits(payload) { // the sender's fault, which a replay would not fix
		t.count(linkproto.CntBadPacket)
	} else if !t.rx.deliver(payload) {
		return false
	} else {
		t.count(linkproto.CntRxPackets)
	}
	t.rx.expect++
	for k := range t.lanes {
		t.lanes[k].idle = 0
	}
	if t.rx.lost {
		t.rx.lost = false
		t.tell()
	}
	return true
}

// tell has a word sent on every lane.
func (t *Trunk) tell() {
	for k := range t.lanes {
		t.lanes[k].words.urgent = true
	}
}

// watch brings STOP in line with the fill of the receive FIFO.
func (t *Trunk) watch() {
	if !t.rx.watch(0) {
		return
	}
	t.tell()
	if t.rx.stop {
		t.count(linkproto.CntStops)
	}
}

// findLoss says LOST when a later frame waits, or one was damaged, and the expected one can come by no lane any more: each has brought a later one, or
// no frame symbol for LaneSkew while this end said GO.
func (t *Trunk) findLoss(n int) {
	missing := t.missing()
	passed := missing
	for k := range t.lanes {
		l := &t.lanes[k]
		l.idle = min(l.idle+n, linkproto.LaneSkew)
		if !missing || l.active || t.rx.stop {
			l.idle = 0
		}
		l.active = false
		passed = passed && (!l.heard || len(l.skew) > 0 || l.idle == linkproto.LaneSkew)
	}
	if passed {
		t.rx.lost, t.suspect = true, false
		t.tell()
	}
}

// missing reports whether a frame may have got lost, and LOST does not say so.
func (t *Trunk) missing() bool { return t.up && !t.rx.lost && (t.suspect || t.gap()) }

// gap reports whether frames wait, and not for room alone.
func (t *Trunk) gap() (waits bool) {
	for k := range t.lanes {
		if l := &t.lanes[k]; len(l.skew) > 0 {
			if l.skew[0].seq == t.rx.expect {
				return false
			}
			waits = true
		}
	}
	return waits
}
