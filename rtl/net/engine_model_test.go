package net_test

// Sizes of the engine under test. Times are in ticks, and engineAckDelay in paces.
const (
	engineSlots, engineWindow           = 128, 100
	engineRetry, engineRetryLimit       = 2, 5
	engineTurn, engineTime, engineLimit = 1, 1<<6 - 1, 1<<24 - 1 // the time of 6 bits, and numbers of 24
	engineAckDelay                      = 40
	engineLinks                         = 8
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

// nextIn is what net_vl_next is given of those who ask.
type nextIn struct {
	look, hear, put, begins, host, sendIdle, toldReady, room bool
	rVL, pVL, cVL                                            uint8
}

// nextModel does what net_vl_next does.
type nextModel struct {
	clocks            int
	queues            map[engineEvent][]engineWait
	paces             uint8
	scan, scanLeft    uint8 // the next link to be looked through, and how many are to be
	scanDue           bool
	hostLast, putLast bool
	passed            int
}

// passes ends a clock.
func (m *nextModel) passes(pace, tick bool) {
	m.clocks++
	if pace {
		m.scanDue = true
		m.paces++
	}
	if tick {
		m.scanLeft = engineLinks
	}
}

// waits says whether a virtual link waits in a queue.
func (m *nextModel) waits(queue engineEvent) bool {
	q := m.queues[queue]
	return len(q) > 0 && m.clocks >= q[0].from && (queue != evSettle || m.paces-q[0].at >= engineAckDelay)
}

// wait puts a virtual link into a queue.
func (m *nextModel) wait(queue engineEvent, vl uint8) {
	m.queues[queue] = append(m.queues[queue], engineWait{vl: vl, from: m.clocks + 2, at: m.paces})
}

// choose takes the next event, and its virtual link.
func (m *nextModel) choose(in nextIn) (event engineEvent, vl uint8) {
	talks, tells, wakes := m.waits(evTalk) && in.sendIdle, m.waits(evTell) && in.toldReady, m.waits(evWake) && in.room
	sends := in.put || talks
	others := in.look || in.hear || m.waits(evSettle) || tells || wakes || sends
	sending := evTalk
	if in.put && !(m.putLast && talks) {
		sending = evPut
	}
	switch {
	case sends && m.passed == 3:
		event = sending
	case m.scanLeft > 0 && m.scanDue:
		event = evTimes
	case in.host && !(m.hostLast && others):
		event = evHost
	case in.look:
		event = evLook
	case in.hear:
		event = evHear
	case m.waits(evSettle):
		event = evSettle
	case tells:
		event = evTell
	case wakes:
		event = evWake
	case sends:
		event = sending
	case in.begins && in.sendIdle:
		event = evAhead
	default:
		return evNone, 0
	}
	m.hostLast = event == evHost
	m.passed += b2i(sends)
	switch event {
	case evTimes:
		vl = m.scan
		m.scanDue = false
		m.scanLeft, m.scan = m.scanLeft-1, (m.scan+1)%engineLinks
	case evHost:
		vl = in.cVL
	case evLook, evHear:
		vl = in.rVL
	case evPut, evAhead:
		vl = in.pVL
	default:
		vl = m.queues[event][0].vl
		m.queues[event] = m.queues[event][1:]
	}
	if event == evPut || event == evTalk {
		m.putLast, m.passed = event == evPut, 0
	}
	return event, vl
}

// engineModel does what net_vl_engine does, event by event; what it is given comes by in.
type engineModel struct {
	nextModel
	links                            [engineLinks]engineLink
	free                             []uint8
	vl                               uint8
	event                            engineEvent
	ticks                            int
	leads, leading, stale, loseLead  bool
	leadVL                           uint8
	takes, noRoom, noCredit, spoiled bool
	changed, parks, wasCut           bool
}

// passes ends a clock.
func (m *engineModel) passes(begins, quit, pace, tick bool) {
	m.leads = m.leads && begins
	m.leading = m.leading && !quit
	if tick {
		m.ticks = (m.ticks + 1) & engineTime
	}
	m.nextModel.passes(pace, tick)
}

// choose draws the next event, and its virtual link.
func (e *engineTest) choose() (event engineEvent, vl uint8) {
	return e.nextModel.choose(nextIn{
		look: *e.Look, hear: *e.Hear, rVL: *e.RVl, put: *e.Put, begins: *e.Begins && !e.leading, pVL: *e.PVl, host: *e.CEn, cVL: *e.CVl,
		sendIdle: *e.SendIdle, toldReady: *e.ToldReady, room: *e.MRoom,
	})
}

// turn is an event, or a clock in which there is none.
func (e *engineTest) turn() {
	e.clock(func(*engineSays) {
		e.leads, e.changed, e.parks, e.wasCut = true, false, false, false
		if e.event, e.vl = e.choose(); e.event == evNone {
			return
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
		e.wait(event, e.vl)
	}
}

// release frees the oldest packet.
func (e *engineTest) release(s *engineSays, l *engineLink, closed bool) {
	p := l.held[0]
	l.held = l.held[1:]
	s.frees, s.doneSlot, s.closed, s.backReady = true, p.slot, closed, false
	e.wasCut = e.wasCut || *e.SendCut
	if s.done = p.mine && p.final; s.done {
		return
	}
	s.freedOne = p.mine
	e.free = append(e.free, p.slot)
}
