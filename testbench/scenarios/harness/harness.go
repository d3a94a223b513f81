// Package harness is what scenarios have in common: a run on a fabric, which is repeated for waves if it fails; a network interface with peers in
// Go on its links, with what sends, counts and inserts there; plans of random traffic and their faults; parameters.
package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Harness is one network interface with peers in Go on its links.
type Harness struct {
	*ni.Fabric
	Suite   *suite.Run
	Rand    *testbench.Rand
	Traffic *ni.Traffic // which knows what the receive buffer holds; nil: nobody does
	Node    *ni.Node
}

// WithPeers is a scenario's run on one network interface with endpoints in Go on some of its links.
func WithPeers(p rtl.Params, links []int, body func(*Harness)) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		c := ni.Config{Params: p, Nodes: 1, Seed: r.Seed}
		for _, l := range links {
			c.Peers = append(c.Peers, ni.Socket{Link: l})
		}
		return OnFabric(ctx, r, c, func(f *ni.Fabric) {
			t := try.Get(ni.NewTraffic(f, r.Seed))
			s := &Harness{Fabric: f, Suite: r, Rand: testbench.NewRand(r.Seed).Split("harness"), Traffic: t, Node: f.Nodes[0]}
			for _, l := range links {
				s.WaitUp(l)
			}
			body(s)
			try.OK(t.Check())
			for _, l := range links {
				s.checkStops(l)
			}
		})
	}
}

// checkStops wants each STOP that was said by a link to have been counted.
func (s *Harness) checkStops(link int) {
	said, checked := s.Peer(link).Stops()
	if !checked || s.Params.Router > 0 {
		return
	}
	if counted := try.Get(s.ReadRegister(0, linkproto.CounterReg(link, linkproto.CntStops))); int(counted) != said {
		try.Failf("link %d has said STOP %d times, and counted %d", link, said, counted)
	}
}

// Peer is the end of a link's cable.
func (s *Harness) Peer(link int) *ni.Port { return s.Peers[ni.Socket{Link: link}] }

// WaitUp waits for both ends of a link to be up, and lets the host send again if packets have been lost.
func (s *Harness) WaitUp(link int) {
	up := func() bool {
		v, err := s.ReadRegister(0, linkproto.LinkStatusReg(link))
		return err == nil && v&1 != 0 && s.Peer(link).Link.Status().Up
	}
	err := s.Until(100_000, fmt.Sprintf("link %d to come up", link), up)
	if err == nil {
		_, err = s.Admit(0, link)
	}
	try.OK(err)
}

// RestartPeer puts a new endpoint on a link, with a clean cable.
func (s *Harness) RestartPeer(link int) {
	p := s.Peer(link)
	p.Mangle, p.Swallow = nil, nil
	c := p.Link.Config()
	if c.Epoch = linkproto.NextEpoch(p.Link.Status().Epoch); s.Rand.Bool() { // the same node's end, or another's
		c.Nonce, c.Epoch = ni.Nonce(s.Rand), uint8(s.Rand.Between(1, 255))
	}
	try.OK(p.Restart(c))
}

// Write is a WRITE of random data that the receiver must carry out, and its effect on the image.
func (s *Harness) Write(link int) []byte {
	page := s.Params.PageBytes
	frame := s.Rand.IntN(max(s.Params.Frames-1, 1)) / s.Params.Links * s.Params.Links
	frame = min(frame+link-1, s.Params.Frames-2)
	for frame%s.Params.Links != link-1 {
		frame--
	}
	n := s.Rand.IntN(min(page, 100) + 1)
	offset := s.Rand.IntN(page - n + 1)
	data := s.Rand.Bytes(n)
	addr := frame*page + min(offset, page-1)
	copy(s.Node.Image[addr:], data)
	s.Suite.Stats.Packets++
	s.Suite.Stats.Bytes += uint64(n)
	return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})
}

// FromPeer sends n writes from a peer and waits until they have been carried out.
func (s *Harness) FromPeer(link, n int) {
	p := s.Peer(link)
	p.Link.Lost()
	sent := 0
	var pending []byte
	try.OK(s.Until(s.Patience(), "the peer's writes to be acknowledged", func() bool {
		for sent < n {
			if pending == nil {
				pending = s.Write(link)
			}
			err := p.Link.Send(pending)
			if Full(err) {
				break
			}
			try.OK(err)
			sent++
			pending = nil
		}
		return sent == n && p.Link.Queued() == 0
	}))
	try.OK(s.RunClocks(2*s.Params.RxBytes + 1000))
}

// Full reports whether an end has refused a packet since it has no room.
func Full(err error) bool { return errors.Is(err, flowctl.ErrFull) }

// State is what a rogue end in the place of a peer would know.
func (s *Harness) State(link int) *stimulus.State {
	end := s.Peer(link).Link
	return &stimulus.State{Next: uint8(end.Counter(linkproto.CntTxPackets)), Expected: uint8(end.Counter(linkproto.CntRxPackets)),
		Life: linkproto.LifeOf(end.Config().Nonce, end.Config().Port, end.Status().Epoch), Key: KeyOf(end)}
}

// KeyOf is the key of what an end says.
func KeyOf(end interface {
	Config() flowctl.Config
	Status() flowctl.Status
}) linkproto.Key {
	own, status := end.Config(), end.Status()
	return linkproto.KeyOf(status.Peer.Life, linkproto.LifeOf(own.Nonce, own.Port, status.Epoch))
}
