package scenarios

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Hostile are the scenarios of peers that break the rules.
var hostileScenarios = []suite.Scenario{
	{Name: "hostile-peer", Doc: "a peer sends damaged frames, words and packets, and INIT storms: each counted as laid down, no byte written", Seeds: 3,
		Run: withPeers(rtl.Params{}, []int{1}, hostilePeer)},
	{Name: "hostile-flood", Doc: "seven peers disregard STOP: overruns are counted, every byte arrives in the end, the host is answered meanwhile", Seeds: 1,
		Run: withPeers(rtl.Params{Links: 7, Frames: 24, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024}, []int{1, 2, 3, 4, 5, 6, 7}, hostileFlood)},
}

// Hostile is the scenario of a host that breaks the rules.
var hostileHostScenarios = []suite.Scenario{
	{Name: "hostile-host", Doc: "a host sends malformed requests over a bad cable: each is refused once, with the right status and tag, in order", Seeds: 3,
		Run: withPeers(rtl.Params{}, nil, hostileHost)},
}

// Resets is the scenario of a network interface that is reset.
var resetScenarios = []suite.Scenario{
	{Name: "ni-reset", Doc: "the network interface is reset in the middle of traffic: the peer sees it, nothing is delivered twice, traffic passes again", Seeds: 2,
		Run: withPeers(rtl.Params{}, []int{1}, niReset)},
}

// harness is one network interface with peers in Go on its links.
type harness struct {
	*ni.Fabric
	run     *suite.Run
	rng     *testbench.Rand
	traffic *ni.Traffic
	node    *ni.Node
}

// withPeers is a scenario's run on one network interface with endpoints in Go on some of its links.
func withPeers(p rtl.Params, links []int, body func(*harness)) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		c := ni.Config{Params: p, Nodes: 1, Seed: r.Seed}
		for _, l := range links {
			c.Peers = append(c.Peers, ni.Socket{Link: l})
		}
		return onFabric(ctx, r, c, func(f *ni.Fabric) {
			t := try.Get(ni.NewTraffic(f, r.Seed))
			s := &harness{Fabric: f, run: r, rng: testbench.NewRand(r.Seed).Split("harness"), traffic: t, node: f.Nodes[0]}
			for _, l := range links {
				s.waitUp(l)
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
func (s *harness) checkStops(link int) {
	said, checked := s.peer(link).Stops()
	if !checked || s.Params.Router > 0 {
		return
	}
	if counted := try.Get(s.ReadRegister(0, linkproto.CounterReg(link, linkproto.CntStops))); int(counted) != said {
		try.Failf("link %d has said STOP %d times, and counted %d", link, said, counted)
	}
}

func (s *harness) peer(link int) *ni.Port { return s.Peers[ni.Socket{Link: link}] }

// waitUp waits for both ends of a link to be up, and lets the host send again if packets have been lost.
func (s *harness) waitUp(link int) {
	up := func() bool {
		v, err := s.ReadRegister(0, linkproto.LinkStatusReg(link))
		return err == nil && v&1 != 0 && s.peer(link).Link.Status().Up
	}
	err := s.Until(100_000, fmt.Sprintf("link %d to come up", link), up)
	if err == nil {
		_, err = s.Admit(0, link)
	}
	try.OK(err)
}

// restartPeer puts a new endpoint on a link, with a clean cable.
func (s *harness) restartPeer(link int) {
	p := s.peer(link)
	p.Mangle, p.Swallow = nil, nil
	c := p.Link.Config()
	if c.Epoch = linkproto.NextEpoch(p.Link.Status().Epoch); s.rng.Bool() { // the same node's end, or another's
		c.Nonce, c.Epoch = ni.Nonce(s.rng), uint8(s.rng.Between(1, 255))
	}
	try.OK(p.Restart(c))
}

// write is a WRITE of random data that the receiver must carry out, and its effect on the image.
func (s *harness) write(link int) []byte {
	page := s.Params.PageBytes
	frame := s.rng.IntN(max(s.Params.Frames-1, 1)) / s.Params.Links * s.Params.Links
	frame = min(frame+link-1, s.Params.Frames-2)
	for frame%s.Params.Links != link-1 {
		frame--
	}
	n := s.rng.IntN(min(page, 100) + 1)
	offset := s.rng.IntN(page - n + 1)
	data := s.rng.Bytes(n)
	addr := frame*page + min(offset, page-1)
	copy(s.node.Image[addr:], data)
	s.run.Stats.Packets++
	s.run.Stats.Bytes += uint64(n)
	return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})
}

// fromPeer sends n writes from a peer and waits until they have been carried out.
func (s *harness) fromPeer(link, n int) {
	p := s.peer(link)
	p.Link.Lost()
	sent := 0
	var pending []byte
	try.OK(s.Until(1_000_000, "the peer's writes to be acknowledged", func() bool {
		for sent < n {
			if pending == nil {
				pending = s.write(link)
			}
			err := p.Link.Send(pending)
			if full(err) {
				break
			}
			try.OK(err)
			sent++
			pending = nil
		}
		return sent == n && p.Link.Queued() == 0
	}))
	try.OK(s.Run(2*s.Params.RxBytes + 1000))
}

// numbered is traffic from the host to a peer in which every packet has a number, so that what arrives twice or out of order shows.
type numbered struct {
	most int    // bytes of a packet besides the number; 0: 200
	next uint32 // number of the next packet
	got  uint32 // one past the last that arrived
	have int    // packets that arrived
}

func (n *numbered) offer(s *harness, link, budget int) {
	for range budget {
		if !s.node.Host.Credit(link).HasRoom(s.Params.MaxPacket()) {
			return
		}
		err := s.node.Host.Forward(n.packet(s, link, 4+s.rng.IntN(cmp.Or(n.most, 200))))
		if errors.Is(err, ni.ErrBusy) {
			n.next--
			return
		}
		try.OK(err)
		s.run.Stats.Packets++
	}
}

// packet is the next packet, with so many bytes of data, at least 4.
func (n *numbered) packet(s *harness, link, bytes int) linkproto.Packet {
	data := make([]byte, bytes)
	binary.LittleEndian.PutUint32(data, n.next)
	n.next++
	return linkproto.Packet{Type: linkproto.TypeWrite, Via: uint8(link), Addr: uint32(s.rng.IntN(1 << 16)), Data: data}
}

func (n *numbered) take(p *ni.Port) {
	for raw, ok := p.Link.Receive(); ok; raw, ok = p.Link.Receive() {
		var w linkproto.Packet
		try.OK(w.Decode(raw))
		number := binary.LittleEndian.Uint32(w.Data)
		if w.Type != linkproto.TypeWrite || w.Via != 0 || number < n.got || number >= n.next {
			try.Failf("the peer received %v number %d, the next must be %d to %d", w.Type, number, n.got, n.next-1)
		}
		n.got = number + 1
		n.have++
	}
}

// drain lets the peer take everything that still comes, and checks that no packet is unaccounted for: acknowledged and lost ones
// (counters) make up all that the host sent.
func (n *numbered) drain(s *harness, link int) {
	try.OK(s.Until(1_000_000, "the link's queue to be empty", func() bool {
		n.take(s.peer(link))
		return s.node.Host.Credit(link).Outstanding() == 0
	}))
	n.take(s.peer(link))
}

// toPeer sends packets to a peer and wants all of them to arrive.
func (n *numbered) toPeer(s *harness, link, packets int) {
	first, had := n.next, n.have
	try.OK(s.Until(1_000_000, "packets to reach the peer", func() bool {
		if int(n.next-first) < packets {
			n.offer(s, link, 1)
		}
		n.take(s.peer(link))
		return n.have-had == packets
	}))
	n.drain(s, link)
}

// tally is a link's counters against what they were.
type tally struct {
	s    *harness
	link int
	base [linkproto.NumCounters]uint32
	want [linkproto.NumCounters]uint32
}

// tally begins one.
func (s *harness) tally(link int) *tally {
	return &tally{s: s, link: link, base: try.Get(s.Counters(0, link))}
}

// quietTally waits for the link to be quiet before it begins one.
func (s *harness) quietTally(link int) *tally {
	try.OK(s.Run(2000))
	return s.tally(link)
}

// check compares the counters named, all but those of the sending side if none.
func (t *tally) check(names ...linkproto.Counter) error {
	now := try.Get(t.s.Counters(0, t.link))
	if names == nil {
		names = []linkproto.Counter{linkproto.CntRxPackets, linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun,
			linkproto.CntRxStray, linkproto.CntBadWord, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied,
			linkproto.CntNoSpace}
	}
	var errs []error
	for _, c := range names {
		if have := now[c] - t.base[c]; have != t.want[c] {
			errs = append(errs, fmt.Errorf("link %d: counter %v went up by %d, want %d", t.link, c, have, t.want[c]))
		}
	}
	return errors.Join(errs...)
}

// inserter inserts symbols on the way from an endpoint to the network interface, between its words and frames.
type inserter struct {
	port            *ni.Port
	quantum         int // symbols
	pending, insert []linkproto.Symbol
	out             []linkproto.Symbol
}

func (s *harness) insert(p *ni.Port) *inserter {
	x := &inserter{port: p, quantum: s.Config.Quantum / p.SymbolClocks}
	p.Mangle = x.mangle
	return x
}

func (x *inserter) mangle(line []linkproto.Symbol) []linkproto.Symbol {
	x.pending = append(x.pending, line...)
	if x.port.Link.IdleFor() > 0 { // the endpoint has nothing more to say
		x.pending = append(x.pending, x.insert...)
		x.insert = nil
	}
	n := min(x.quantum, len(x.pending))
	x.out = append(x.out[:0], x.pending[:n]...)
	x.pending = x.pending[:copy(x.pending, x.pending[n:])]
	return x.out
}

func (x *inserter) idle() bool { return len(x.pending) == 0 && len(x.insert) == 0 }

// send inserts symbols and waits until they have passed and had their effect.
func (s *harness) send(x *inserter, symbols []linkproto.Symbol) {
	x.insert = append(x.insert, symbols...)
	try.OK(s.Until(100_000+4*len(symbols), "the symbols to pass", x.idle))
	try.OK(s.Run(2000))
}

// garbage is n random symbols, rich in K symbols.
func garbage(rng *testbench.Rand, n int) []linkproto.Symbol {
	symbols := make([]linkproto.Symbol, n)
	for i := range symbols {
		symbols[i] = linkproto.Symbol(rng.IntN(512))
		if rng.IntN(4) == 0 {
			symbols[i] = linkproto.Symbols[rng.IntN(len(linkproto.Symbols))].Symbol
		}
	}
	return symbols
}
