package flowctl

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// lane is one end of one lane.
type lane struct {
	deframer *linkproto.Deframer
	words    wordClock
	peer     Peer          // whom it hears, while the link is down
	foreign  bool          // it hears another end than that with which the link is up
	key      linkproto.Key // of what it sends

	heard  bool // the peer is heard well, and told so by words that are no INIT
	sealed bool // the peer says the same
	stop   bool // the peer says STOP on this lane
	quiet  int  // ticks since the last good word
	trial  int  // ticks for which it must be good still, before it is heard
	term   int  // of them, in all; 0: it was not left out in this life of the link
	faults int  // score

	line  []linkproto.Symbol // the frame in progress
	sent  int                // of them
	frame uint8              // its number

	skew   []skewed // frames that have arrived and wait for earlier ones, in their order
	used   int      // bytes of them
	idle   int      // ticks without a frame symbol, while something is missing
	seen   int      // bytes of the frame that was coming at the last Tick
	active bool     // frame symbols have come since then
}

// skewed is a frame that waits for earlier ones of other lanes.
type skewed struct {
	seq     uint8
	payload []byte
}

// open reports whether frames go over the lane.
func (l *lane) open() bool { return l.heard && l.sealed }

// sending reports whether a frame is in progress.
func (l *lane) sending() bool { return l.sent < len(l.line) }

func (l *lane) drop() { l.skew, l.used = l.skew[:0], 0 }

func (l *lane) silence(c *Config) bool { return l.quiet >= linkproto.LaneSilentTimers*c.WordTimer }

func (t *Trunk) anonymous() bool { return t.cfg.Nonce == 0 && t.cfg.Port != 0 }

func (t *Trunk) life() linkproto.Life { return linkproto.LifeOf(t.cfg.Nonce, t.cfg.Port, t.epoch) }

// unfit reports whether the lane's peer cannot take what this end may have to send.
func (t *Trunk) unfit(l *lane) bool {
	return !t.up && l.peer.Known && (l.peer.MaxPacket < t.cfg.PeerPacket || l.peer.Lanes != len(t.lanes))
}

func (t *Trunk) refused() bool {
	for k := range t.lanes {
		if t.unfit(&t.lanes[k]) {
			return true
		}
	}
	return false
}

// tickLane lets a lane be left out for silence, and taken again.
func (t *Trunk) tickLane(l *lane, n int) {
	l.quiet = min(l.quiet+n, linkproto.LaneSilentTimers*t.cfg.WordTimer)
	if !t.up || l.foreign {
		return
	}
	switch {
	case l.silence(&t.cfg) && l.heard:
		t.leaveOut(l)
	case l.silence(&t.cfg) && l.trial > 0:
		l.trial = l.term
	case l.trial > 0:
		if l.trial -= n; l.trial <= 0 {
			l.trial = 0
			t.hear(l)
		}
	}
}

// lasts is for how many ticks tickLane changes nothing.
func (t *Trunk) lasts(l *lane) int {
	switch {
	case t.up && !l.foreign && l.trial > 0:
		return l.trial
	case t.up && !l.foreign && l.heard && !l.silence(&t.cfg):
		return linkproto.LaneSilentTimers*t.cfg.WordTimer - l.quiet
	}
	return t.cfg.WordTimer
}

// anyOpen reports whether frames go over some lane.
func (t *Trunk) anyOpen() bool {
	return slices.ContainsFunc(t.lanes, func(l lane) bool { return l.open() })
}

// hear takes a lane whose peer was heard, if it has been good for long enough.
func (t *Trunk) hear(l *lane) {
	if t.up && !l.heard && l.trial == 0 {
		l.heard, l.faults, l.words.urgent = true, 0, true
	}
}

// leaveOut leaves a lane out, unless it is the last one. It has to be good for a while before it is taken again.
func (t *Trunk) leaveOut(l *lane) {
	if t.heard() == 1 {
		return
	}
	shortest := linkproto.LaneTrialTimers * t.cfg.WordTimer
	l.term = min(max(2*l.term, shortest), shortest<<linkproto.LaneTrialDoublings)
	l.trial = l.term
	t.closed(l, func() { l.heard = false })
	l.words.urgent = true
}

// heard is how many lanes are.
func (t *Trunk) heard() (n int) {
	for k := range t.lanes {
		if t.lanes[k].heard {
			n++
		}
	}
	return n
}

// closed changes a lane's state. If frames went over it before, its frame in progress is abandoned, and so may be the peer's.
func (t *Trunk) closed(l *lane, change func()) {
	was := l.open()
	change()
	if was && !l.open() {
		l.sent = len(l.line)
		l.deframer.DropFrame()
		t.suspect = t.suspect || t.rx.expect > 0
	}
}

// fault takes note of something damaged.
func (t *Trunk) fault(l *lane) {
	if l.trial > 0 {
		l.trial = l.term
		return
	}
	if l.faults = min(l.faults+linkproto.LaneFault, linkproto.LaneFaults); l.faults == linkproto.LaneFaults && l.heard {
		t.leaveOut(l)
	}
}

// good takes note of something whole.
func (l *lane) good() { l.faults, l.quiet = max(l.faults-1, 0), 0 }

// init handles an INIT whose check is right.
func (t *Trunk) init(l *lane, w linkproto.Init) {
	switch {
	case t.cfg.Port == 0 && !w.Life.HostLife():
		t.badWord(l)
		return
	case t.up:
		t.initUp(l, w)
	case l.peer.Known && w.Life != l.peer.Life:
		l.peer, l.words.urgent = Peer{}, true
	case !l.peer.Known:
		l.peer = Peer{Known: true, Node: w.Node, Life: w.Life, MaxPacket: w.MaxPacket(), Lanes: int(w.Lanes)}
		t.seal(l, w.Life)
		fallthrough
	default:
		l.words.urgent = true
	}
	l.stop = w.Stop
}

// seal has words and frames of a lane be for a peer, and of it.
func (t *Trunk) seal(l *lane, peer linkproto.Life) {
	l.key = linkproto.KeyOf(peer, t.life())
	l.deframer.SetKey(l.key.Back())
}

// initUp handles an INIT while the link is up: the peer does not hear this end well on the lane, or it is not the peer. Then the lane is left out, and
// if there is no other the link starts again.
func (t *Trunk) initUp(l *lane, w linkproto.Init) {
	if l.foreign = w.Life != t.peer.Life; l.foreign {
		was := l.heard
		t.closed(l, func() { l.heard, l.sealed = false, false })
		if l.words.urgent = true; was && t.heard() == 0 {
			t.restart()
		}
		return
	}
	if t.young == 0 {
		t.closed(l, func() { l.sealed = false })
	}
	l.good()
	t.hear(l)
	l.words.urgent = l.words.urgent || l.heard
}

// badWord takes note of a word that is damaged or of another life.
func (t *Trunk) badWord(l *lane) {
	if t.up {
		t.count(linkproto.CntBadWord)
		t.fault(l)
	}
}

// word handles a word whose check is right, with the key of the lane's peer, which knows this end.
func (t *Trunk) word(l *lane, w linkproto.Word) {
	if w.Kind == linkproto.KindBarrier {
		switch {
		case !t.cfg.Barriers:
			t.badWord(l)
		case t.up:
			t.in = append(t.in, w)
		}
		return
	}
	if !t.up {
		if !l.peer.Known || t.unfit(l) || t.anonymous() {
			return
		}
		t.comeUp(l.peer)
	}
	if !t.anyOpen() {
		l.trial = 0
	}
	l.stop, l.sealed, l.foreign, t.silent = w.Stop, true, false, 0
	l.good()
	t.hear(l)
	t.acknowledged(w)
}

// comeUp begins a life of the link with a lane's peer.
func (t *Trunk) comeUp(peer Peer) {
	t.up, t.silent, t.young, t.peer, t.told = true, 0, linkproto.LaneSkew, peer, 0
	for k := range t.lanes {
		l := &t.lanes[k]
		l.heard, l.sealed, l.trial, l.term, l.faults = false, false, 0, 0, 0
		l.foreign = l.peer.Known && l.peer.Life != peer.Life
		l.words.urgent = true
		t.seal(l, peer.Life)
		l.deframer.DropFrame()
	}
}

// Restart ends this life of the link, as Endpoint.Restart does.
func (t *Trunk) Restart() { t.restart() }

// SetNode says which node this end's is, from its next INIT on.
func (t *Trunk) SetNode(node uint16) { t.cfg.Node = node }

// SetNonce says what nonce this end's node has chosen, as Endpoint.SetNonce does.
func (t *Trunk) SetNonce(nonce uint32) {
	t.cfg.Nonce = nonce
	if t.up {
		t.restart()
		return
	}
	for k := range t.lanes {
		t.lanes[k].peer, t.lanes[k].words.urgent = Peer{}, true
	}
}

// restart ends this life of the link, on all lanes.
func (t *Trunk) restart() {
	t.up, t.peer, t.suspect = false, Peer{}, false
	t.epoch = linkproto.NextEpoch(t.epoch)
	t.waited, t.retries = 0, 0
	first := t.tx.accepted - uint64(t.tx.count)
	if n := t.tx.forget(); n > 0 {
		t.loss = Loss{first, uint64(n)}
		t.counters[linkproto.CntLostPackets] += uint32(n)
	}
	t.rx.reset()
	t.out = nil
	for k := range t.lanes {
		l := &t.lanes[k]
		l.peer, l.heard, l.sealed, l.foreign, l.sent, l.words.urgent = Peer{}, false, false, false, len(l.line), true
		l.drop()
		l.deframer.DropFrame()
	}
	t.count(linkproto.CntRestarts)
}
