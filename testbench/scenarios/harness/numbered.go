package harness

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Numbered is traffic from the host to a peer in which every packet has a number, so that what arrives twice or out of order shows.
type Numbered struct {
	Most int    // bytes of a packet besides the number; 0: 200, or what a page holds
	Next uint32 // number of the next packet
	got  uint32 // one past the last that arrived
	Have int    // packets that arrived
}

// Offer has the host send as many packets as there is room for, within a budget.
func (n *Numbered) Offer(s *Harness, link, budget int) {
	for range budget {
		if !s.Node.Host.Credit(link).HasRoom(s.Params.MaxPacket()) {
			return
		}
		err := s.Node.Host.Forward(n.Packet(s, link, 4+s.Rand.IntN(min(cmp.Or(n.Most, 200), s.Params.PageBytes-3))))
		if errors.Is(err, ni.ErrBusy) {
			n.Next--
			return
		}
		try.OK(err)
		s.Suite.Stats.Packets++
	}
}

// Packet is the next packet, with so many bytes of data, at least 4.
func (n *Numbered) Packet(s *Harness, link, bytes int) linkproto.Packet {
	data := make([]byte, bytes)
	binary.LittleEndian.PutUint32(data, n.Next)
	n.Next++
	return linkproto.Packet{Type: linkproto.TypeWrite, Via: uint8(link), Addr: uint32(s.Rand.IntN(1 << 16)), Data: data}
}

// Take lets a peer take what has come.
func (n *Numbered) Take(p *ni.Port) {
	for raw, ok := p.Link.Receive(); ok; raw, ok = p.Link.Receive() {
		var w linkproto.Packet
		try.OK(w.Decode(raw))
		number := binary.LittleEndian.Uint32(w.Data)
		if w.Type != linkproto.TypeWrite || w.Via != 0 || number < n.got || number >= n.Next {
			try.Failf("the peer received %v number %d, the next must be %d to %d", w.Type, number, n.got, n.Next-1)
		}
		n.got = number + 1
		n.Have++
	}
}

// Drain lets the peer take everything that still comes, and checks that no packet is unaccounted for: acknowledged and lost ones
// (counters) make up all that the host sent.
func (n *Numbered) Drain(s *Harness, link int) {
	try.OK(s.Until(s.Patience(), "the link's queue to be empty", func() bool {
		n.Take(s.Peer(link))
		return s.Node.Host.Credit(link).Outstanding() == 0
	}))
	n.Take(s.Peer(link))
}

// ToPeer sends packets to a peer and wants all of them to arrive.
func (n *Numbered) ToPeer(s *Harness, link, packets int) {
	first, had := n.Next, n.Have
	try.OK(s.Until(s.Patience(), "packets to reach the peer", func() bool {
		if int(n.Next-first) < packets {
			n.Offer(s, link, 1)
		}
		n.Take(s.Peer(link))
		return n.Have-had == packets
	}))
	n.Drain(s, link)
}
