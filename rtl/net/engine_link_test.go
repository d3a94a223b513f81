package net_test

import "github.com/stafflink/lmmc/linkproto"

func (l *engineLink) freed() uint8 { return l.earlier + uint8(l.base) }

func (l *engineLink) packet() bool { return l.next < len(l.held) && (!l.peerStop || l.peekOnce) }
func (l *engineLink) says() bool   { return l.urgent || l.packet() }

func (l *engineLink) status() (s uint16) {
	for i, is := range []bool{l.up, l.peerStop, l.ownStop, l.trapped, l.lost, len(l.held) > 0, l.gaveUp, l.open} {
		s |= uint16(b2i(is)) << i
	}
	return s
}

// nearest is the number of those low bits that is nearest to a known one.
func nearest(known uint32, low uint8) uint32 { return known + uint32(int32(int8(low-uint8(known)))) }

// forContext says whether what comes is a context's MESSAGE.
func (e *engineTest) forContext() bool { return *e.RMessage && e.links[e.vl].context != 0 }

func (e *engineTest) credit() bool {
	l := &e.links[e.vl]
	if e.forContext() {
		return *e.XCredit && !*e.XBlind
	}
	return !*e.RMessage || l.given-l.returned < engineWindow
}

func (e *engineTest) look(s *engineSays) {
	if !*e.There {
		return
	}
	l := &e.links[e.vl]
	number := uint32(0)
	if *e.RPacket {
		number = nearest(l.expect, *e.RSeq)
	}
	wanted := *e.RPacket && *e.RSeq == uint8(l.expect) && !l.ownStop
	room := !*e.RHost || *e.MRoom || e.forContext()
	e.takes = wanted && room && e.credit()
	e.noRoom, e.noCredit, e.spoiled = wanted && !room, wanted && room && !e.credit(), false
	s.looked, s.opened, s.ours, s.takes, s.context, s.life = true, l.open, *e.RSrc == l.peer, e.takes, l.context, l.life
	s.key = (l.key<<16 | l.key>>16) ^ (number>>8&0xFFFF<<16 | nearest(l.base, *e.RNext)>>8&0xFFFF)
}

// drop counts a ROUTE that is dropped.
func (e *engineTest) drop(is bool) {
	if l := &e.links[e.vl]; is && l.dropped < 1<<16-1 {
		l.dropped++
	}
}

func (l *engineLink) resume(may bool) {
	if may && l.ownStop {
		l.ownStop, l.urgent = false, true
	}
}

// close is what becomes of a virtual link that closes.
func (l *engineLink) close() {
	l.open, l.up, l.trapped = false, false, false
	l.next, l.top, l.retries, l.said, l.start = 0, 0, 0, 0, 0
	l.urgent, l.unsaid, l.lost, l.ownStop, l.peerStop, l.peekOnce = false, false, false, false, false, false
}

// ack takes what a ROUTE acknowledges.
func (e *engineTest) ack(s *engineSays) (counts bool, freed int) {
	l := &e.links[e.vl]
	acked := *e.RNext - uint8(l.base)
	if counts = acked < 128 && int(acked) <= l.top; counts {
		freed = int(acked)
	}
	s.drop = acked < 128 && !counts
	e.drop(s.drop)
	l.peerStop = *e.RStop
	l.base = (l.base + uint32(freed)) & engineLimit
	l.top -= freed
	l.next = max(0, l.next-freed)
	if freed > 0 {
		l.peekOnce, l.start = false, e.ticks
	}
	if freed > 0 || *e.RStop {
		l.retries = 0
	}
	e.changed = freed > 0
	return counts, freed
}

// rest takes the rest of a ROUTE.
func (e *engineTest) rest(s *engineSays, counts bool) {
	l := &e.links[e.vl]
	ahead := uint8(0)
	inTurn, misses := false, false
	if *e.RPacket {
		ahead = *e.RSeq - uint8(l.expect)
		inTurn = ahead == 0
	}
	halts := *e.RHalts
	if !e.takes {
		halts = e.noRoom || (e.noCredit && !e.credit() && !(e.forContext() && *e.XBlind))
	}
	s.heard, s.delivers = true, inTurn && *e.RFits && e.takes
	stops, passes := inTurn && *e.RFits && halts, inTurn && (!*e.RFits || e.takes)
	misses = *e.RPacket && !passes && ahead < 128
	again := len(l.held) > 0 && l.held[0].again && (e.ticks-l.held[0].sent)&engineTime < engineTurn
	s.replay = *e.RLost && counts && l.next != 0 && !again
	s.xRefused = stops && !e.takes && e.forContext()
	s.drop = *e.RPacket && !s.delivers
	e.drop(s.drop)
	e.goBack(s.replay)
	if *e.RPacket && ahead >= 128 {
		l.urgent = true
	}
	if misses {
		l.urgent = l.urgent || !l.lost || (e.ticks-l.said)&engineTime >= engineTurn
		l.lost = true
	}
	if passes {
		l.urgent = l.urgent || l.lost || l.ownStop
		l.expect = (l.expect + 1) & engineLimit
		l.lost, l.unsaid = false, true
	}
	if stops {
		l.ownStop, l.urgent = true, true
		l.trapped, e.parks = e.takes, e.noRoom
	}
	if s.delivers && *e.RMessage && !e.forContext() {
		l.given++
	}
	l.urgent = l.urgent || e.wasCut
	if !l.up {
		l.up, l.urgent, e.changed = true, true, true
	}
}

func (e *engineTest) goBack(is bool) {
	if l := &e.links[e.vl]; is {
		l.next = 0
		if l.replays < 1<<16-1 {
			l.replays++
		}
	}
}

// sends is what the sender is told.
func (e *engineTest) sends(s *engineSays, packet bool) {
	l := &e.links[e.vl]
	number := uint32(0)
	s.send = engineSend{class: l.class, dest: l.peer, vl: l.number, next: uint8(l.expect)}
	kind := linkproto.KindAck
	if l.lost {
		kind = linkproto.KindLost
	}
	s.send.state = linkproto.VLState{Kind: kind, Stop: l.ownStop, Packet: packet}.Byte()
	if packet {
		number = l.base + uint32(l.next)
		s.send.seq = uint8(number)
	}
	if packet && !s.early {
		s.send.size, s.send.slot = l.held[l.next].size, l.held[l.next].slot
	}
	s.send.key = l.key ^ (number>>8&0xFFFF<<16 | l.expect>>8&0xFFFF)
	s.start = true
}

// said1 takes what the virtual link says for said.
func (e *engineTest) said1(fresh bool) {
	l := &e.links[e.vl]
	packet := l.packet()
	if fresh {
		l.urgent, l.unsaid = false, false
		if l.lost {
			l.said = e.ticks
		}
	}
	if packet {
		p := &l.held[l.next]
		p.again, p.sent = l.next < l.top, e.ticks
		l.peekOnce = false
		if !p.again {
			l.top++
		}
		l.next++
	}
}

// ahead begins to send a packet that comes.
func (e *engineTest) ahead(s *engineSays) {
	l := &e.links[e.vl]
	if !e.leads || !*e.Begins || !l.open || !l.up || l.next != len(l.held) || len(l.held) >= engineWindow || l.peerStop {
		return
	}
	s.early = true
	e.sends(s, true)
	s.send.size, s.send.slot = *e.PTotal, *e.PSlot
	e.leading, e.leadVL, e.stale, e.loseLead = true, e.vl, false, false
}

// put takes a packet that has come to be sent, and says whether it has been sent already.
func (e *engineTest) put(s *engineSays) (follows bool) {
	l := &e.links[e.vl]
	s.putDone, s.putOk = true, l.open && len(l.held) < engineWindow && (!*e.PMine || *e.PLife == l.life)
	follows = e.leading && s.putOk && l.next == len(l.held) && !e.loseLead
	s.undo = e.leading && !follows
	e.leading = false
	if s.putOk {
		l.held = append(l.held, engineSlot{slot: *e.PSlot, size: *e.PSize, mine: *e.PMine, final: *e.PFinal})
	}
	return follows
}

// times looks whether the time for an answer is over, and says whether the virtual link gives up.
func (e *engineTest) times(s *engineSays) bool {
	l := &e.links[e.vl]
	waits := l.top > 0 || (l.peerStop && len(l.held) > 0)
	over := waits && (e.ticks-l.start)&engineTime >= engineRetry<<min(l.retries, 3)
	if over && l.retries == engineRetryLimit-1 {
		l.gaveUp = true
		return true
	}
	if !waits || over {
		l.start = e.ticks
	}
	if half := engineTime/2 + 1; (e.ticks-l.said)&engineTime >= half { // it stays long ago
		l.said = e.ticks - half
	}
	if over {
		l.retries++
		l.peekOnce = l.peerStop
	}
	s.replay = over
	e.goBack(over)
	return false
}

// hosts does what the host wants, and says whether the virtual link closes.
func (e *engineTest) hosts(s *engineSays) (closes bool) {
	l, data := &e.links[e.vl], *e.CWdata
	s.cDone, s.cOk = true, !*e.CResume || l.trapped
	status := uint32(l.status())
	s.value = [8]uint32{uint32(l.class)<<16 | uint32(l.peer), uint32(l.number), l.key, uint32(l.freed())<<24 | status, l.expect,
		uint32(l.dropped)<<16 | uint32(l.replays), uint32(l.context),
		uint32(l.life)<<18 | uint32(l.context)<<10 | uint32(len(l.held))<<3 | status>>1&1<<2 | status&1<<1 | status>>7}[*e.CReg]
	switch {
	case *e.CResume:
		l.resume(l.trapped)
		l.trapped = false
	case *e.CSpace:
		l.returned = uint8(data)
		l.resume(l.open && !l.trapped && !l.parked)
	case *e.CWake:
		l.resume(l.open && !l.trapped && !l.parked)
	case !*e.CWrite:
	case int(*e.CReg) == vlStatus && data&vlIsOpen == 0:
		l.gaveUp = false
		return true
	case int(*e.CReg) == vlStatus && l.open:
		if data&vlUp != 0 {
			e.changed = e.changed || !l.up
			l.up, l.urgent = true, true
		}
	case int(*e.CReg) == vlStatus:
		l.close()
		l.open, l.up, l.gaveUp, e.changed = true, data&vlUp != 0, false, true
		l.earlier, l.given, l.returned = l.freed(), 0, 0
		l.replays, l.dropped, l.base, l.expect = 0, 0, 0, 0
		l.life = (l.life + 1) & 15
		e.loseLead = e.loseLead || e.vl == e.leadVL
		e.spoiled = e.spoiled || e.vl == *e.RVl
	case l.open:
	case int(*e.CReg) == vlPeer:
		l.class, l.peer = uint8(data>>16&3), uint16(data)
	case int(*e.CReg) == vlNumber:
		l.number = uint16(data)
	case int(*e.CReg) == vlKey:
		l.key = data
	case *e.CReg == uint8(linkproto.VLRegContext):
		l.context = uint8(data)
	}
	return false
}
