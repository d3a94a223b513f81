// Package host holds the scenarios of the host's port: malformed requests, and words and frames in use by the host and a peer at once.
package host

import (
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Hostile is the scenario of a host that breaks the rules.
var Hostile = []suite.Scenario{
	{Name: "hostile-host", Doc: "a host sends malformed requests over a bad cable: each is refused once, with the right status and tag, in order", Seeds: 2,
		Run: harness.WithPeers(rtl.Params{}, nil, Malformed)},
}

// Malformed has the host make requests that must be refused.
func Malformed(s *harness.Harness) {
	host := s.Node.Host
	var expect []linkproto.Packet
	answers := 0
	host.Received = func(p linkproto.Packet) {
		switch {
		case len(expect) == 0:
			try.Failf("answer %v, tag %d, status %v to nothing", p.Type, p.Tag, p.Status)
		case p.Type != expect[0].Type || p.Tag != expect[0].Tag || p.Status != expect[0].Status:
			try.Failf("answer %d is %v, tag %d, status %v, want %v, %d, %v", answers, p.Type, p.Tag, p.Status, expect[0].Type, expect[0].Tag, expect[0].Status)
		default:
			expect = expect[1:]
			answers++
		}
	}
	before := s.QuietTally(0)
	x := s.Insert(host.Port)
	const packets = 800
	var next *harness.Refusal
	sent := 0
	try.OK(s.Until(2_000_000, "all refusals", func() bool {
		for sent < packets {
			if next == nil {
				r := s.Refusable()
				next = &r
			}
			if err := host.SendRaw(next.Raw); errors.Is(err, ni.ErrBusy) {
				break
			} else if err != nil {
				try.Failf("send a request to be refused with %v: %w: % x", next.Want.Status, err, next.Raw)
			}
			if s := next.Want.Status; s == linkproto.StatusBadType || s == linkproto.StatusBadLength || s == linkproto.StatusBadLink {
				before.Want[linkproto.CntBadPacket]++
			}
			expect = append(expect, next.Want)
			sent, next = sent+1, nil
		}
		if len(x.Insert) == 0 && s.Rand.IntN(40) == 0 {
			x.Insert = harness.Garbage(s.Rand, 1+s.Rand.IntN(60))
		}
		return sent == packets && len(expect) == 0
	}))
	s.Suite.Stats.Packets += uint64(answers)
	host.Received, host.Mangle = nil, nil
	try.OK(s.Run(s.Params.Retry + s.Params.WordTimer)) // no answer comes again
	try.OK(before.Check(linkproto.CntBadPacket, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntNoSpace))
	for range 4 { // and what is right is still carried out
		want := s.Rand.Uint32()
		try.OK(s.WriteRegister(0, linkproto.RegScratch, want))
		if have := try.Get(s.ReadRegister(0, linkproto.RegScratch)); have != want {
			try.Failf("SCRATCH holds %#x after %#x was written", have, want)
		}
	}
}
