package flowctl

import "github.com/stafflink/lmmc/linkproto"

// VirtualFlow is the part of an end of a virtual link that moves packets, between ends that know each other: numbers, window, acknowledgements, LOST, STOP and
// RETRY. It is a pure state machine beside a VirtualHandshake, and what a network interface does that carries out virtual links.
// See doc/protocol.md, "Virtual links".
type VirtualFlow struct {
	cfg  VirtualConfig
	take func(packet []byte) bool
	tx   virtualSender

	open   bool // it takes what comes
	up     bool // and sends packets
	number uint16
	key    linkproto.Key // of what this end says
	expect uint32        // number of the packet that is delivered next

	peerStop bool
	stop     bool
	missing  bool // something after the last good packet was not delivered
	probe    bool // one packet may go although the peer says STOP
	moved    bool // packets have been acknowledged since it went back
	retries  int  // times in a row that the timer has run out
	waited   int  // ticks of the timer
	now      uint64

	urgent   bool // the state is to be said at once
	unsaid   bool // packets have arrived that nothing has acknowledged
	since    int  // ticks since the first of them
	saidLost uint64
	counters [linkproto.NumCounters]uint32
}

// NewFlow returns a VirtualFlow that is closed. Of the configuration it needs the nodes, Via, Class, and the sizes and times of sending. Packets
// are given to take in order; one that it refuses, by false, is as if it had not come. Its errors wrap ErrConfig.
func NewFlow(c VirtualConfig, take func(packet []byte) bool) (*VirtualFlow, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	f := newFlow(c)
	f.take = take
	return &f, nil
}

func newFlow(c VirtualConfig) VirtualFlow { return VirtualFlow{cfg: c, tx: newVirtualSender(c)} }

// Open begins to take packets from number 0 on, of an end that calls the virtual link so, with the key of what this end says. It is
// not up; what was queued since it was closed is sent when it is.
func (f *VirtualFlow) Open(number uint16, key linkproto.Key) {
	f.open, f.number, f.key, f.expect = true, number, key, 0
}

// ComeUp says that the peer is known to know this end: packets are sent.
func (f *VirtualFlow) ComeUp() {
	if f.open && !f.up {
		f.up, f.urgent, f.retries, f.waited = true, true, 0, 0
	}
}

// Close ends what was opened, and returns the packets that were not acknowledged: they are dropped.
func (f *VirtualFlow) Close() (loss Loss) {
	loss.First = f.tx.accepted - uint64(f.tx.count)
	loss.Count = uint64(f.tx.reset())
	f.counters[linkproto.CntLostPackets] += uint32(loss.Count)
	f.open, f.up, f.peerStop, f.missing, f.probe, f.urgent, f.unsaid = false, false, false, false, false, false, false
	f.retries, f.waited = 0, 0
	return loss
}

// Up reports whether packets are sent, IsOpen whether they are taken.
func (f *VirtualFlow) Up() bool     { return f.up }
func (f *VirtualFlow) IsOpen() bool { return f.open }

// PeerStop and Stop report whether the peer and this end say STOP, Missing whether this one says LOST.
func (f *VirtualFlow) PeerStop() bool { return f.peerStop }
func (f *VirtualFlow) Stop() bool     { return f.stop }
func (f *VirtualFlow) Missing() bool  { return f.missing }

// Expect is the number of the packet that is delivered next.
func (f *VirtualFlow) Expect() uint32 { return f.expect }

// SetStop says whether the peer is to stop.
func (f *VirtualFlow) SetStop(stop bool) {
	if stop != f.stop {
		f.stop, f.urgent = stop, true
		f.counters[linkproto.CntStops] += flag(stop)
	}
}

// Say has the state said at once.
func (f *VirtualFlow) Say() { f.urgent = true }

// Send queues a packet, which it copies; ErrFull says that there is no room.
func (f *VirtualFlow) Send(packet []byte) error { return f.SendFrom(packet, nil) }

// SendFrom is Send for a packet whose end, more, is not copied: those bytes must stay until the packet has left, and go from where they are, each time that they do.
func (f *VirtualFlow) SendFrom(packet, more []byte) error {
	if err := sendable(packet, len(more), f.cfg.MaxPacket); err != nil {
		return err
	}
	if !f.tx.queue(packet, more) {
		return ErrFull
	}
	return nil
}

// Freed returns how many packets, and bytes of packets, have left the transmit queue: acknowledged or lost.
func (f *VirtualFlow) Freed() (packets, bytes uint64) { return f.tx.freed, f.tx.bytes.start }

// Queued returns how many packets wait for their acknowledgement, sent or not, and how many bytes they have.
func (f *VirtualFlow) Queued() (packets, bytes int) { return f.tx.count, f.tx.used() }

// Counter returns a counter, of those of a link that mean something here.
func (f *VirtualFlow) Counter(c linkproto.Counter) uint32 {
	if int(c) >= len(f.counters) {
		return 0
	}
	return f.counters[c]
}

// Emit appends the next ROUTE to send to dst; ok is false, and dst unchanged, if there is none.
func (f *VirtualFlow) Emit(dst []byte) (route []byte, ok bool) {
	packet := f.sending()
	if !packet && !f.wordDue() {
		return dst, false
	}
	return f.emit(dst, packet)
}

func (f *VirtualFlow) emit(dst []byte, packet bool) (route []byte, ok bool) {
	state, seq, r := linkproto.VLState{Kind: linkproto.KindAck, Stop: f.stop, Packet: packet}, uint32(0), f.cfg.route()
	if packet {
		seq, r.Packet, r.More = f.tx.take(f.now)
		r.Seq, f.probe = uint8(seq), false
	}
	if f.missing {
		state.Kind, f.saidLost = linkproto.KindLost, f.now
	}
	f.urgent, f.unsaid, f.since = false, false, 0
	r.VL, r.State, r.Next = f.number, state.Byte(), uint8(f.expect)
	route, err := r.Seal(dst, f.key.At(seq, f.expect))
	return route, err == nil
}

// sending reports whether there is a packet that may be sent.
func (f *VirtualFlow) sending() bool {
	return f.up && f.tx.next < f.tx.count && (!f.peerStop || f.probe)
}

// waiting reports whether the timer runs: an answer is due, or the peer's GO.
func (f *VirtualFlow) waiting() bool { return f.up && (f.tx.top > 0 || f.peerStop && f.tx.count > 0) }

// wordDue reports whether something is to be said even without a packet.
func (f *VirtualFlow) wordDue() bool {
	return f.up && (f.urgent || f.unsaid && f.since >= f.cfg.AckDelay)
}

// Tick says that n ticks have passed. It reports whether the peer is gone, as far as retries can tell: the flow is to be closed.
func (f *VirtualFlow) Tick(n int) (gone bool) {
	f.now += uint64(n)
	if f.unsaid {
		f.since += n
	}
	if !f.waiting() {
		f.waited = 0
		return false
	}
	if f.waited += n; f.waited < f.retry() {
		return false
	}
	f.waited = 0
	f.counters[linkproto.CntRetries]++
	if f.retries++; f.retries >= f.cfg.RetryLimit {
		return true
	}
	f.goBack()
	f.probe = f.peerStop
	return false
}

// retry is how long the timer runs now.
func (f *VirtualFlow) retry() int { return f.cfg.Retry << min(f.retries, 3) }

// IdleFor returns for how many ticks Emit will have nothing to send if nothing is fed, sent or received meanwhile. It is 0 if there is something to send.
func (f *VirtualFlow) IdleFor() int {
	if f.sending() || f.wordDue() {
		return 0
	}
	idle := 1 << 30
	if f.up && f.unsaid {
		idle = f.cfg.AckDelay - f.since
	}
	if f.waiting() {
		idle = min(idle, f.retry()-f.waited)
	}
	return max(idle, 0)
}
