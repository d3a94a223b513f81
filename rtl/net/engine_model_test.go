package net_test

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
