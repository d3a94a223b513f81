package net_test

import "github.com/stafflink/lmmc/linkproto"

// Sizes of the engine under test. Times are in ticks, and engineAckDelay in paces.
const (
	engineSlots, engineWindow           = 128, 100
	engineRetry, engineRetryLimit       = 2, 5
	engineTurn, engineTime, engineLimit = 1, 1<<6 - 1, 1<<24 - 1 // the time of 6 bits, and numbers of 24
	engineAckDelay                      = 40
)

// engineEvent is what net_vl_engine carries out on a virtual link.
type engineEvent int

const (
	evNone engineEvent = iota
	evTimes
	evHost
	evLook
	evHear
	evSettle
	evTell
	evWake
	evPut
	evTalk
	evAhead
)

// engineSlot is a packet to be sent.
type engineSlot struct {
	slot        uint8
	size        uint16
	mine, final bool
	again       bool // it was sent more than once
	sent        int
}

// engineLink is the state of a virtual link.
type engineLink struct {
	open, up, gaveUp, trapped, parked, listed, due, timed bool
	earlier, given, returned, class, context, life        uint8
	peer, number, replays, dropped                        uint16
	key                                                   uint32

	// Of these the state that net_vl_rules has of an end.
	base, expect                                      uint32
	held                                              []engineSlot
	next, top, retries, said, start                   int
	urgent, unsaid, lost, ownStop, peerStop, peekOnce bool
}

// engineWait is a virtual link in a queue.
type engineWait struct {
	vl   uint8
	from int   // the first clock in which it shows
	at   uint8 // the pace at which it came
}

// engineModel does what net_vl_engine does, event by event; what it is given comes by in.
type engineModel struct {
	links                            [8]engineLink
	queues                           map[engineEvent][]engineWait
	free                             []uint8
	vl                               uint8
	event                            engineEvent
	ticks                            int
	paces                            uint8
	scan                             uint8
	scans, scanDue                   bool
	hostLast, putLast                bool
	leads, leading, stale, loseLead  bool
	leadVL                           uint8
	takes, noRoom, noCredit, spoiled bool
	changed, parks                   bool
}

// passes ends a clock.
func (m *engineModel) passes(begins, quit, pace, tick bool) {
	m.leads = m.leads && begins
	m.leading = m.leading && !quit
	if pace {
		m.scanDue = true
		m.paces++
	}
	if tick {
		m.ticks = (m.ticks + 1) & engineTime
		m.scans = true
	}
}

// waits says whether a virtual link waits in a queue.
func (e *engineTest) waits(queue engineEvent) bool {
	q := e.queues[queue]
	return len(q) > 0 && e.clocks >= q[0].from && (queue != evSettle || e.paces-q[0].at >= engineAckDelay)
}

// choose draws the next event, and its virtual link.
func (e *engineTest) choose() (event engineEvent, vl uint8) {
	talks := e.waits(evTalk) && *e.SendIdle
	tells, wakes := e.waits(evTell) && *e.ToldReady, e.waits(evWake) && *e.MRoom
	others := *e.Look || *e.Hear || e.waits(evSettle) || tells || wakes || *e.Put || talks
	switch {
	case e.scans && e.scanDue:
		return evTimes, e.scan
	case *e.CEn && !(e.hostLast && others):
		return evHost, *e.CVl
	case *e.Look:
		return evLook, *e.RVl
	case *e.Hear:
		return evHear, *e.RVl
	case e.waits(evSettle):
		event = evSettle
	case tells:
		event = evTell
	case wakes:
		event = evWake
	case *e.Put && !(e.putLast && talks):
		return evPut, *e.PVl
	case talks:
		event = evTalk
	case *e.Begins && !e.leading && *e.SendIdle:
		return evAhead, *e.PVl
	default:
		return evNone, 0
	}
	vl = e.queues[event][0].vl
	e.queues[event] = e.queues[event][1:]
	return event, vl
}

// turn is an event, or a clock in which there is none.
func (e *engineTest) turn() {
	e.clock(func(*engineSays) {
		e.leads, e.changed, e.parks = true, false, false
		if e.event, e.vl = e.choose(); e.event == evNone {
			return
		}
		e.hostLast = e.event == evHost
		if e.event == evPut || e.event == evTalk {
			e.putLast = e.event == evPut
		}
		if e.event == evTimes {
			e.scanDue = false
			e.scans, e.scan = e.scan != 7, (e.scan+1)&7
		}
	})
	if e.event == evNone {
		return
	}
	e.clock(func(*engineSays) {}) // it is read
	e.looks()
	writes, frees, again, closed := true, 0, false, false
	l := &e.links[e.vl]
	var counts bool
	e.clock(func(s *engineSays) {
		switch e.event {
		case evLook:
			e.look(s)
			writes = false
		case evHear:
			takes := l.open && !e.spoiled && *e.RGood
			switch {
			case takes && *e.There:
				counts, frees = e.ack(s)
				again = true
			case *e.There:
				s.heard, s.drop = true, l.up
				e.drop(s.drop)
			default:
				writes = false
			}
		case evAhead:
			e.ahead(s)
			writes = false
		case evPut:
			again = e.put(s)
		case evTalk:
			if l.listed = false; l.open && l.up && l.says() {
				e.sends(s, l.packet())
				e.said1(true)
			}
		case evHost:
			closed = e.hosts(s)
		case evTell:
			l.due = false
			s.told, s.toldVL, s.toldFreed, s.toldStatus, s.context, s.life = true, e.vl, l.freed(), l.status(), l.context, l.life
		case evWake:
			l.parked = false
			l.resume(l.open && !l.trapped)
		case evSettle:
			l.timed = false
			l.urgent = l.urgent || (l.open && l.unsaid)
		case evTimes:
			closed = l.open && e.times(s)
		}
		if closed {
			frees, again = len(l.held), true
			l.base = (l.base + uint32(frees)) & engineLimit
			l.close()
			e.changed = true
		}
	})
	if !writes {
		return
	}
	for range frees {
		e.looks()
		e.clock(func(s *engineSays) { e.release(s, l, closed) })
	}
	if again {
		e.looks()
		e.clock(func(s *engineSays) {
			switch {
			case closed:
			case e.event == evHear:
				e.rest(s, counts)
			case l.packet(): // it is the virtual link's, and has been sent
				s.whole = true
				e.said1(!e.stale)
			default:
				s.undo = true
			}
		})
	}
	e.clock(func(*engineSays) {
		e.queue(evTalk, &l.listed, l.open && l.up && l.says())
		e.queue(evTell, &l.due, e.changed)
		e.queue(evWake, &l.parked, e.parks)
		e.queue(evSettle, &l.timed, l.open && l.unsaid && !l.says())
		e.stale = e.stale || e.vl == e.leadVL
	})
}

// looks is a clock in which a slot is looked at, and others at the virtual link.
func (e *engineTest) looks() {
	e.clock(func(s *engineSays) {
		l := &e.links[e.vl]
		s.xLook, s.xVL, s.context, s.life = true, e.vl, l.context, l.life
	})
}

// queue has the virtual link wait, once.
func (e *engineTest) queue(event engineEvent, waits *bool, puts bool) {
	if puts && !*waits {
		*waits = true
		e.queues[event] = append(e.queues[event], engineWait{vl: e.vl, from: e.clocks + 2, at: e.paces})
	}
}

// release frees the oldest packet.
func (e *engineTest) release(s *engineSays, l *engineLink, closed bool) {
	p := l.held[0]
	l.held = l.held[1:]
	s.backReady = false
	if s.done = p.mine && p.final; s.done {
		s.doneSlot, s.closed = p.slot, closed
		return
	}
	s.freedOne = p.mine
	e.free = append(e.free, p.slot)
}

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

// says1 takes what the virtual link says for said.
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
	s.putDone, s.putOk = true, l.open && len(l.held) < engineWindow
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
