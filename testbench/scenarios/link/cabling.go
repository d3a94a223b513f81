package link

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Cabling are the scenarios of cables that are moved, and of peers that say nothing or too little.
var Cabling = []suite.Scenario{
	{Name: "recabled", Doc: "a cable is moved to another node's end, which was up with a third and knows as much, more or less: reported, nothing passes that was for another", Seeds: 2,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, recabled)},
	{Name: "silent-peer", Doc: "a peer falls silent, with and without STOP said, with and without packets for it: the link leaves UP within 4.5 WORD_TIMER, and comes back", Seeds: 2,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, silentPeer)},
	{Name: "withheld", Doc: "a peer's acknowledgements are held back, with progress now and then, with STOP, with LOST over and over, and for ever: the link waits as long as laid down, nothing is doubled", Seeds: 1,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, withheld)},
	{Name: "small-peer", Doc: "a peer with smaller packets is refused and told so; the link stays down, at the rate of INITs, until another peer comes", Seeds: 1,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, smallPeer)},
}

// recabled moves the cable while both ends have packets underway, to an end whose sequence numbers and epoch are as those of the one before, or not.
func recabled(s *harness.Harness) {
	var count harness.Numbered
	p := s.Peer(1)
	for round := range 12 {
		s.RestartPeer(1)
		s.WaitUp(1)
		s.FromPeer(1, s.Rand.IntN(5))
		count.ToPeer(s, 1, s.Rand.IntN(5))
		before := s.QuietTally(1)
		old, status := p.Link.Config(), p.Link.Status()
		sent, received := int(p.Link.Counter(linkproto.CntTxPackets)), int(p.Link.Counter(linkproto.CntRxPackets))
		old.Nonce, old.Epoch = ni.Nonce(s.Rand), status.Epoch
		switch round % 3 {
		case 1:
			sent, received, old.Epoch = sent+s.Rand.Between(1, 9), received+s.Rand.Between(1, 9), linkproto.NextEpoch(old.Epoch)
		case 2:
			sent, received, old.Epoch = s.Rand.IntN(sent+1), s.Rand.IntN(received+1), max(old.Epoch, 2)-1
		}
		// Packets of the host that the end before does not hear, and packets of the other end for the third: they would be good WRITEs.
		p.Swallow = func([]linkproto.Symbol) []linkproto.Symbol { return nil }
		underway := s.Rand.IntN(4)
		for range underway {
			count.Offer(s, 1, 1)
		}
		try.OK(s.Run(s.Rand.IntN(400)))
		p.Swallow = nil
		p.Replace(try.Get(ni.Elsewhere(old, sent, received, s.Rand)))
		for range s.Rand.IntN(4) {
			frame := s.Rand.IntN(s.Params.Frames - 1)
			try.OK(p.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * s.Params.PageBytes), Data: s.Rand.Bytes(20)})))
		}
		life := p.Link.Status().Peer.Life
		try.OK(s.Until(5*s.Params.WordTimer, "the other end to know whom it hears", func() bool { now := p.Link.Status(); return now.Up && now.Peer.Life != life }))
		s.WaitUp(1)
		before.Want[linkproto.CntRestarts], before.Want[linkproto.CntLostPackets] = 1, uint32(underway)
		try.Wrap(before.Check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntRxPackets, linkproto.CntDenied, linkproto.CntBadPacket),
			"round %d", round)
		if raw, ok := p.Link.Receive(); ok {
			try.Failf("round %d: the other end received % x", round, raw)
		}
		if have, want := try.Get(s.ReadRegister(0, linkproto.PeerReg(1))), linkproto.PeerKnown.In(1)|linkproto.PeerNode.In(uint32(old.Node)); have != want {
			try.Failf("round %d: PEER is %#x, want %#x", round, have, want)
		}
		try.Wrap(s.Traffic.Check(), "round %d", round)
	}
}

// silentPeer has a peer say nothing more, at any time since its last word.
func silentPeer(s *harness.Harness) {
	var count harness.Numbered
	p, timer := s.Peer(1), s.Params.WordTimer
	for round := range 8 {
		stop, packets := round%2 == 1, round/2%2*3
		before := s.QuietTally(1)
		try.OK(s.Run(s.Rand.IntN(timer)))
		var last []linkproto.Symbol
		if stop {
			state := s.State(1)
			last = linkproto.AppendWord(nil, state.Key, linkproto.Word{Kind: linkproto.KindAck, Stop: true, Value: uint8(p.Link.Counter(linkproto.CntRxPackets))})
		}
		p.Mangle = func([]linkproto.Symbol) []linkproto.Symbol {
			line := last
			last = nil
			return line
		}
		from := s.Cycles
		try.OK(s.Run(1))
		for range packets {
			count.Offer(s, 1, 1)
		}
		if v := try.Get(s.ReadRegister(0, linkproto.LinkStatusReg(1))); linkproto.StatusUp.Of(v) != 1 || linkproto.StatusPeerStop.Of(v) == 1 != stop {
			try.Failf("round %d: LINK_STATUS is %#x when the peer has just fallen silent, STOP said %v", round, v, stop)
		}
		try.OK(s.Until(6*timer, "the link to leave UP", func() bool {
			v, err := s.ReadRegister(0, linkproto.LinkStatusReg(1))
			return err != nil || linkproto.StatusUp.Of(v) == 0
		}))
		if took := s.Cycles - from; took > uint64(9*timer/2) || took < uint64(3*timer) {
			try.Failf("round %d, STOP said %v: a peer that says nothing is gone after %d clocks, want %d to %d", round, stop, took, 3*timer, 9*timer/2)
		}
		s.Suite.Log("round %d, STOP said %v: gone after %.2f WORD_TIMER", round, stop, float64(s.Cycles-from)/float64(timer))
		before.Want[linkproto.CntRestarts], before.Want[linkproto.CntLostPackets] = 1, uint32(packets)
		try.Wrap(before.Check(linkproto.CntRestarts, linkproto.CntLostPackets), "round %d", round)
		s.RestartPeer(1)
		s.WaitUp(1)
		count.Take(p)
		s.FromPeer(1, 3)
		count.ToPeer(s, 1, 3)
		try.OK(s.Traffic.Check())
	}
}

// smallPeer puts an end of smaller packets at the cable, and then another one.
func smallPeer(s *harness.Harness) {
	var count harness.Numbered
	p := s.Peer(1)
	right := p.Link.Config()
	for page := linkproto.MinPageBytes; page < s.Params.PageBytes; page *= 2 {
		c := right
		c.MaxPacket, c.Nonce = linkproto.MaxPacket(page), ni.Nonce(s.Rand)
		c.PeerPacket, c.ReplayBytes, c.ReceiveBytes, c.High, c.Low = 0, 0, 0, 0, 0
		try.OK(p.Restart(c))
		want := linkproto.PeerKnown.In(1) | linkproto.PeerRefused.In(1) | linkproto.PeerNode.In(uint32(c.Node))
		try.OK(s.Until(5*s.Params.WordTimer, fmt.Sprintf("the peer with pages of %d bytes to be refused", page), func() bool {
			v, err := s.ReadRegister(0, linkproto.PeerReg(1))
			return err != nil || v == want
		}))
		before := s.QuietTally(1)
		words := ni.WordReader{}
		p.Swallow = words.PassAll
		const timers = 8
		try.OK(s.Run(timers * s.Params.WordTimer))
		if most := uint64(timers*s.Params.WordTimer/s.Params.AckDelay) * 4; words.Words > most {
			try.Failf("an end that is refused hears %d words in %d WORD_TIMER, want %d at most", words.Words, timers, most)
		}
		p.Swallow = nil
		if v := try.Get(s.ReadRegister(0, linkproto.LinkStatusReg(1))); linkproto.StatusUp.Of(v) != 0 || p.Link.Status().Up {
			try.Failf("with a peer of pages of %d bytes LINK_STATUS is %#x, and the peer has %+v", page, v, p.Link.Status())
		}
		try.OK(before.Check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntRxPackets, linkproto.CntBadWord))
		right.Nonce = ni.Nonce(s.Rand)
		try.OK(p.Restart(right))
		s.WaitUp(1)
		s.FromPeer(1, 3)
		count.ToPeer(s, 1, 3)
		try.OK(s.Traffic.Check())
	}
}
