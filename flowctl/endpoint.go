package flowctl

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Errors of Send.
var (
	ErrFull   = errors.New("flowctl: window or replay buffer full")
	ErrLost   = errors.New("flowctl: earlier packets were lost, call Lost first")
	ErrLength = errors.New("flowctl: bad packet length")
)

// Loss says which packets the peer never acknowledged before the link started again. They may or may not have been
// delivered; none will be from here on.
type Loss struct {
	First uint64 // the first one's number: packets are numbered from 0 in the order of Send
	Count uint64
}

// Status is what a link status register shows.
type Status struct {
	Up       bool
	PeerStop bool // the peer says STOP
	OwnStop  bool // this end says STOP
	Missing  bool // a frame is missing: this end says LOST
	Refused  bool // the peer takes no packets as long as those of this end, or has other lanes: the link stays down
	Epoch    uint8
	Peer     Peer
}

// Peer is who is at the other end.
type Peer struct {
	Known     bool // else nothing else holds
	Node      uint16
	Life      linkproto.Life
	MaxPacket int
	Lanes     int
}

// Endpoint is one end of a link. The order of calls in each turn of the caller's loop is free; Feed, Emit, Tick is a
// natural one. Make it with New.
type Endpoint struct {
	cfg      Config
	deframer *linkproto.Deframer
	tx       sender
	rx       receiver

	up       bool
	epoch    uint8
	peer     Peer
	peerStop bool
	retries  int // times in a row that the retry timer has run out, without acknowledgement
	waited   int // ticks of waiting for an acknowledgement
	silent   int // ticks without a word of the peer's, while up
	foreign  bool
	unread   int // words, but no INIT, since the peer is unknown
	loss     Loss

	barrierWords
	words    wordClock
	ackDelay int // longest that an acknowledgement waits for a gap between frames
	counters [linkproto.NumCounters]uint32
}

// New returns an Endpoint as after a reset: in state INIT, with nothing to send or receive. Its errors wrap ErrConfig.
func New(c Config) (*Endpoint, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Lanes != 1 {
		return nil, fmt.Errorf("%w: Lanes is %d, an Endpoint has one: use NewTrunk", ErrConfig, c.Lanes)
	}
	e := &Endpoint{
		cfg:      c,
		deframer: linkproto.NewDeframer(c.MaxPacket),
		tx:       newSender(c),
		rx:       newReceiver(c),
		epoch:    c.Epoch,
		ackDelay: c.AckDelay,
	}
	e.words.urgent = true
	return e, nil
}

// Config returns the endpoint's configuration with all defaults filled in.
func (e *Endpoint) Config() Config { return e.cfg }

// DelayAcks makes acknowledgements wait for a gap between frames for so many ticks, in place of Config.AckDelay, which bounds it from below.
// The peer must be able to hold what it sends meanwhile, and its Retry must be longer.
func (e *Endpoint) DelayAcks(ticks int) { e.ackDelay = max(ticks, e.cfg.AckDelay) }

// HoldAcks makes an acknowledgement that no frame can go with wait for one for so many ticks, for a channel where sending has a price however
// little it is. The ticks count from the Tick for the time in which the frame came. It is 0 at first. The peer must meet the conditions of
// DelayAcks.
func (e *Endpoint) HoldAcks(ticks int) { e.words.hold = max(ticks, 0) }

// Send queues a packet, which it copies. It may be called in any state; packets wait until the link is up. ErrFull
// means to try again when packets have been acknowledged, ErrLost that Lost has something to say first, so that no
// packet is sent in ignorance of a loss. Lengths outside
// linkproto.MinPacket..MaxPacket, and a length field that does not fit, give an error that wraps ErrLength.
func (e *Endpoint) Send(packet []byte) error {
	if err := sendable(packet, 0, e.peer.longest(e.cfg.MaxPacket)); err != nil {
		return err
	}
	switch {
	case e.loss.Count > 0:
		return ErrLost
	case !e.tx.queue(packet):
		return ErrFull
	}
	return nil
}

// Room returns memory for a packet of at most so many bytes. Send takes it without a copy if it is made there, before anything else is sent, and does not refuse it. ok is false if
// Send might.
func (e *Endpoint) Room(bytes int) (dst []byte, ok bool) {
	if e.loss.Count > 0 || bytes > e.peer.longest(e.cfg.MaxPacket) || !e.tx.fits(bytes) {
		return nil, false
	}
	return e.tx.bytes.room(bytes), true
}

// sendable says what is wrong with a packet that has so many more bytes.
func sendable(packet []byte, more, longest int) error {
	switch n := len(packet) + more; {
	case n < linkproto.MinPacket || n > longest:
		return fmt.Errorf("%w: %d bytes, must be %d to %d", ErrLength, n, linkproto.MinPacket, longest)
	case !linkproto.LengthIs(packet, n):
		return fmt.Errorf("%w: the length field disagrees with %d bytes", ErrLength, n)
	}
	return nil
}

// Lost returns the packets that were given up when the link started again, once; ok is false if there are none.
func (e *Endpoint) Lost() (loss Loss, ok bool) {
	loss, e.loss = e.loss, Loss{}
	return loss, loss.Count > 0
}

// Receive returns the next packet that arrived, which stays intact until the next call of Feed; ok is false if there
// is none. Reading makes room, so it can turn STOP into GO.
func (e *Endpoint) Receive() (packet []byte, ok bool) {
	packet, ok = e.rx.read()
	if ok {
		e.watch()
	}
	return packet, ok
}

// Freed returns how many packets, and bytes of packets, have left the transmit queue since New: acknowledged or lost.
func (e *Endpoint) Freed() (packets, bytes uint64) { return e.tx.freed, e.tx.bytes.start }

// Queued returns how many packets wait for their acknowledgement, sent or not.
func (e *Endpoint) Queued() int { return e.tx.count }

// Readable returns how many packets wait for Receive.
func (e *Endpoint) Readable() int { return e.rx.count }

// Arriving reports whether a frame is coming.
func (e *Endpoint) Arriving() bool {
	_, _, coming := e.deframer.Pending()
	return coming
}

// Status returns the state of the link.
func (e *Endpoint) Status() Status {
	return Status{e.up, e.peerStop, e.stop(), e.rx.lost, e.refused(), e.epoch, e.peer}
}

// Counter returns a counter. Those that belong to the packet layer are always 0.
func (e *Endpoint) Counter(c linkproto.Counter) uint32 {
	if int(c) >= len(e.counters) {
		return 0
	}
	return e.counters[c]
}

// Emit writes the symbols to send now into dst and returns how many. If they are fewer than len(dst), the
// link idles: the rest of dst is untouched, and a link that needs a symbol at every tick sends IDLE.
func (e *Endpoint) Emit(dst []linkproto.Symbol) int {
	n := 0
	for n < len(dst) {
		switch {
		case e.words.sending():
			n += e.words.emit(dst[n:])
		case e.wordDue():
			e.words.start(e.appendWord(e.words.symbols[:0]))
		case e.up && len(e.out) > 0:
			e.words.insert(linkproto.AppendWord(e.words.symbols[:0], e.tx.key, e.next()))
		case e.sending():
			n += e.tx.emit(dst[n:])
			e.words.joined = true
		default:
			return n
		}
	}
	return n
}

// Next returns the next symbol to send, IDLE if there is none.
func (e *Endpoint) Next() linkproto.Symbol {
	s := [1]linkproto.Symbol{linkproto.SymIdle}
	e.Emit(s[:])
	return s[0]
}

// Tick says that n ticks have passed.
func (e *Endpoint) Tick(n int) {
	e.words.tick(n, e.cfg.WordTimer)
	if e.up && e.cfg.Silence > 0 {
		if e.silent += n; e.silent >= e.cfg.Silence {
			e.restart()
		}
	}
	if !e.waiting() {
		e.waited = 0
		return
	}
	if e.waited += n; e.waited >= e.cfg.Retry {
		e.retry()
	}
}

// IdleFor returns for how many ticks Emit will have nothing to send if nothing is fed, sent or received meanwhile; a
// caller may skip that time with one Tick. It is 0 if there is something to send, and never more than WordTimer.
func (e *Endpoint) IdleFor() int {
	if e.words.sending() || e.wordDue() || e.sending() || e.up && len(e.out) > 0 {
		return 0
	}
	idle := e.sayAgain() - e.words.since
	if e.words.progress {
		idle = min(idle, e.words.holding())
	}
	if e.waiting() {
		idle = min(idle, e.cfg.Retry-e.waited)
	}
	if e.up && e.cfg.Silence > 0 {
		idle = min(idle, e.cfg.Silence-e.silent)
	}
	return idle
}

// sending reports whether there is a frame symbol that may be sent.
func (e *Endpoint) sending() bool { return e.open() && e.tx.ready() }

// waiting reports whether the retry timer runs: something was sent and has not been acknowledged.
func (e *Endpoint) waiting() bool { return e.open() && e.tx.top > 0 }

// open reports whether frames may be sent.
func (e *Endpoint) open() bool { return e.up && !e.peerStop }

// anonymous reports whether this end's host has not said yet who it is. It stays down.
func (e *Endpoint) anonymous() bool { return e.cfg.Nonce == 0 && e.cfg.Port != 0 }

// stop reports whether this end says STOP.
func (e *Endpoint) stop() bool { return e.rx.stop }

func (e *Endpoint) count(c linkproto.Counter) { e.counters[c]++ }
