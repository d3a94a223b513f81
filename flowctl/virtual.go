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
	}
	return c, nil
}

// withNames is withDefaults for who says INIT.
func (c VirtualConfig) withNames() (VirtualConfig, error) {
	c, err := c.withDefaults()
	switch {
	case err != nil:
		return c, err
	case c.Number == 0:
		return c, fmt.Errorf("%w: Number is 0", ErrConfig)
	case c.NewLife == nil:
		return c, fmt.Errorf("%w: NewLife is missing", ErrConfig)
	}
	return c, nil
}

// VirtualLink is one end of a virtual link, as a pure state machine like Endpoint: packets pass it once and in order, or are reported lost, over a network that loses,
// damages, doubles and reorders ROUTEs. The caller feeds it the ROUTEs that came for its number, and its INITs, takes those to send, and tells it
// how much time has passed. It is a VirtualHandshake, a VirtualFlow and a queue of what has come. See doc/protocol.md, "Virtual links".
type VirtualLink struct {
	cfg VirtualConfig
	// Direct, unless nil, is offered each packet that comes while none waits for Receive; what it returns true for is gone. The packet is valid until then.
	Direct func(packet []byte) bool

	hand VirtualHandshake
	flow VirtualFlow
	rx   receiver // its sequence number is not used
	loss Loss
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
	c, err := c.withNames()
	if err != nil {
		return nil, err
	}
	v := &VirtualLink{
		cfg: c, hand: newHandshake(c), flow: newFlow(c),
		rx: newReceiver(Config{ReceiveBytes: c.ReceiveBytes, MaxPacket: c.MaxPacket, High: c.High, Low: c.Low}),
	}
	v.flow.take = v.deliver
	return v, nil
}

// deliver takes a packet that has come, or reports that there is no room.
func (v *VirtualLink) deliver(packet []byte) bool {
	if v.Direct != nil && v.rx.count == 0 && v.Direct(packet) {
		return true
	}
	return v.rx.deliver(packet)
}

// Config returns the configuration with all defaults filled in.
func (v *VirtualLink) Config() VirtualConfig { return v.cfg }

// Send queues a packet, which it copies, as Endpoint.Send does, with the same errors.
func (v *VirtualLink) Send(packet []byte) error {
	return v.SendFrom(packet, nil)
}

// SendFrom is Send for a packet whose end is elsewhere, as VirtualFlow.SendFrom.
func (v *VirtualLink) SendFrom(packet, more []byte) error {
	if v.loss.Count > 0 {
		return ErrLost
	}
	return v.flow.SendFrom(packet, more)
}

// Lost returns the packets that were given up when the link started again, once; ok is false if there are none.
func (v *VirtualLink) Lost() (loss Loss, ok bool) {
	loss, v.loss = v.loss, Loss{}
	return loss, loss.Count > 0
}

// Receive returns the next packet that arrived, which stays intact until the next call of Feed; ok is false if there is none.
func (v *VirtualLink) Receive() (packet []byte, ok bool) {
	if packet, ok = v.rx.read(); ok {
		v.watch()
	}
	return packet, ok
}

// watch says STOP or GO.
func (v *VirtualLink) watch() {
	v.rx.watch(0)
	v.flow.SetStop(v.rx.stop)
}

// Peek returns the packet that Receive will, and leaves it there.
func (v *VirtualLink) Peek() (packet []byte, ok bool) { return v.rx.peek() }

// Freed returns how many packets, and bytes of packets, have left the transmit queue: acknowledged or lost.
func (v *VirtualLink) Freed() (packets, bytes uint64) { return v.flow.Freed() }

// Queued returns how many packets wait for their acknowledgement, sent or not.
func (v *VirtualLink) Queued() int { return v.flow.tx.count }

// QueuedBytes returns how many bytes they have.
func (v *VirtualLink) QueuedBytes() int { return v.flow.tx.used() }

// Readable returns how many packets wait for Receive.
func (v *VirtualLink) Readable() int { return v.rx.count }

// Status returns the state of the link.
func (v *VirtualLink) Status() VirtualStatus {
	return VirtualStatus{v.hand.up, v.flow.peerStop, v.flow.stop, v.flow.missing, v.hand.Refused(), v.hand.life, v.hand.peer}
}

// Alone reports whether the peer's node says that nobody there has the channel.
func (v *VirtualLink) Alone() bool { return v.hand.alone }

// Counter returns a counter, of those of a link that mean something here.
func (v *VirtualLink) Counter(c linkproto.Counter) uint32 { return v.flow.Counter(c) }

// Feed takes a ROUTE that is for this end: an INIT from its peer's node for its channel, or what has its number. It is decoded but for its CRC, and
// raw are its bytes. What is damaged, or not for this end in this life, changes nothing.
func (v *VirtualLink) Feed(r *linkproto.Route, raw []byte) {
	if state, ok := linkproto.DecodeVLState(r.State); ok && state.Kind == linkproto.KindInit {
		v.init(r, raw, state.Stop)
		return
	}
	v.flow.Feed(r, raw)
	if v.flow.up {
		v.hand.ComeUp()
	}
	v.watch()
}

// init handles an INIT.
func (v *VirtualLink) init(r *linkproto.Route, raw []byte, stop bool) {
	news, ok := v.hand.Feed(r, raw)
	if !ok {
		v.flow.bad()
		return
	}
	if news.Refused {
		return
	}
	if news.NewPeer {
		if v.flow.up {
			v.drop()
		}
		if v.flow.open = false; !v.hand.Refused() {
			v.flow.Open(v.hand.peer.Number, v.hand.Key())
		}
	}
	v.flow.peerStop = stop
	if news.Up {
		v.flow.ComeUp()
		v.flow.Say()
	}
}

// drop gives up what was not acknowledged, since a life has ended.
func (v *VirtualLink) drop() {
	v.flow.counters[linkproto.CntRestarts]++
	if loss := v.flow.Close(); loss.Count > 0 {
		v.loss = loss
	}
}

// Restart ends the life of this end, the peer being unknown from here on: every packet that was not acknowledged is given up and reported. Packets that were
// delivered stay.
func (v *VirtualLink) Restart() {
	v.hand.Restart()
	v.drop()
}

// Acknowledge appends a ROUTE that acknowledges what has come, for an end that is about to Restart; ok is false, and dst unchanged, if nothing is to be acknowledged.
func (v *VirtualLink) Acknowledge(dst []byte) (route []byte, ok bool) {
	if !v.flow.up || !v.flow.unsaid {
		return dst, false
	}
	return v.flow.emit(dst, false)
}

// Emit appends the next ROUTE to send to dst; ok is false, and dst unchanged, if there is none.
func (v *VirtualLink) Emit(dst []byte) (route []byte, ok bool) {
	if route, ok = v.hand.Emit(dst, v.flow.stop); ok {
		return route, true
	}
	return v.flow.Emit(dst)
}

// Tick says that n ticks have passed. It reports whether they were the last ones of this end's life.
func (v *VirtualLink) Tick(n int) (restarted bool) {
	v.hand.Tick(n)
	restarted = v.flow.Tick(n)
	if restarted {
		v.Restart()
	}
	return restarted
}

// IdleFor returns for how many ticks Emit will have nothing to send if nothing is fed, sent or received meanwhile. It is 0 if there is something to send.
func (v *VirtualLink) IdleFor() int { return min(v.hand.IdleFor(), v.flow.IdleFor()) }
