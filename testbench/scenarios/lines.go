package scenarios

import (
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

// Network interfaces behind the PHYs that a board has, small ones with short timers, since a symbol takes 40 or 50 clocks there.
var (
	onSerial = lined(rtl.Params{LinkPHY: rtl.Serial})
	onUART   = lined(rtl.Params{HostPHY: rtl.UART, LinkPHY: rtl.UART, Inject: true})
)

func lined(p rtl.Params) rtl.Params {
	p.PageBytes, p.ReplayBytes, p.RxBytes = 256, 1024, 1024
	p.AckDelay, p.WordTimer, p.Retry = 128, 1024, 2048
	return p
}

var lineScenarios = []suite.Scenario{
	{Name: "pair-serial", Doc: "two NIs over serial lines with noise, wrong levels, slipped bits and cuts: nothing lost", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(onSerial, 1+rng.IntN(100)), packets: 80, illegal: 0.05, errorRate: rate(rng, 1e-6, 1e-5), faults: 30}
		})},
	{Name: "pair-uart", Doc: "the same over UARTs, the hosts' too: framing errors, breaks", Seeds: 2,
		Run: traffic(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(onUART, 1+rng.IntN(100)), packets: 80, illegal: 0.05, errorRate: rate(rng, 1e-6, 1e-5), faults: 30}
		})},
	{Name: "paging-serial", Doc: "remote paging between two NIs over serial lines with noise: every byte of every page right", Seeds: 1,
		Run: paging(func(rng *testbench.Rand) plan {
			return plan{config: ni.Pair(onSerial, 1+rng.IntN(100)), packets: 80, errorRate: rate(rng, 1e-6, 1e-5), faults: 10}
		})},
	{Name: "hostile-peer-uart", Doc: "a peer behind a UART sends damaged frames, words and packets: each counted as laid down", Seeds: 1,
		Run: withPeers(onUART, []int{1}, hostilePeer)},
	{Name: "hostile-host-uart", Doc: "a host behind a UART sends malformed requests over a bad line: each is refused once, in order", Seeds: 1,
		Run: withPeers(onUART, nil, hostileHost)},
	{Name: "hostile-line", Doc: "framing errors, breaks, noise and a lone escape on the UARTs of the host and a peer: counted, nothing written, all goes on", Seeds: 1,
		Run: withPeers(onUART, []int{1}, hostileLine)},
	{Name: "line-codes", Doc: "every code group at both disparities, slips, noise and clocks that are off, bit by bit on a serial line: counted and answered as laid down", Seeds: 1,
		Run: withPeers(onSerial, []int{1}, lineCodes)},
	{Name: "line-bytes", Doc: "noise, broken bytes, breaks, short stop bits, bit times that are off and resets within a byte on UARTs, symbols of every kind out of them: as laid down", Seeds: 1,
		Run: func(ctx context.Context, r *suite.Run) error {
			p, rng := onUART, testbench.NewRand(r.Seed).Split("divisors")
			p.HostDivisor, p.LinkDivisor = rng.Between(4, 8), rng.Between(4, 8)
			return withPeers(p, []int{1}, lineBytes)(ctx, r)
		}},
}

// lineFaults is n faults spread over the next span symbol times of a line of one wire. Two cuts in a row, and the time until a
// serial PHY has a comma again, are no silence.
func lineFaults(rng *testbench.Rand, p rtl.Params, from uint64, n, span int) []verilator.Fault {
	_, symbol := p.SymbolClocks()
	bit := symbol / 10
	var faults []verilator.Fault
	for range n {
		at := from + uint64(rng.IntN(span*symbol))
		level := uint64(rng.IntN(2))
		switch rng.IntN(4) {
		case 0: // an edge moved, or a bit wrong
			faults = append(faults, verilator.Fault{Kind: verilator.Flip, At: at, Cycles: 1 + uint64(rng.IntN(2*bit)), Value: 1})
		case 1: // stuck: a break, when it is low
			faults = append(faults, verilator.Fault{Kind: verilator.Stuck, At: at, Cycles: 1 + uint64(rng.IntN(5*symbol)), Value: level})
		case 2: // levels that last any number of clocks: the receiver follows them, and has slipped when they end
			for range 20 + rng.IntN(100) {
				clocks := uint64(1 + rng.IntN(3*bit))
				faults = append(faults, verilator.Fault{Kind: verilator.Stuck, At: at, Cycles: clocks, Value: level})
				at, level = at+clocks, 1-level
			}
		default:
			faults = append(faults, verilator.Fault{Kind: verilator.Cut, At: at, Cycles: uint64(rng.IntN(700 * symbol)), Value: level})
		}
	}
	return faults
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
func hostileLine(s *harness) {
	host, peer := s.node.Host, s.peer(1)
	var count numbered
	for round := range 10 {
		// Silent: whatever comes is no packet, and starts nothing again.
		before := [2]*tally{}
		for link := range before {
			before[link] = s.quietTally(link)
		}
		disturb(s.rng, peer.UART, s.Params.LinkDivisor)
		try.OK(s.Run(500))
		try.Wrap(before[1].check(linkproto.CntRxPackets, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied), "round %d, silent", round)
		disturb(s.rng, host.UART, s.Params.HostDivisor)
		try.OK(s.Run(500))
		try.Wrap(before[0].check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntNoSpace), "round %d, silent", round)
		// Speaking: what is hit comes again.
		for range 3 {
			try.OK(peer.Link.Send(s.write(1)))
			count.offer(s, 1, 1)
			try.OK(s.Run(s.rng.IntN(300)))
			disturb(s.rng, peer.UART, s.Params.LinkDivisor)
			disturb(s.rng, host.UART, s.Params.HostDivisor)
		}
		try.Wrap(try.Run(func() {
			s.fromPeer(1, 2)
			count.drain(s, 1)
			count.toPeer(s, 1, 2)
			try.OK(before[1].check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied))
		}), "round %d", round)
	}
	if count.have != int(count.next) {
		try.Failf("%d of %d packets reached the peer", count.have, count.next)
	}
	for link := range 2 {
		c := try.Get(s.Counters(0, link))
		if c[linkproto.CntRxCRC]+c[linkproto.CntBadWord] == 0 || c[linkproto.CntRxStray] == 0 {
			try.Failf("the disturbances of link %d did too little: %v", link, c)
		}
	}
}
