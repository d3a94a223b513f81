package flowctl

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// VirtualConfig fixes what a VirtualLink is, its sizes and its times. Sizes are in bytes of packets, times in ticks. A zero member means its default.
type VirtualConfig struct {
	Node, Peer uint16 // numbers of this end's node and of the other's
	Number     uint16 // of the virtual link at this node, not 0
	Channel    uint16 // which of the virtual links between the two nodes it is
	Via        uint8  // link by which its ROUTEs leave the node; on a link 0
	Class      uint8  // of its ROUTEs
	// NewLife makes the random number, not 0, that this end is called each time it starts.
	NewLife func() linkproto.Life

	MaxPacket    int // longest packet, linkproto.MaxPacket of a power of two, the same at both ends; 0: of 1024
	Window       int // packets held for sending, sent or not, at most 127; 0: 32
	ReplayBytes  int // bytes held for sending, at least MaxPacket; 0: eight longest packets
	ReceiveBytes int // bytes held for Receive; 0: eight longest packets
	High, Low    int // fills of them at which this end says STOP and GO; 0: a half of ReceiveBytes, and half of that but at least MaxPacket

	AckDelay int // longest that an acknowledgement waits for a packet to go with; 0: 512
	// Retry is the time without acknowledgement after which packets are sent again, and an INIT. It doubles each time in a row, to eight times at most. 0: 32768.
	Retry int
	// RetryLimit is how many times in a row that may happen: the last time, the link starts again. 0: 8.
	RetryLimit int
	// Turn is the time in which a packet gets there and its acknowledgement back: what was sent again meanwhile is not sent again for another LOST. 0: Retry / 8.
	Turn int
}

func (c VirtualConfig) withDefaults() (VirtualConfig, error) {
	setDefault(&c.MaxPacket, linkproto.MaxPacket(1024))
	setDefault(&c.Window, 32)
	setDefault(&c.ReplayBytes, 8*c.MaxPacket)
	setDefault(&c.ReceiveBytes, 8*c.MaxPacket)
	setDefault(&c.High, c.ReceiveBytes/2)
	setDefault(&c.Low, max(c.High/2, c.MaxPacket))
	setDefault(&c.AckDelay, linkproto.DefaultAckDelay)
	setDefault(&c.Retry, linkproto.DefaultVLRetry)
	setDefault(&c.RetryLimit, linkproto.DefaultRetryLimit)
	setDefault(&c.Turn, c.Retry/8)
	err := within([]bound{
		{"Node", int(c.Node), 1, linkproto.MaxNode},
		{"Peer", int(c.Peer), 1, linkproto.MaxNode},
		{"Number", int(c.Number), 1, 1<<16 - 1},
		{"Via", int(c.Via), 0, linkproto.MaxVia},
		{"Class", int(c.Class), 0, 3},
		{"MaxPacket", c.MaxPacket, linkproto.MinPacket, linkproto.MaxPacket(linkproto.MaxPageBytes)},
		{"Window", c.Window, 1, linkproto.VLMaxWindow},
		{"ReplayBytes", c.ReplayBytes, c.MaxPacket, 1 << 30},
		{"ReceiveBytes", c.ReceiveBytes, c.High, 1 << 30},
		{"High", c.High, c.Low + 1, c.ReceiveBytes},
		{"Low", c.Low, c.MaxPacket, c.High - 1},
		{"AckDelay", c.AckDelay, 1, 1 << 30},
		{"Retry", c.Retry, c.AckDelay + 1, 1 << 28},
		{"RetryLimit", c.RetryLimit, 1, 1 << 30},
		{"Turn", c.Turn, 0, c.Retry},
	})
	switch _, ok := linkproto.PageOf(c.MaxPacket); {
	case err != nil:
		return c, err
	case !ok:
		return c, fmt.Errorf("%w: MaxPacket is %d, must be a power of two and %d", ErrConfig, c.MaxPacket, linkproto.PacketExtra)
	case c.Node == c.Peer:
		return c, fmt.Errorf("%w: Peer is %d, the node itself", ErrConfig, c.Peer)
	case c.NewLife == nil:
		return c, fmt.Errorf("%w: NewLife is missing", ErrConfig)
	}
	return c, nil
}

// VirtualLink is one end of a virtual link, as a pure state machine like Endpoint: packets pass it once and in order, or are reported lost, over a network that loses,
// damages, doubles and reorders ROUTEs. The caller feeds it the ROUTEs that came for its number, and its INITs, takes those to send, and tells it
// how much time has passed. See doc/protocol.md, "Virtual links".
type VirtualLink struct {
	cfg VirtualConfig
	tx  virtualSender
	rx  receiver // its sequence number is not used

	life   linkproto.Life
	up     bool
	peer   VirtualPeer
	key    linkproto.Key // of what this end says
	expect uint32        // number of the packet that is delivered next

	peerStop bool
	probe    bool // one packet may go although the peer says STOP
	retries  int  // times in a row that the timer has run out
	waited   int  // ticks of the timer
	now      uint64
	loss     Loss

	urgent   bool // something is to be said at once
	tell     bool // namely who this end is, although it is up
	unsaid   bool // packets have arrived that nothing has acknowledged
	since    int  // ticks since the first of them
	saidLost uint64
	counters [linkproto.NumCounters]uint32
	payload  []byte
}

// VirtualPeer is who is at the other end.
type VirtualPeer struct {
	Known     bool // else nothing else holds
	Number    uint16
	Life      linkproto.Life
	MaxPacket int
}

// VirtualStatus is the state of a virtual link.
type VirtualStatus struct {
	Up       bool
	PeerStop bool // the peer says STOP
	OwnStop  bool // this end says STOP
	Missing  bool // a packet is missing: this end says LOST
	Refused  bool // the peer has other pages: the link stays down
	Life     linkproto.Life
	Peer     VirtualPeer
}

// NewVirtual returns a VirtualLink that is down and has nothing to send or receive. Its errors wrap ErrConfig.
func NewVirtual(c VirtualConfig) (*VirtualLink, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &VirtualLink{
		cfg: c, tx: newVirtualSender(c), life: c.NewLife(), urgent: true,
		rx: newReceiver(Config{ReceiveBytes: c.ReceiveBytes, MaxPacket: c.MaxPacket, High: c.High, Low: c.Low}),
	}, nil
}

// Config returns the configuration with all defaults filled in.
func (v *VirtualLink) Config() VirtualConfig { return v.cfg }

// Send queues a packet, which it copies, as Endpoint.Send does, with the same errors.
func (v *VirtualLink) Send(packet []byte) error {
	if err := sendable(packet, v.cfg.MaxPacket); err != nil {
		return err
	}
	switch {
	case v.loss.Count > 0:
		return ErrLost
	case !v.tx.queue(packet):
		return ErrFull
	}
	return nil
}

// Lost returns the packets that were given up when the link started again, once; ok is false if there are none.
func (v *VirtualLink) Lost() (loss Loss, ok bool) {
	loss, v.loss = v.loss, Loss{}
	return loss, loss.Count > 0
}

// Receive returns the next packet that arrived, which stays intact until the next call of Feed; ok is false if there is none.
func (v *VirtualLink) Receive() (packet []byte, ok bool) {
	packet, ok = v.rx.read()
	if ok && v.rx.watch(0) {
		v.urgent = true
	}
	return packet, ok
}

// Freed returns how many packets, and bytes of packets, have left the transmit queue: acknowledged or lost.
func (v *VirtualLink) Freed() (packets, bytes uint64) { return v.tx.freed, v.tx.bytes.start }

// Queued returns how many packets wait for their acknowledgement, sent or not.
func (v *VirtualLink) Queued() int { return v.tx.count }

// QueuedBytes returns how many bytes they have.
func (v *VirtualLink) QueuedBytes() int { return v.tx.bytes.used() }

// Readable returns how many packets wait for Receive.
func (v *VirtualLink) Readable() int { return v.rx.count }

// Status returns the state of the link.
func (v *VirtualLink) Status() VirtualStatus {
	return VirtualStatus{v.up, v.peerStop, v.rx.stop, v.rx.lost, v.refused(), v.life, v.peer}
}

// Counter returns a counter, of those of a link that mean something here.
func (v *VirtualLink) Counter(c linkproto.Counter) uint32 {
	if int(c) >= len(v.counters) {
		return 0
	}
	return v.counters[c]
}

func (v *VirtualLink) refused() bool { return v.peer.Known && v.peer.MaxPacket != v.cfg.MaxPacket }

// Emit appends the next ROUTE to send to dst; ok is false, and dst unchanged, if there is none.
func (v *VirtualLink) Emit(dst []byte) (route []byte, ok bool) {
	r := linkproto.Route{Via: v.cfg.Via, Dest: v.cfg.Peer, Src: v.cfg.Node, Hops: linkproto.MaxHops, Class: v.cfg.Class, VL: v.peer.Number}
	state, key := linkproto.VLState{Kind: linkproto.KindAck, Stop: v.rx.stop}, linkproto.Key(0)
	switch {
	case !v.up && !v.urgent:
		return dst, false
	case !v.up || v.tell:
		page, _ := linkproto.PageOf(v.cfg.MaxPacket)
		v.payload = linkproto.VLInit{Number: v.cfg.Number, Life: v.life, Heard: v.peer.Life, Page: page, Channel: v.cfg.Channel}.Append(v.payload[:0])
		state.Kind, r.VL, r.Next, r.Packet = linkproto.KindInit, 0, linkproto.Version, v.payload
	default:
		seq := uint32(0)
		if state.Packet = v.sending(); state.Packet {
			seq, r.Packet = v.tx.take(v.now)
			r.Seq, v.probe = uint8(seq), false
		} else if !v.wordDue() {
			return dst, false
		}
		if v.rx.lost {
			state.Kind, v.saidLost = linkproto.KindLost, v.now
		}
		r.Next, key = uint8(v.expect), v.key.At(seq, v.expect)
	}
	v.urgent, v.tell, v.unsaid, v.since = false, false, false, 0
	r.State = state.Byte()
	route, err := r.Seal(dst, key)
	return route, err == nil
}

// sending reports whether there is a packet that may be sent.
func (v *VirtualLink) sending() bool {
	return v.up && v.tx.next < v.tx.count && (!v.peerStop || v.probe)
}

// waiting reports whether the timer runs: an answer is due, or the peer's GO.
func (v *VirtualLink) waiting() bool { return !v.up || v.tx.top > 0 || v.peerStop && v.tx.count > 0 }

// wordDue reports whether something is to be said even without a packet.
func (v *VirtualLink) wordDue() bool { return v.urgent || v.unsaid && v.since >= v.cfg.AckDelay }

// Tick says that n ticks have passed.
func (v *VirtualLink) Tick(n int) {
	v.now += uint64(n)
	if v.unsaid {
		v.since += n
	}
	if !v.waiting() {
		v.waited = 0
		return
	}
	if v.waited += n; v.waited >= v.retry() {
		v.again()
	}
}

// retry is how long the timer runs now.
func (v *VirtualLink) retry() int { return v.cfg.Retry << min(v.retries, 3) }

// again is for when no answer has come for long.
func (v *VirtualLink) again() {
	v.waited = 0
	if !v.up {
		v.retries = min(v.retries+1, 3)
		v.urgent = true
		return
	}
	v.counters[linkproto.CntRetries]++
	if v.retries++; v.retries >= v.cfg.RetryLimit {
		v.Restart()
		return
	}
	v.counters[linkproto.CntReplays]++
	v.tx.next, v.probe = 0, v.peerStop
}

// IdleFor returns for how many ticks Emit will have nothing to send if nothing is fed, sent or received meanwhile. It is 0 if there is something to send.
func (v *VirtualLink) IdleFor() int {
	if v.sending() || v.urgent || v.tell {
		return 0
	}
	idle := 1 << 30
	if v.unsaid {
		idle = v.cfg.AckDelay - v.since
	}
	if v.waiting() {
		idle = min(idle, v.retry()-v.waited)
	}
	return max(idle, 0)
}
