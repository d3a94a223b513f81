package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Traffic is what the hosts send: each so many packets, to others drawn at random.
type Traffic struct {
	Packets int // of each network interface
	Bytes   int // of a remote write, at most what Cluster.Region gives each sender
	Pages   int // of a hundred packets, how many are PAGEs, which trap
}

// Result is what became of it.
type Result struct {
	Cycles uint64 `json:"cycles"` // from the first packet to the last
	Writes int    `json:"writes"` // remote writes, all of which have come
	Bytes  int    `json:"bytes"`  // their payload
	Pages  int    `json:"pages"`  // PAGEs, each of which has trapped once
}

// Region is how many bytes of each receive buffer belong to one sender.
func (n *Cluster) Region() int { return n.config.Params.BufferBytes() / len(n.NIs) / 8 * 8 }

// Carry sends traffic, waits until all of it has come, and compares every receive buffer with what has been written into it. The error says what is missing
// or wrong.
func (n *Cluster) Carry(t Traffic) (r Result, err error) {
	if most := min(n.Region(), n.config.Params.PageBytes); t.Bytes < 1 || t.Bytes > most {
		return r, fmt.Errorf("cluster: writes of %d bytes: want 1 to %d, so that each of %d senders has a place of its own", t.Bytes, most, len(n.NIs))
	}
	if len(n.NIs) < 2 {
		return r, errors.New("cluster: one network interface has nobody to send to: add another")
	}
	return r, try.Run(func() { r = n.carry(t) })
}

// Resume goes on with the Carry of Config.From.
func (n *Cluster) Resume() (r Result, err error) {
	return r, try.Run(func() { r = n.finish(n.haul) })
}

// sender is a host that sends.
type sender struct {
	*NI
	left   int // packets to send
	packet []byte
	via    uint8
}

// haul is traffic as far as it has come.
type haul struct {
	Traffic
	Result
	senders []*sender
	images  [][]byte // what the receive buffers are to hold in the end
	traps   int
	start   uint64
	moved   uint64 // the clock at which a packet was made last
}

func (n *Cluster) carry(t Traffic) Result {
	h := &haul{Traffic: t, images: try.Get(n.readBuffers())}
	for _, node := range n.NIs {
		h.senders = append(h.senders, &sender{NI: node, left: t.Packets})
	}
	n.receive(h)
	h.start, h.moved = n.Cycles, n.Cycles
	return n.finish(h)
}

// receive has all hosts count traps, and go on behind them.
func (n *Cluster) receive(h *haul) {
	for _, node := range n.NIs {
		node.Received = func(p linkproto.Packet) {
			if p.Type == linkproto.TypeTrap {
				h.traps++
				try.OK(node.Request(linkproto.Packet{Type: linkproto.TypeResume, Via: p.Via}, nil))
			}
		}
	}
}

// finish sends what is left to send, and compares.
func (n *Cluster) finish(h *haul) Result {
	n.haul = h
	for left := true; left; {
		left = false
		for i, s := range h.senders {
			for s.send() {
				if s.left == 0 {
					break
				}
				n.draw(s, i, h)
				h.moved = n.Cycles
			}
			left = left || s.left > 0 || s.packet != nil
		}
		if left && n.Cycles-h.moved > uint64(patience) {
			n.suspectStuck()
			try.OK(error(&ni.Timeout{Since: h.moved, Clocks: uint64(patience), What: "room for packets to send"}))
		}
		try.OK(n.Run(quantum))
		if n.Between != nil && left {
			try.OK(n.Between())
		}
	}
	n.haul = nil
	r, images := h.Result, h.images
	try.OK(n.await("all links to be empty", n.drained))
	try.OK(n.await(fmt.Sprintf("%d PAGEs to trap", r.Pages), func() bool { return h.traps >= r.Pages }))
	r.Cycles = n.Cycles - h.start
	try.OK(n.Run(1000))
	if h.traps != r.Pages {
		try.Failf("cluster: %d PAGEs were sent, and %d have trapped", r.Pages, h.traps)
	}
	have := try.Get(n.readBuffers())
	for more := 0; more < 5 && !slices.EqualFunc(have, images, bytes.Equal); more++ { // what waited behind traps may still be written
		try.OK(n.Run(2000))
		have = try.Get(n.readBuffers())
	}
	for i, node := range n.NIs {
		if at := differ(have[i], images[i]); at < len(images[i]) {
			from := n.NIs[min(at/n.Region(), len(n.NIs)-1)]
			n.suspect(from.Node, node.Node)
			try.Failf("cluster: byte %d of the receive buffer of %s, which %s writes, is %#02x, want %#02x", at, n.name(node), n.name(from), have[i][at], images[i][at])
		}
	}
	return r
}

// differ is the first place at which two buffers differ, or their length.
func differ(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// draw makes the next packet of a sender.
func (n *Cluster) draw(s *sender, from int, h *haul) {
	t, r := h.Traffic, &h.Result
	to := n.rng.IntN(len(n.NIs) - 1)
	if to >= from {
		to++
	}
	p := linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(n.rng.IntN(n.config.Params.Frames)), Port: n.rng.Uint32()}
	if n.rng.IntN(100) >= t.Pages {
		page := n.config.Params.PageBytes
		at := from*n.Region() + n.rng.IntN(n.Region()-t.Bytes+1)
		if over := at%page + t.Bytes - page; over > 0 { // a write stays within a page
			at -= over
		}
		at = max(at, from*n.Region())
		size := min(t.Bytes, page-at%page)
		p = linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(at), Data: n.rng.Bytes(size)}
		copy(h.images[to][at:], p.Data)
		r.Writes++
		r.Bytes += size
	} else {
		r.Pages++
	}
	s.via, s.packet = n.datagram(s.NI, n.NIs[to].Node, p)
	s.left--
}

// via is the link by which packets leave for another node: with a router the network, link 1.
func (n *Cluster) via(from *NI, to int) uint8 {
	if from.Params.Router > 0 {
		return 1
	}
	port, _ := n.Tables.Route(from.Node, to)
	return port
}

// datagram is a packet in a ROUTE from a network interface to another node, and the link by which it leaves.
func (n *Cluster) datagram(from *NI, to int, p linkproto.Packet) (via uint8, packet []byte) {
	via = n.via(from, to)
	route := linkproto.Route{
		Via: via, Dest: n.Topology.Nodes[to].ID, Src: n.Topology.Nodes[from.Node].ID, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram,
		Packet: try.Get(p.Append(nil)),
	}
	return via, try.Get(route.Append(nil))
}

// Send sends a packet from one network interface to another, and runs until the first has taken it from its host.
func (n *Cluster) Send(from, to *NI, p linkproto.Packet) error {
	return try.Run(func() {
		s := sender{NI: from}
		s.via, s.packet = n.datagram(from, to.Node, p)
		try.OK(n.Until(patience, "room in the queue of "+n.name(from), s.send))
	})
}

// send sends the packet that is drawn, if there is one, and reports whether none is left over.
func (s *sender) send() bool {
	if s.packet == nil {
		return true
	}
	credit := s.Credit(int(s.via))
	if !credit.HasRoom(len(s.packet)) {
		return false
	}
	switch err := s.SendRaw(s.packet); {
	case errors.Is(err, ni.ErrBusy):
		return false
	default:
		try.OK(err)
	}
	credit.Sent(len(s.packet))
	s.packet = nil
	return true
}
