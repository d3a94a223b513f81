package flowctl

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Trunk is one end of a link of several lanes: an Endpoint whose symbols are fed and emitted by lane. What the lanes carry is one sequence of packets,
// in order and each once, whatever becomes of single lanes. Make it with NewTrunk.
type Trunk struct {
	cfg   Config
	lanes []lane
	tx    trunkSender
	rx    receiver

	barrierWords
	up      bool
	epoch   uint8
	peer    Peer
	retries int // times in a row that the retry timer has run out, without acknowledgement
	waited  int // ticks of waiting for an acknowledgement
	silent  int // ticks without a word of the peer's, while up
	young   int // ticks for which INITs of the peer's may be older than what it has heard of this life of the link
	loss    Loss

	suspect  bool  // a frame was damaged since LOST was said last
	told     uint8 // next expected sequence number, as the last word of any lane said it
	toldFor  int   // ticks since then
	counters [linkproto.NumCounters]uint32
}

// LaneStatus is the state of a lane.
type LaneStatus struct {
	Heard   bool // this end hears its peer on the lane, and has done so well for long enough
	Open    bool // frames go over it: the peer hears this end, too
	Foreign bool // it is cabled to another end than that which the link is up with
}

// NewTrunk returns a Trunk as after a reset. Its errors wrap ErrConfig.
func NewTrunk(c Config) (*Trunk, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Lanes < 2 || c.Lanes > linkproto.MaxLanes {
		return nil, fmt.Errorf("%w: Lanes is %d, must be 2 to %d for a Trunk; an Endpoint has one", ErrConfig, c.Lanes, linkproto.MaxLanes)
	}
	t := &Trunk{cfg: c, lanes: make([]lane, c.Lanes), tx: newTrunkSender(c), rx: newReceiver(c), epoch: c.Epoch}
	for k := range t.lanes {
		t.lanes[k].deframer = linkproto.NewDeframer(c.MaxPacket)
		t.lanes[k].words.urgent = true
	}
	return t, nil
}

// Config returns the trunk's configuration with all defaults filled in.
func (t *Trunk) Config() Config { return t.cfg }

// Send queues a packet, as Endpoint.Send does.
func (t *Trunk) Send(packet []byte) error {
	if err := sendable(packet, 0, t.peer.longest(t.cfg.MaxPacket)); err != nil {
		return err
	}
	switch {
	case t.loss.Count > 0:
		return ErrLost
	case !t.tx.queue(packet):
		return ErrFull
	}
	return nil
}

// Lost returns the packets that were given up when the link started again, once; ok is false if there are none.
func (t *Trunk) Lost() (loss Loss, ok bool) {
	loss, t.loss = t.loss, Loss{}
	return loss, loss.Count > 0
}

// Receive returns the next packet that arrived, which stays intact until the next call of Feed; ok is false if there is none.
func (t *Trunk) Receive() (packet []byte, ok bool) {
	packet, ok = t.rx.read()
	if ok {
		t.watch()
	}
	return packet, ok
}

// Freed returns how many packets, and bytes of packets, have left the transmit queue since NewTrunk: acknowledged or lost.
func (t *Trunk) Freed() (packets, bytes uint64) { return t.tx.freed, t.tx.bytes.start }

// Queued returns how many packets wait for their acknowledgement, sent or not.
func (t *Trunk) Queued() int { return t.tx.count }

// Readable returns how many packets wait for Receive.
func (t *Trunk) Readable() int { return t.rx.count }

// Status returns the state of the link. PeerStop is that of all lanes that are open.
func (t *Trunk) Status() Status {
	stopped := t.up
	for k := range t.lanes {
		stopped = stopped && (t.lanes[k].stop || !t.lanes[k].open())
	}
	return Status{t.up, stopped, t.rx.stop, t.rx.lost, t.refused(), t.epoch, t.peer}
}

// Lane returns the state of a lane.
func (t *Trunk) Lane(k int) LaneStatus {
	l := &t.lanes[k]
	return LaneStatus{l.heard, l.open(), l.foreign}
}

// Counter returns a counter, summed over all lanes.
func (t *Trunk) Counter(c linkproto.Counter) uint32 {
	if int(c) >= len(t.counters) {
		return 0
	}
	return t.counters[c]
}

// Emit writes the symbols to send now over a lane into dst and returns how many, as Endpoint.Emit does.
func (t *Trunk) Emit(k int, dst []linkproto.Symbol) int {
	l := &t.lanes[k]
	n := 0
	for n < len(dst) {
		switch {
		case l.words.sending():
			n += l.words.emit(dst[n:])
		case t.wordDue(l):
			l.words.start(t.appendWord(l, uint8(k), l.words.symbols[:0]))
		case t.up && l.heard && len(t.out) > 0:
			l.words.insert(linkproto.AppendWord(l.words.symbols[:0], l.key, t.next()))
		case t.sending(l):
			n += t.emitFrame(l, dst[n:])
		default:
			return n
		}
	}
	return n
}

// Tick says that n ticks have passed on every lane.
func (t *Trunk) Tick(n int) {
	t.toldFor = min(t.toldFor+n, t.cfg.WordTimer)
	t.tx.tick(n)
	t.settle()
	t.young = max(t.young-n, 0)
	for k := range t.lanes {
		t.lanes[k].words.tick(n, t.cfg.WordTimer)
		t.tickLane(&t.lanes[k], n)
	}
	t.order()
	t.findLoss(n)
	if t.up && t.cfg.Silence > 0 {
		if t.silent += n; t.silent >= t.cfg.Silence {
			t.restart()
		}
	}
	if !t.waiting() {
		t.waited = 0
		return
	}
	if t.waited += n; t.waited >= t.cfg.Retry {
		t.retry()
	}
}

// IdleFor returns for how many ticks Emit will have nothing to send over any lane, as Endpoint.IdleFor does.
func (t *Trunk) IdleFor() int {
	idle := t.cfg.WordTimer
	for k := range t.lanes {
		l := &t.lanes[k]
		if l.words.sending() || t.wordDue(l) || t.sending(l) || t.up && l.heard && len(t.out) > 0 {
			return 0
		}
		idle = min(idle, t.sayAgain(l)-l.words.since, t.lasts(l))
	}
	if t.missing() {
		idle = min(idle, 1)
	}
	if t.tx.settling > 0 {
		idle = min(idle, t.tx.settling)
	}
	if t.waiting() {
		idle = min(idle, t.cfg.Retry-t.waited)
	}
	if t.up && t.cfg.Silence > 0 {
		idle = min(idle, t.cfg.Silence-t.silent)
	}
	return idle
}

// waiting reports whether the retry timer runs: something was sent and has not been acknowledged, and there is a lane to send over.
func (t *Trunk) waiting() bool {
	for k := range t.lanes {
		if l := &t.lanes[k]; l.open() && !l.stop {
			return t.tx.top > 0
		}
	}
	return false
}

// retry is for when no acknowledgement has come for long, as of Endpoint.
func (t *Trunk) retry() {
	t.waited = 0
	t.count(linkproto.CntRetries)
	if t.retries++; t.retries >= t.cfg.RetryLimit {
		t.restart()
	} else if !t.busy() && !t.tx.ready() {
		t.goBack()
	}
}

// busy reports whether a frame is being sent.
func (t *Trunk) busy() bool {
	for k := range t.lanes {
		if t.lanes[k].sending() {
			return true
		}
	}
	return false
}

// goBack has all frames sent again that have not been acknowledged. Those in progress go on.
func (t *Trunk) goBack() {
	if t.tx.top > 0 {
		t.tx.next = 0
		t.count(linkproto.CntReplays)
	}
}

func (t *Trunk) count(c linkproto.Counter) { t.counters[c]++ }
