package figures

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/probe"
)

var wireFigures = []Figure{
	{Name: "payload_share_1500", Doc: "payload share of the symbol rate, 1500-byte writes into 2 KB pages, both directions at once",
		Must: new(0.985), Aim: new(0.988), Published: GigaEPM.String(), Measure: payloadShare(1500)},
	{Name: "payload_share_64", Doc: "the same with 64-byte writes", Must: new(0.80), Aim: new(0.82), Measure: payloadShare(64)},
	{Name: "links7_share", Doc: "1 KB page writes over seven direct links into one NI at once, the sum of their payload against that of each alone",
		Must: new(0.98), Aim: new(1.0), Long: true, Measure: steps(links7Share)},
	{Name: "write_latency_8", Doc: "8-byte write, last symbol into the sender's host port to readable in the receive buffer",
		Unit: "cycles", Must: new(40.0), Aim: new(30.0), Better: Lower, Published: smallestRoundTrips, Measure: steps(writeLatency)},
	{Name: "resume_latency", Doc: "RESUME carried out to the first word of the first held packet in the receive buffer",
		Unit: "cycles", Must: new(8.0), Better: Lower, Measure: steps(resumeLatency)},
	{Name: "stop_latency", Doc: "STOP raised to sender silent, worst over packets of 8, 500 and 2000 bytes", Unit: "cycles",
		Must: new(64.0), Better: Lower, Measure: steps(stopLatency)},
	{Name: "clean_link_drops", Doc: "packets dropped on an error-free link under back-pressure from 0 to 98 %", Unit: "packets",
		Must: new(0.0), Better: Lower, Measure: steps(cleanLinkDrops)},
	{Name: "peer_gone", Doc: "the last symbol of a peer that falls silent to leaving UP, worst of 24, with and without packets for it", Unit: "WORD_TIMER",
		Must: new(4.5), Better: Lower, Measure: steps(peerGone)},
}

// writeLatency sends writes one at a time, at random distances, and takes the worst.
func writeLatency(ctx context.Context) Measurement {
	const writes = 200
	p := try.Get(probe.OpenNIPair(ctx))
	defer p.Model.Close()
	best, worst := math.MaxInt, 0
	for i := range writes {
		try.OK(p.A.Write(1, uint32(8*i%p.Params.PageBytes), []byte("8 bytes.")))
		try.OK(p.Run(300 + 16*(i%7)))
		took := int(*p.Pins.Written - *p.Pins.EOP)
		if took <= 0 || took > 1000 {
			try.Failf("write %d: written %d clocks after its last symbol", i, took)
		}
		best, worst = min(best, took), max(worst, took)
	}
	return Measurement{Value: float64(worst), Note: fmt.Sprintf("worst of %d writes, best %d", writes, best)}
}

// resumeLatency traps over and over with writes of all sizes and alignments held behind, and takes the worst.
func resumeLatency(ctx context.Context) Measurement {
	traps := either(ctx, 200, 100)
	p := try.Get(probe.OpenNIPair(ctx))
	defer p.Model.Close()
	rng := rand.New(rand.NewPCG(1, 8))
	best, worst := math.MaxInt, 0
	for i := range traps {
		try.OK(p.A.Forward(linkproto.Packet{Type: linkproto.TypePage, Via: 1, Port: 1}))
		for range 1 + rng.IntN(3) {
			data := make([]byte, 1+rng.IntN(64))
			try.OK(p.A.Write(1, uint32(rng.IntN(p.Params.PageBytes-len(data))), data))
		}
		try.OK(p.Run(800 + 16*(i%7)))
		status := linkproto.Status(0xFF)
		try.OK(p.B.Request(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}, func(a linkproto.Packet) { status = a.Status }))
		try.OK(p.Run(600))
		took := int(*p.Pins.Released - *p.Pins.Resumed)
		if status != linkproto.StatusOK || took <= 0 || took > 1000 {
			try.Failf("trap %d: RESUME was answered %v, the first word written %d clocks after it", i, status, took)
		}
		best, worst = min(best, took), max(worst, took)
	}
	return Measurement{Value: float64(worst), Note: fmt.Sprintf("worst of %d traps, best %d", traps, best)}
}

// packet is a well-formed WRITE of n bytes in all.
func packet(n int, rng *rand.Rand) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	p[0] = byte(linkproto.TypeWrite)
	binary.LittleEndian.PutUint16(p[1:], uint16(n-linkproto.HeaderBytes))
	return p
}

// stopLatency saturates a link whose receiver stops reading, over and over, and takes the longest time from STOP to the last
// frame symbol that the sender still let out.
func stopLatency(ctx context.Context) Measurement {
	worst, note := 0, []string{}
	for _, size := range []int{8, 500, 2000} {
		took := stopLatencyOf(ctx, size)
		worst = max(worst, took)
		note = append(note, fmt.Sprintf("%d with %d-byte packets", took, size))
	}
	return Measurement{Value: float64(worst), Note: strings.Join(note, ", ") + "; a cable of 1 clock each way, 2 registers in each PHY"}
}

func stopLatencyOf(ctx context.Context, size int) int {
	l := try.Get(probe.OpenLinkPair(ctx, 1, 1))
	defer l.Model.Close()
	rng := rand.New(rand.NewPCG(uint64(size), 5))
	worst, stops := 0, 0
	reads := true
	for seen := uint32(0); stops < 50; reads = !reads {
		try.OK(ctx.Err())
		for l.Sources[0].Send(packet(size, rng)) {
		}
		throttle := 1.0 // reads nothing
		if reads {
			throttle = 0
		}
		l.Sinks[1].SetThrottle(throttle)
		try.OK(l.Model.Run(1000 + uint64(rng.IntN(3000))))
		l.Sinks[1].Discard()
		if *l.StopAt == seen {
			continue
		}
		seen = *l.StopAt
		stops++
		worst = max(worst, int(int32(*l.SilentAt-*l.StopAt)))
	}
	return worst
}

// peerGone has a peer fall silent at any time, over and over, and takes the longest that the end which hears it stays UP.
func peerGone(ctx context.Context) Measurement {
	const times = 24
	rng := rand.New(rand.NewPCG(4, 5))
	l := try.Get(probe.OpenLinkPair(ctx, 1, 1))
	defer l.Model.Close()
	clock, spoke, worst := 0, 0, 0
	run := func(until func() bool) {
		for start := clock; !until(); clock++ {
			if clock-start > 100*linkproto.DefaultWordTimer {
				try.Failf("after %d clocks the link has not changed: up %v", clock-start, l.Up())
			}
			try.OK(l.Model.Run(1))
			if l.Spoken() != linkproto.SymIdle {
				spoke = clock
			}
		}
	}
	for i := range times {
		try.OK(ctx.Err())
		run(l.Up)
		for i%2 > 0 && l.Sources[0].Send(packet(8+rng.IntN(1000), rng)) {
		}
		end := clock + rng.IntN(2*linkproto.DefaultWordTimer)
		run(func() bool { return clock >= end })
		l.Silence(true)
		run(func() bool { return !l.Up() })
		worst = max(worst, clock-spoke)
		l.Silence(false)
		l.Sinks[1].Discard()
	}
	return Measurement{Value: float64(worst) / linkproto.DefaultWordTimer, Note: fmt.Sprintf("%d symbol times, of which a WORD_TIMER has %d; worst of %d", worst, linkproto.DefaultWordTimer, times)}
}

// cleanLinkDrops sends random packets both ways against readers of every slowness and counts whatever a clean link must not do.
func cleanLinkDrops(ctx context.Context) Measurement {
	drops, delivered := 0, 0
	throttles := []float64{0, 0.3, 0.6, 0.9, 0.98}
	for i, throttle := range throttles {
		l := try.Get(probe.OpenLinkPair(ctx, 1, uint64(i)))
		defer l.Model.Close()
		packets := either(ctx, 20, 10) + int(float64(either(ctx, 300, 100))*(1-throttle)) // a slow reader takes its time
		n := exchange(ctx, l, packets, throttle)
		delivered += n
		drops += int(*l.Disturbances) + 2*packets - n
	}
	return Measurement{Value: float64(drops), Note: fmt.Sprintf("%d packets delivered intact, readers idle up to %.0f %% of the clocks",
		delivered, 100*throttles[len(throttles)-1])}
}

// exchange sends packets each way and returns how many arrived as they were sent.
func exchange(ctx context.Context, l *probe.LinkPair, packets int, throttle float64) (delivered int) {
	rng := rand.New(rand.NewPCG(uint64(packets), uint64(throttle*100)))
	var waiting [2][][]byte
	var sent [2]int
	l.Sinks[0].SetThrottle(throttle)
	l.Sinks[1].SetThrottle(throttle)
	const step, limit = 256, 40_000
	for steps := 0; delivered < 2*packets; steps++ {
		try.OK(ctx.Err())
		if steps > limit {
			try.Failf("after %d clocks only %d of %d packets have arrived", steps*step, delivered, 2*packets)
		}
		for side := range 2 {
			for sent[side] < packets {
				p := packet(3+rng.IntN(2050), rng)
				if !l.Sources[side].Send(p) {
					break
				}
				waiting[side] = append(waiting[side], p)
				sent[side]++
			}
			for got, ok := l.Sinks[1-side].Frame(nil); ok; got, ok = l.Sinks[1-side].Frame(nil) {
				if len(waiting[side]) == 0 || !bytes.Equal(got, waiting[side][0]) {
					try.Failf("packet %d from side %d arrived changed or twice", sent[side]-len(waiting[side]), side)
				}
				waiting[side] = waiting[side][1:]
				delivered++
			}
		}
		try.OK(l.Model.Run(step))
	}
	return delivered
}
