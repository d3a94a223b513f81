package flowctl

import "github.com/stafflink/lmmc/linkproto"

// VirtualHandshake is the part of an end of a virtual link that says INIT: who is at the other end, and in which life. It is a pure state machine beside a
// VirtualFlow, which is at this end or in a network interface. See doc/protocol.md, "Virtual links".
type VirtualHandshake struct {
	cfg     VirtualConfig
	life    linkproto.Life
	peer    VirtualPeer
	up      bool
	alone   bool // the peer's node has said that nobody there has the channel
	say     bool // INIT, at once
	retries int
	waited  int // ticks
	payload []byte
}

// VirtualNews is what an INIT means for the flow.
type VirtualNews struct {
	NewPeer bool // the peer has another life than before: what was is over
	Refused bool // it changes nothing of the flow: nobody has the channel
	Up      bool // the peer knows this end: packets may be sent, and the state is to be said
}

// NewHandshake returns a VirtualHandshake that is down. Of the configuration it needs those members that say who the ends are, MaxPacket, NewLife
// and Retry. Its errors wrap ErrConfig.
func NewHandshake(c VirtualConfig) (*VirtualHandshake, error) {
	c, err := c.withNames()
	if err != nil {
		return nil, err
	}
	h := newHandshake(c)
	return &h, nil
}

func newHandshake(c VirtualConfig) VirtualHandshake {
	return VirtualHandshake{cfg: c, life: c.NewLife(), say: true}
}

// Config returns the configuration with all defaults filled in.
func (h *VirtualHandshake) Config() VirtualConfig { return h.cfg }

// Up reports whether the ends know each other.
func (h *VirtualHandshake) Up() bool { return h.up }

// Life and Peer are who is at this end and at the other.
func (h *VirtualHandshake) Life() linkproto.Life { return h.life }
func (h *VirtualHandshake) Peer() VirtualPeer    { return h.peer }

// Refused reports whether the peer has other pages, so that the link stays down.
func (h *VirtualHandshake) Refused() bool {
	return h.peer.Known && h.peer.MaxPacket != h.cfg.MaxPacket
}

// Alone reports whether the peer's node says that nobody there has the channel. The end goes on saying INIT.
func (h *VirtualHandshake) Alone() bool { return h.alone }

// Key is the key of what this end says, once the peer is known.
func (h *VirtualHandshake) Key() linkproto.Key { return linkproto.KeyOf(h.peer.Life, h.life) }

// Feed takes the INIT in a ROUTE, whose bytes are raw; ok is false if it is none for this end, or damaged.
func (h *VirtualHandshake) Feed(r *linkproto.Route, raw []byte) (news VirtualNews, ok bool) {
	w, ok := linkproto.DecodeVLInit(r.Packet)
	state, isState := linkproto.DecodeVLState(r.State)
	if !ok || !isState || state.Kind != linkproto.KindInit || r.Src != h.cfg.Peer || r.Dest != h.cfg.Node || r.Next != linkproto.Version ||
		w.Channel != h.cfg.Channel || linkproto.CheckRoute(raw, 0) != nil {
		return VirtualNews{}, false
	}
	if w.Refuses() {
		if w.Heard == h.life && !h.up {
			h.alone = true
		}
		return VirtualNews{Refused: true}, w.Heard == h.life
	}
	h.alone = false
	if w.Life != h.peer.Life {
		if news.NewPeer = true; h.up {
			h.Restart()
		}
		h.peer = VirtualPeer{Known: true, Number: w.Number, Life: w.Life, MaxPacket: linkproto.MaxPacket(1 << w.Page)}
		h.retries, h.waited = 0, 0
	}
	switch {
	case w.Heard == h.life && !h.Refused():
		news.Up = true
		h.ComeUp()
	default:
		h.say = true
	}
	return news, true
}

// ComeUp says that the peer is known to know this end.
func (h *VirtualHandshake) ComeUp() {
	if h.alone = false; !h.up {
		h.up, h.say, h.retries, h.waited = true, false, 0, 0
	}
}

// Say has an INIT said that was lost on its way out of this end.
func (h *VirtualHandshake) Say() { h.say = true }

// Restart ends the life of this end, the peer being unknown from here on.
func (h *VirtualHandshake) Restart() {
	*h = VirtualHandshake{cfg: h.cfg, life: h.cfg.NewLife(), say: true, payload: h.payload}
}

// Emit appends the INIT that is due to dst; ok is false if there is none. With stop this end takes no packets.
func (h *VirtualHandshake) Emit(dst []byte, stop bool) (route []byte, ok bool) {
	if !h.say {
		return dst, false
	}
	h.say = false
	page, _ := linkproto.PageOf(h.cfg.MaxPacket)
	h.payload = linkproto.VLInit{Number: h.cfg.Number, Life: h.life, Heard: h.peer.Life, Page: page, Channel: h.cfg.Channel}.Append(h.payload[:0])
	r := h.cfg.route()
	r.State, r.Next, r.Packet = linkproto.VLState{Kind: linkproto.KindInit, Stop: stop}.Byte(), linkproto.Version, h.payload
	route, err := r.Seal(dst, 0)
	return route, err == nil
}

// route is what all ROUTEs of the end have.
func (c VirtualConfig) route() linkproto.Route {
	return linkproto.Route{Via: c.Via, Dest: c.Peer, Src: c.Node, Hops: linkproto.MaxHops, Class: c.Class}
}

// Tick says that n ticks have passed.
func (h *VirtualHandshake) Tick(n int) {
	if h.up {
		return
	}
	if h.waited += n; h.waited >= h.cfg.Retry<<h.retries {
		h.waited, h.retries, h.say = 0, min(h.retries+1, 3), true
	}
}

// IdleFor returns for how many ticks nothing is to be said if nothing is fed meanwhile.
func (h *VirtualHandshake) IdleFor() int {
	switch {
	case h.say:
		return 0
	case h.up:
		return 1 << 30
	}
	return max(h.cfg.Retry<<h.retries-h.waited, 0)
}
