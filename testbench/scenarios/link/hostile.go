// Package link holds the scenarios of a link whose peer breaks the rules, falls silent, withholds acknowledgements or is replaced by another, or
// whose own end is reset.
package link

import (
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Hostile are the scenarios of peers that break the rules.
var Hostile = []suite.Scenario{
	{Name: "hostile-peer", Doc: "a peer sends damaged frames, words and packets, and INIT storms: each counted as laid down, no byte written", Seeds: 2,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, HostilePeer(3, 5000))},
	{Name: "hostile-flood", Doc: "seven peers disregard STOP: overruns are counted, every byte arrives in the end, the host is answered meanwhile", Seeds: 1,
		Run: harness.WithPeers(harness.SevenLinks, []int{1, 2, 3, 4, 5, 6, 7}, flood)},
}

// violate commits violations in a row, and wants counters to have gone up as they say, since the tally began.
func violate(s *harness.Harness, x *harness.Inserter, t *harness.Tally, state *stimulus.State, all []stimulus.Violation, names ...linkproto.Counter) {
	var line []linkproto.Symbol
	for _, v := range all {
		line = append(line, v.Symbols(state)...)
		for c, n := range v.Want {
			t.Want[c] += n
		}
	}
	try.Wrap(try.Run(func() {
		s.Send(x, line)
		if len(names) > 0 { // the link starts again
			s.WaitUp(1)
		}
		try.OK(t.Check(names...))
	}), "after %v", all)
	try.OK(s.Traffic.Check())
}

// HostilePeer has the peer of link 1 commit every violation, and say so many symbols of garbage, in each of some rounds.
func HostilePeer(rounds, garbage int) func(*harness.Harness) {
	return func(s *harness.Harness) { hostilePeer(s, rounds, garbage) }
}

func hostilePeer(s *harness.Harness, rounds, garbage int) {
	var count harness.Numbered
	site := stimulus.Site{Params: s.Params, Legal: func() []byte { return s.Write(1) }}
	rules := slices.Concat(stimulus.Rules, stimulus.Delivering)
	for range rounds {
		x, state := s.Insert(s.Peer(1)), s.State(1)
		t := s.QuietTally(1)
		// Every rule once, in random order, in a few bursts.
		for order := range slices.Chunk(s.Rand.Perm(len(rules)), 5) {
			var burst []stimulus.Violation
			for _, i := range order {
				burst = append(burst, rules[i].Draw(s.Rand, site))
			}
			violate(s, x, t, state, burst)
		}
		for _, rule := range stimulus.Restarting {
			restart := []stimulus.Violation{rule.Draw(s.Rand, site)}
			violate(s, x, t, s.State(1), restart, linkproto.CntRestarts, linkproto.CntLostPackets)
		}
		s.Send(x, harness.Garbage(s.Rand, garbage))
		s.RestartPeer(1)
		s.WaitUp(1)
		try.OK(s.Traffic.Check())
		s.FromPeer(1, 20)
		try.OK(s.Traffic.Check())
		count.ToPeer(s, 1, 20)
	}
}

func flood(s *harness.Harness) {
	page := s.Params.PageBytes
	var ports []*ni.Port
	for l := 1; l <= s.Params.Links; l++ {
		s.Peer(l).Swallow = (&ni.WordReader{DropStop: true}).PassAll
		ports = append(ports, s.Peer(l))
	}
	const each = 60
	sent := make([]int, len(ports))
	slowest, asked := uint64(0), s.Cycles
	// Each begins with a PAGE. Behind it nothing leaves the receive FIFOs until RESUME.
	s.Node.Host.Received = func(p linkproto.Packet) {
		if p.Type != linkproto.TypeTrap {
			try.Failf("the flood is told as %v", p)
		}
	}
	for i, p := range ports {
		try.OK(p.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(i), Port: s.Rand.Uint32()})))
		sent[i]++
	}
	held := s.Cycles + 2*uint64(s.Params.RxBytes)
	try.OK(s.Until(2_000_000, "the floods to be acknowledged", func() bool {
		if held > 0 && s.Cycles > held {
			held = 0
			for l := range ports {
				if a := try.Get(s.Ask(0, linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(l + 1)})); a.Status != linkproto.StatusOK {
					try.Failf("RESUME of link %d: %v", l+1, a.Status)
				}
			}
		}
		quiet := true
		for i, p := range ports {
			for sent[i] < each {
				frame := i + s.Params.Links*(sent[i]%2)
				data := s.Rand.Bytes(page)
				if harness.Full(p.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * page), Data: data}))) {
					break
				}
				copy(s.Node.Image[frame*page:], data)
				sent[i]++
				s.Suite.Stats.Packets++
				s.Suite.Stats.Bytes += uint64(page)
			}
			quiet = quiet && sent[i] == each && p.Link.Queued() == 0
		}
		asked = s.Cycles
		if _, err := s.ReadRegister(0, linkproto.RegMagic); err != nil {
			return true
		}
		slowest = max(slowest, s.Cycles-asked)
		return quiet
	}))
	if slowest > 2000 {
		try.Failf("during the flood a register read took %d clocks", slowest)
	}
	try.OK(s.Run(4 * s.Params.RxBytes))
	overruns, stops := uint32(0), uint32(0)
	for l := range ports {
		c := try.Get(s.Counters(0, l+1))
		overruns, stops = overruns+c[linkproto.CntRxOverrun], stops+c[linkproto.CntStops]
		if c[linkproto.CntRxPackets] != each || c[linkproto.CntDenied]+c[linkproto.CntBadPacket] != 0 {
			try.Failf("link %d: %d packets, %d denied, %d bad, want %d, 0, 0", l+1, c[linkproto.CntRxPackets], c[linkproto.CntDenied], c[linkproto.CntBadPacket], each)
		}
	}
	if overruns == 0 || stops == 0 {
		try.Failf("the flood did nothing: %d overruns, %d stops", overruns, stops)
	}
	s.Suite.Log("%d overruns, %d stops, register reads within %d clocks", overruns, stops, slowest)
}
