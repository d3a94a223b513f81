package link_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

// pair is two link endpoints in Verilog with a cable between them, packets going from a to b and, if wanted, back.
type pair struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		RstA, RstB                     *bool   `port:"*"`
		FlipA, FlipB, AEvents, BEvents *uint16 `port:"*"`
		AStatus, BStatus               *uint16 `port:"*"`
		StopAt, SilentAt               *uint32 `port:"*"`
	}
	as, bs   *verilator.Source
	am, bm   *verilator.Sink
	a, bSeen eventsSeen
}

func newPair(t *testing.T, cable int) *pair {
	t.Helper()
	p := &pair{t: t}
	d := probe.Design("link_pair", map[string]int{"CABLE": cable})
	d.Sources, d.IncludeDirs = d.Sources[:1], []string{".", "common", "phy", "link"} // what it is made of, and nothing else
	p.b = testbench.New(t, d, testbench.Config{})
	p.b.Bind(&p.pins)
	*p.pins.FlipA, *p.pins.FlipB = 0, 0
	p.as, _ = p.b.Source(verilator.Stream("as"))
	p.bs, _ = p.b.Source(verilator.Stream("bs"))
	p.am, _ = p.b.Sink(verilator.Stream("am"))
	p.bm, _ = p.b.Sink(verilator.Stream("bm"))
	*p.pins.RstA, *p.pins.RstB = true, true
	p.b.Step(uint64(cable) + 4) // the cable holds anything at first
	*p.pins.RstA, *p.pins.RstB = false, false
	p.am.Discard()
	p.bm.Discard()
	p.b.Observe(p.b.Main(), func() {
		p.a.add(*p.pins.AEvents)
		p.bSeen.add(*p.pins.BEvents)
	})
	return p
}

const ownStop = 1 << 2 // in a link status

// stops makes b's reader stop at random moments, so often, and returns the least and the greatest STOP latency. Packets
// have one of some sizes.
func (p *pair) stops(times int, back bool, sizes ...int) (least, most int) {
	p.t.Helper()
	rng := p.b.Rand(fmt.Sprint("stops", sizes))
	sent, got, least := 0, 0, 1<<30
	size := func(serial int) int { return sizes[serial*2654435761>>13&(len(sizes)-1)] }
	feed := func(cycles int) {
		for ; cycles > 0; cycles -= 20 {
			for p.as.Room() > 4096 {
				p.as.Send(packet(sent, size(sent)))
				sent++
			}
			for back && p.bs.Room() > 4096 {
				p.bs.Send(packet(0, rng.Between(3, 60)))
			}
			p.b.Step(20)
			for frame, ok := p.bm.Frame(nil); ok; frame, ok = p.bm.Frame(nil) {
				if !bytes.Equal(frame, packet(got, size(got))) {
					p.t.Fatalf("packet %d: % x", got, frame)
				}
				got++
			}
			p.am.Discard()
		}
	}
	for range times {
		p.bm.SetThrottle(1)
		for n := 0; *p.pins.BStatus&ownStop == 0; n++ {
			if n > 1000 {
				p.t.Fatalf("no STOP: status %04x, %04x", *p.pins.AStatus, *p.pins.BStatus)
			}
			feed(20)
		}
		feed(400)
		latency := int(*p.pins.SilentAt - *p.pins.StopAt)
		least, most = min(least, latency), max(most, latency)
		p.bm.SetThrottle(0)
		feed(20 * rng.Between(50, 100))
		p.bm.SetThrottle(testbench.Pick(rng, 0, 0.3, 0.7))
		feed(rng.Between(0, 500))
	}
	return least, most
}

// STOP latency in clocks, from the clock in which b's STOP bit rises to the last frame symbol on a's wire, with direct PHYs and a
// cable of one clock; a longer cable adds its length. A word that b is sending at that moment is finished first; between packets of
// 8 bytes that is one for what has arrived, of which two symbols are left at most.
const (
	stopLatency  = 16
	shortPackets = 2
	wordUnderway = 5
	longestCable = 116 // with HEADROOM = 256: at most 2*116 + 23 = 255 bytes come after HIGH
	tooLongCable = 120
)

// STOP takes effect within a number of clocks that does not depend on the length of packets, and nothing is dropped.
func TestPairStopLatency(t *testing.T) {
	for _, c := range []struct {
		back  bool
		sizes []int
		most  int
	}{
		{false, []int{8}, stopLatency + shortPackets},
		{false, []int{500}, stopLatency},
		{false, []int{2000}, stopLatency},
		{true, []int{8}, stopLatency + wordUnderway},
		{true, []int{500}, stopLatency + wordUnderway},
		{true, []int{2000}, stopLatency + wordUnderway},
		{true, []int{8, 300, 2000, 2000}, stopLatency + wordUnderway},
	} {
		t.Run(fmt.Sprint(c.sizes, " back ", c.back), func(t *testing.T) {
			p := newPair(t, 1)
			least, most := p.stops(80, c.back, c.sizes...)
			t.Logf("STOP latency %d to %d clocks", least, most)
			if most > c.most || !c.back && most != c.most {
				t.Errorf("STOP latency is up to %d clocks, want %d", most, c.most)
			}
			p.noDrops()
		})
	}
}

// On the longest cable that HEADROOM allows nothing is dropped, whatever the readers do. On one that is too long frames are
// dropped, and made good.
func TestPairCable(t *testing.T) {
	for _, cable := range []int{longestCable, tooLongCable} {
		t.Run(fmt.Sprint(cable, " clocks"), func(t *testing.T) {
			p := newPair(t, cable)
			p.stops(200, true, 8, 300, 2000, 2000)
			if cable <= longestCable {
				p.noDrops()
			} else if p.bSeen[linkproto.CntRxOverrun] == 0 {
				t.Error("no overrun: HEADROOM is enough for a longer cable than is said")
			}
		})
	}
}

// noDrops fails the test if either end has seen anything but good frames.
func (p *pair) noDrops() {
	p.t.Helper()
	for _, c := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntRxStray,
		linkproto.CntBadWord, linkproto.CntReplays, linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket} {
		if p.a[c]+p.bSeen[c] > 0 {
			p.t.Errorf("%v: a %d, b %d, want none", c, p.a[c], p.bSeen[c])
		}
	}
}

// Two ends in Verilog with wrong bits on both wires and restarts of either: what arrives is in order and nothing comes twice, and
// afterwards the link is as good as ever.
func TestPairFaults(t *testing.T) {
	p := newPair(t, 5)
	rng := p.b.Rand("faults")
	sent, last := [2]int{}, [2]int{-1, -1}
	sources, sinks := [2]*verilator.Source{p.as, p.bs}, [2]*verilator.Sink{p.bm, p.am}
	exchange := func(offer int) {
		for i, src := range sources {
			for range offer {
				if n := testbench.Pick(rng, 5, rng.Between(5, 2056)); src.Room() > n {
					src.Send(packet(sent[i], n))
					sent[i]++
				}
			}
			for frame, ok := sinks[i].Frame(nil); ok; frame, ok = sinks[i].Frame(nil) {
				serial := int(frame[3]) | int(frame[4])<<8
				if serial <= last[i] || serial >= sent[i] || !bytes.Equal(frame, packet(serial, len(frame))) {
					t.Fatalf("wire %d: packet %d after %d of %d: % x", i, serial, last[i], sent[i], frame[:min(20, len(frame))])
				}
				last[i] = serial
			}
		}
	}
	for round := range 1200 {
		p.b.Step(uint64(rng.Between(1, 300)))
		exchange(1)
		for _, flip := range []*uint16{p.pins.FlipA, p.pins.FlipB} {
			if rng.Chance(0.3) {
				*flip = testbench.Pick(rng, 1<<rng.IntN(9), uint16(rng.IntN(512)))
			}
		}
		p.b.Step(uint64(testbench.Pick(rng, 1, 1, 1, 8)))
		*p.pins.FlipA, *p.pins.FlipB = 0, 0
		if round%100 == 99 { // the reader of an end that restarts loses what it was reading
			exchange(0)
			rst := testbench.Pick(rng, p.pins.RstA, p.pins.RstB)
			for n := 0; sources[0].Pending()+sources[1].Pending() > 0 || p.am.Len()+p.bm.Len() > 0; n++ {
				p.b.Step(100)
				exchange(0)
				if n > 3000 {
					t.Fatalf("packets do not go: status %04x, %04x, %d and %d bytes wait, %d, %d", *p.pins.AStatus, *p.pins.BStatus, p.as.Pending(), p.bs.Pending(),
						p.am.Len(), p.bm.Len())
				}
			}
			*rst = true
			p.b.Step(1)
			*rst = false
			if exchange(0); rst == p.pins.RstA {
				p.am.Discard()
			} else {
				p.bm.Discard()
			}
		}
	}
	before := last
	p.b.Step(3000)
	exchange(2)
	p.b.Step(30000)
	exchange(0)
	for i := range last {
		if last[i] != sent[i]-1 || last[i] == before[i] {
			t.Errorf("wire %d: %d packets sent, the last that came is %d", i, sent[i], last[i])
		}
	}
	if p.a[linkproto.CntReplays] == 0 || p.bSeen[linkproto.CntReplays] == 0 || p.a[linkproto.CntRestarts]+p.bSeen[linkproto.CntRestarts] < 5 {
		t.Errorf("a %v, b %v", p.a, p.bSeen)
	}
}
