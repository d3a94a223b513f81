package flowctl

import "github.com/stafflink/lmmc/linkproto"

// CastReceiver is a member's end of a reliable multicast, for one sender and group, a pure state machine. It takes the packets of a stream from when it is open, by an exchange of lives, and so
// takes none of an earlier one that is late.
type CastReceiver struct {
	cfg    CastConfig
	take   func(packet []byte) bool // takes the next packet; false: there is no room, as if it had not come
	broken func()                   // another stream begins, or the stream ends: what comes does not go on from what came

	open    bool
	in      castLives // of the stream, while it is open
	offer   castLives // of one whose sender has not confirmed this end's life yet
	answer  bool      // that is to be said
	expect  uint32
	missing bool
	stop    bool
	delay   int // for which acknowledgements are kept
	urgent  bool
	unsaid  bool // packets have come that nothing has acknowledged
	since   int
	lost    uint64 // when LOST was said
	now     uint64
}

// castLives are those of a stream and of the member's end of it.
type castLives struct{ stream, own linkproto.Life }

// NewCastReceiver returns a CastReceiver that is not open. Its errors wrap ErrConfig.
func NewCastReceiver(c CastConfig, take func(packet []byte) bool, broken func()) (*CastReceiver, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &CastReceiver{cfg: c, take: take, broken: broken, delay: c.AckDelay}, nil
}

// Open reports whether it takes packets.
func (r *CastReceiver) Open() bool { return r.open }

// Feed takes a word of the sender, and the packet that came with it.
func (r *CastReceiver) Feed(w CastWord, packet []byte) {
	if w.Group != r.cfg.Group || w.Life == 0 {
		return
	}
	current := r.open && w.Life == r.in.stream
	switch w.Kind {
	case CastJoin:
		r.join(w, current)
	case CastEnd:
		if current {
			r.close()
		}
	case CastData:
		switch {
		case current:
			r.deliver(w.Number, packet)
		case r.offer.stream == 0 || r.offer.stream == w.Life: // the sender takes this end for open, which was another one before
			r.propose(w.Life)
		}
	}
}

// propose tells a sender this end's life.
func (r *CastReceiver) propose(stream linkproto.Life) {
	if r.offer.stream != stream {
		r.offer = castLives{stream, r.cfg.NewLife()}
	}
	r.answer = true
}

func (r *CastReceiver) join(w CastWord, current bool) {
	switch {
	case current:
		r.urgent = true
	case w.Life == r.offer.stream && w.Own == r.offer.own:
		if r.open {
			r.close()
		}
		r.in, r.offer, r.answer = r.offer, castLives{}, false
		r.open, r.urgent, r.expect, r.delay = true, true, 0, int(min(w.Number, 1<<24))
	default:
		r.propose(w.Life)
	}
}

func (r *CastReceiver) close() {
	r.broken()
	r.open, r.missing, r.stop, r.urgent, r.unsaid = false, false, false, false, false
}

// deliver handles a packet.
func (r *CastReceiver) deliver(number uint32, packet []byte) {
	switch ahead := linkproto.VLDistance(r.expect, number); {
	case ahead < 0: // its acknowledgement must have been lost, or others lacked it
		r.arrived()
	case ahead > 0:
		r.lacks()
	case !r.take(packet):
		r.urgent = r.urgent || !r.stop
		r.stop = true
		r.lacks()
	default:
		if r.missing || r.stop {
			r.urgent = true
		}
		r.expect = (r.expect + 1) & linkproto.VLSeqMask
		r.missing, r.stop = false, false
		r.arrived()
	}
}

// arrived has what has come acknowledged by and by.
func (r *CastReceiver) arrived() {
	if !r.unsaid {
		r.unsaid, r.since = true, 0
	}
}

// lacks says LOST, at once if that is new or was said long ago.
func (r *CastReceiver) lacks() {
	if !r.missing || r.now-r.lost >= uint64(r.cfg.Turn) {
		r.urgent = true
	}
	r.missing = true
}

// Room says that there may be room again: GO.
func (r *CastReceiver) Room() {
	if r.open && r.stop {
		r.stop, r.urgent = false, true
	}
}

// Close ends the member's part, and returns what tells the sender; false: no stream is open.
func (r *CastReceiver) Close() (w CastWord, ok bool) {
	if !r.open {
		return w, false
	}
	w = r.state(CastEnd)
	r.close()
	return w, true
}

func (r *CastReceiver) state(k CastKind) CastWord {
	return CastWord{Kind: k, Group: r.cfg.Group, Life: r.in.stream, Own: r.in.own, Number: r.expect, Open: true, Lost: r.missing, Stop: r.stop}
}

// Emit returns the next word for the sender; false: there is none now.
func (r *CastReceiver) Emit() (w CastWord, ok bool) {
	if r.answer {
		r.answer = false
		return CastWord{Kind: CastState, Group: r.cfg.Group, Life: r.offer.stream, Own: r.offer.own}, true
	}
	if r.idle() > 0 {
		return w, false
	}
	r.urgent, r.unsaid = false, false
	if r.missing {
		r.lost = r.now
	}
	return r.state(CastState), true
}

// idle is for how long nothing is to be said of the stream.
func (r *CastReceiver) idle() int {
	switch {
	case r.open && r.urgent:
		return 0
	case r.open && r.unsaid:
		return max(r.delay-r.since, 0)
	}
	return 1 << 30
}

// Tick says that n ticks have passed.
func (r *CastReceiver) Tick(n int) {
	r.now += uint64(n)
	if r.unsaid {
		r.since += n
	}
}

// IdleFor returns for how many ticks Emit will have nothing to say if nothing is fed meanwhile. It is 0 if there is something.
func (r *CastReceiver) IdleFor() int {
	if r.answer {
		return 0
	}
	return r.idle()
}
