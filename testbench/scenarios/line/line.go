// Package line holds the scenarios of network interfaces behind the PHYs of a board: those of other packages on serial lines and UARTs, and
// levels and bits that only such lines carry.
package line

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/scenarios/host"
	"github.com/stafflink/lmmc/testbench/scenarios/link"
	"github.com/stafflink/lmmc/testbench/scenarios/paging"
	"github.com/stafflink/lmmc/testbench/scenarios/traffic"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Network interfaces behind the PHYs that a board has, small ones with short timers, since a symbol takes 40 or 50 clocks there. A serial line that has
// slipped hears nothing until a comma, which may be 1,024 symbols later: several in a row must not be a silence, nor each try to send.
var (
	onSerial = lined(rtl.Params{LinkPHY: rtl.Serial, WordTimer: 2048, Retry: 2048})
	onUART   = lined(rtl.Params{HostPHY: rtl.UART, LinkPHY: rtl.UART, Inject: true})
)

func lined(p rtl.Params) rtl.Params {
	p.Frames, p.PageBytes, p.ReplayBytes, p.RxBytes = 3, 128, 1024, 1024
	p.AckDelay, p.WordTimer, p.Retry = 128, max(p.WordTimer, 1024), max(p.Retry, 1024)
	return p
}

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "pair-serial", Doc: "two NIs over serial lines with noise, wrong levels, slipped bits and cuts: nothing lost", Seeds: 1,
		Run: traffic.Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(onSerial, 1+rng.IntN(100)), Packets: 80, Illegal: 0.05, ErrorRate: harness.Rate(rng, 1e-6, 1e-5), Faults: 60}
		})},
	{Name: "pair-uart", Doc: "the same over UARTs, the hosts' too: framing errors, breaks", Seeds: 1,
		Run: traffic.Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(onUART, 1+rng.IntN(100)), Packets: 80, Illegal: 0.05, ErrorRate: harness.Rate(rng, 1e-6, 1e-5), Faults: 60}
		})},
	{Name: "paging-serial", Doc: "remote paging between two NIs over serial lines with noise: every byte of every page right", Seeds: 1,
		Run: paging.Run(func(rng *testbench.Rand) harness.Plan {
			return harness.Plan{Config: ni.Pair(onSerial, 1+rng.IntN(100)), Packets: 80, ErrorRate: harness.Rate(rng, 1e-6, 1e-5), Faults: 25}
		})},
	{Name: "hostile-peer-uart", Doc: "a peer behind a UART sends damaged frames, words and packets: each counted as laid down", Seeds: 1,
		Run: harness.WithPeers(onUART, []int{1}, link.HostilePeer(1, 2500))},
	{Name: "hostile-host-uart", Doc: "a host behind a UART sends malformed requests over a bad line: each is refused once, in order", Seeds: 1,
		Run: harness.WithPeers(onUART, nil, host.Malformed)},
	{Name: "hostile-line", Doc: "framing errors, breaks, noise and a lone escape on the UARTs of the host and a peer: counted, nothing written, all goes on", Seeds: 1,
		Run: harness.WithPeers(onUART, []int{1}, hostileLine)},
	{Name: "line-codes", Doc: "every code group at both disparities, slips, noise and clocks that are off, bit by bit on a serial line: counted and answered as laid down", Seeds: 1,
		Run: harness.WithPeers(onSerial, []int{1}, lineCodes)},
	{Name: "line-bytes", Doc: "noise, broken bytes, breaks, short stop bits, bit times that are off and resets within a byte on UARTs, symbols of every kind out of them: as laid down", Seeds: 1,
		Run: func(ctx context.Context, r *suite.Run) error {
			p, rng := onUART, testbench.NewRand(r.Seed).Split("divisors")
			p.HostDivisor, p.LinkDivisor = rng.Between(4, 8), rng.Between(4, 8)
			return harness.WithPeers(p, []int{1}, lineBytes)(ctx, r)
		}},
}

// disturb puts on a UART's line what no UART sends, between the bytes of its endpoint.
func disturb(rng *testbench.Rand, u *ni.UARTLine, divisor int) {
	bytes := func(n int, stop bool) {
		for range n {
			u.Drive(false, divisor)
			for range 8 {
				u.Drive(rng.Bool(), divisor)
			}
			u.Drive(stop, divisor)
		}
		u.Drive(true, 2*divisor)
	}
	switch rng.IntN(5) {
	case 0:
		bytes(1+rng.IntN(20), false)
	case 1: // a break
		u.Drive(false, (10+rng.IntN(50))*divisor)
		u.Drive(true, 2*divisor)
	case 2:
		for range 50 + rng.IntN(100) {
			u.Drive(rng.Bool(), 1+rng.IntN(3*divisor))
		}
		u.Drive(true, 10*divisor) // a start bit among these may claim a byte
	case 3: // nonsense that is whole
		bytes(1+rng.IntN(50), true)
	default: // the end of input
		_, _ = u.Write([]byte{linkproto.ESC})
	}
}

// hostileLine disturbs the lines of a host and a peer while they are silent and while they speak.
func hostileLine(s *harness.Harness) {
	host, peer := s.Node.Host, s.Peer(1)
	var count harness.Numbered
	for round := 0; round < 5 || round < 25 && tooLittle(s) != nil; round++ {
		// Silent: whatever comes is no packet, and starts nothing again.
		before := [2]*harness.Tally{s.QuietTally(0), s.Tally(1)}
		disturb(s.Rand, peer.UART, s.Params.LinkDivisor)
		try.OK(s.Run(100)) // no disturbance takes 60
		try.Wrap(before[1].Check(linkproto.CntRxPackets, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied), "round %d, silent", round)
		disturb(s.Rand, host.UART, s.Params.HostDivisor)
		try.OK(s.Run(100)) // no disturbance takes 60
		try.Wrap(before[0].Check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntNoSpace), "round %d, silent", round)
		// Speaking: what is hit comes again.
		for range 3 {
			try.OK(peer.Link.Send(s.Write(1)))
			count.Offer(s, 1, 1)
			try.OK(s.Run(s.Rand.IntN(300)))
			disturb(s.Rand, peer.UART, s.Params.LinkDivisor)
			disturb(s.Rand, host.UART, s.Params.HostDivisor)
		}
		try.Wrap(try.Run(func() {
			s.FromPeer(1, 2)
			count.Drain(s, 1)
			count.ToPeer(s, 1, 2)
			try.OK(before[1].Check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied))
		}), "round %d", round)
	}
	if count.Have != int(count.Next) {
		try.Failf("%d of %d packets reached the peer", count.Have, count.Next)
	}
	try.OK(tooLittle(s))
}

// tooLittle is an error unless disturbances have damaged what was said by both lines, and come as symbols outside frames.
func tooLittle(s *harness.Harness) error {
	for link := range 2 {
		c := try.Get(s.Counters(0, link))
		if c[linkproto.CntRxCRC]+c[linkproto.CntBadWord] == 0 || c[linkproto.CntRxStray] == 0 {
			return fmt.Errorf("the disturbances of link %d did too little: %v", link, c)
		}
	}
	return nil
}
