// Package routed holds the scenario of ROUTEs to a network interface without a router.
package routed

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "routed",
		Doc: "two peers send ROUTEs, right and wrong, to a network interface without a router, whose host may read and resume late: " +
			"what is carried out, what the host gets, what is dropped, and each counter as laid down", Seeds: 1,
		Run: harness.WithPeers(rtl.Params{Links: 2, Frames: 17, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, Patience: patience, Routes: true}, []int{1, 2}, run)},
}

const (
	patience  = 12_000 // clocks that ROUTEs wait behind a trap
	longNap   = 6_000  // clocks that the host may read nothing
	sureBytes = 1024   // of ROUTEs for the host that are kept for it in any case
)

// routes is a network interface without a router whose peers send ROUTEs.
type routes struct {
	*harness.Harness
	links   []*link
	number  uint16 // of the node
	gateway bool
	answers float64 // share of what comes that is for the host, more or less
	wakes   uint64  // clock at which the host reads again
	held    []linkproto.Symbol

	told, carried, lost, late, served, again int // what has come up
}

// link is what has come by a link, and what is to be told of it.
type link struct {
	number      int
	left        int    // packets to be sent
	next        []byte // of them
	bad, denied int
	told        []toldRoute // ROUTEs for the host that have not come to it
	bytes       int         // of them
	traps       [][]byte    // packets whose TRAP has not come
	trap        []byte      // the one at which the link stands
	holds       bool        // the host does not resume
	resumed     bool        // it has
	due         uint64      // clock at which it does
	retraps     int         // times that it has the trap told again before
	waits       bool        // for that
	again       int         // TRAPs that it has asked for again and that have not come
	retold      []byte
	late        bool // ROUTEs may wait for too long
	placed      []placement
	at          int // where the next one goes
}

// toldRoute is a ROUTE for the host. It is sure to come if there was room for it.
type toldRoute struct {
	raw  []byte
	sure bool
}

// placement is a write, of a link whose ROUTEs may be late, of bytes that nothing else writes.
type placement struct {
	addr int
	data []byte
	sure bool // it came behind RESUME
}

func run(h *harness.Harness) {
	s := &routes{Harness: h, links: []*link{{number: 1}, {number: 2}}}
	h.Node.Host.Received, h.Node.Host.Routed = s.received, s.routed
	h.Node.Host.Swallow = func(line []linkproto.Symbol) []linkproto.Symbol {
		s.held = append(s.held, line...)
		if s.Cycles < s.wakes {
			return nil
		}
		line, s.held = s.held, nil
		return line
	}
	const rounds = 8
	for i, kind := range s.Rand.Perm(rounds) {
		s.number, s.gateway = uint16(s.Rand.Between(1, linkproto.MulticastBase-1)), i%2 == 0
		if kind == 0 {
			s.number = 0
		}
		try.OK(s.WriteRegister(0, linkproto.RegNodeID, uint32(s.number)))
		control := linkproto.ControlNotify.In(uint32(s.Rand.IntN(2)))
		if s.gateway {
			control |= linkproto.ControlGateway.In(1)
		}
		try.OK(s.WriteRegister(0, linkproto.RegControl, control))
		s.round(kind)
	}
	if min(s.told, s.carried, s.lost, s.late, s.served, s.again) < 3 {
		try.Failf("the run tests too little: %d ROUTEs told, %d writes carried out, %d ROUTEs without room, %d late, %d traps, %d told again",
			s.told, s.carried, s.lost, s.late, s.served, s.again)
	}
}

// round is traffic, with a nap of the host or with a link at which it does not resume for long, and a look at all that it has changed.
func (s *routes) round(kind int) {
	var tallies []*harness.Tally
	for _, l := range s.links {
		l.bad, l.denied = 0, 0
		tallies = append(tallies, s.QuietTally(l.number))
	}
	switch kind {
	case 1, 2: // the second time nothing else comes
		s.wakes, s.answers = s.Cycles+longNap, testbench.Pick(s.Rand, 0.8, 1)
		s.exchange(90, 200_000)
		s.forget()
		s.exchange(20, 200_000)
		s.answers = 0
	case 3, 4:
		s.stand(s.links[kind-3])
	default:
		s.exchange(60, 400_000)
	}
	s.forget()
	for i, l := range s.links {
		s.settle(l)
		tallies[i].Want[linkproto.CntBadPacket] += uint32(l.bad)
		tallies[i].Want[linkproto.CntDenied] += uint32(l.denied)
		try.OK(tallies[i].Check(linkproto.CntBadPacket, linkproto.CntDenied, linkproto.CntLostPackets, linkproto.CntRestarts))
	}
	try.OK(s.Traffic.Check())
}

// stand has the host not resume a link for so long that ROUTEs which are to be carried out are dropped, until it does. Those for the host come meanwhile.
func (s *routes) stand(l *link) {
	l.late, l.at, l.holds, l.resumed = true, 0, true, false
	l.next = stimulus.Encode(linkproto.Packet{Type: linkproto.TypeConnect, Port: s.Rand.Uint32()})
	l.traps = append(l.traps, l.next)
	for _, packets := range []int{110, 40} { // those behind wait, and are dropped
		s.exchange(packets, patience+50_000)
		try.OK(s.Run(patience))
	}
	s.forget()
	if l.trap == nil {
		try.Failf("link %d: no TRAP came", l.number)
	}
	l.holds, l.due = false, s.Cycles+uint64(s.Rand.IntN(1000))
	s.exchange(60, 100_000)
}

// forget counts ROUTEs for the host that have not come, and will not.
func (s *routes) forget() {
	for _, l := range s.links {
		for _, t := range l.told {
			s.missed(l, t)
		}
		l.told, l.bytes = nil, 0
	}
}

// place draws a write that nothing else writes over.
func (s *routes) place(l *link) (raw []byte, carried func()) {
	page := s.Params.PageBytes
	p := placement{addr: (l.number-1+s.Params.Links*(l.at/page))*page + l.at%page, sure: l.resumed}
	p.data = s.Rand.Bytes(min(s.Rand.Between(1, 24), page-l.at%page))
	l.at += len(p.data)
	p.data[0] = s.Node.Image[p.addr] ^ byte(s.Rand.Between(1, 255))
	return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(p.addr), Data: p.data}), func() { l.placed = append(l.placed, p) }
}

// settle looks which writes of a link have been carried out: all but some in a row, whole. These count as denied.
func (s *routes) settle(l *link) {
	have := try.Get(s.ReadBuffer(0))
	late, over := 0, false
	for _, p := range l.placed {
		now, old := have[p.addr:][:len(p.data)], s.Node.Image[p.addr:][:len(p.data)]
		switch {
		case bytes.Equal(now, p.data):
			copy(old, now)
			s.carried++
			over = late > 0
		case !bytes.Equal(now, old):
			try.Failf("link %d: of % x at %#x a part was written", l.number, p.data, p.addr)
		case p.sure || over:
			try.Failf("link %d: % x at %#x was not written, though the host had resumed before", l.number, p.data, p.addr)
		default:
			late++
		}
	}
	l.denied += late
	s.late += late
	l.placed, l.late = nil, false
}
