package suite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

var wireFigures = []Figure{
	{Name: "payload_share_1500", Doc: "payload share of the symbol rate, 1500-byte writes into 2 KB pages, both directions at once",
		Must: new(0.975), Aim: new(0.985), Published: GigaEPM.String(), Measure: payloadShare(1500)},
	{Name: "payload_share_64", Doc: "the same with 64-byte writes", Must: new(0.70), Aim: new(0.80), Measure: payloadShare(64)},
	{Name: "write_latency_8", Doc: "8-byte write, last symbol into the sender's host port to readable in the receive buffer",
		Unit: "cycles", Must: new(64.0), Aim: new(40.0), Better: Lower, Published: smallestRoundTrips, Measure: writeLatency},
	{Name: "resume_latency", Doc: "RESUME carried out to the first word of the first held packet in the receive buffer",
		Unit: "cycles", Must: new(8.0), Better: Lower, Measure: resumeLatency},
	{Name: "stop_latency", Doc: "STOP raised to sender silent, worst over packets of 8, 500 and 2000 bytes", Unit: "cycles",
		Must: new(64.0), Better: Lower, Measure: stopLatency},
	{Name: "clean_link_drops", Doc: "packets dropped on an error-free link under back-pressure from 0 to 98 %", Unit: "packets",
		Must: new(0.0), Better: Lower, Measure: cleanLinkDrops},
}

// niPair is two network interfaces joined by their links on one model, with a host each.
type niPair struct {
	m      *verilator.Model
	a, b   *ni.Host
	params rtl.Params
	pins   struct {
		Rst      *bool   `port:"rst"`
		EOP      *uint32 `port:"eop_at"`
		Written  *uint32 `port:"written_at"`
		Resumed  *uint32 `port:"resumed_at"`
		Released *uint32 `port:"released_at"`
	}
}

// openNIPair gives b's first frame to a.
func openNIPair(ctx context.Context) (*niPair, error) {
	lib, err := verilator.Build(ctx, probe.Design("ni_pair", nil))
	if err != nil {
		return nil, err
	}
	p := &niPair{params: rtl.Params{}.WithDefaults()}
	if p.m, err = lib.New(verilator.Config{Seed: 1}); err != nil {
		return nil, err
	}
	if err := p.attach(); err != nil {
		p.m.Close()
		return nil, err
	}
	return p, nil
}

func (p *niPair) attach() (err error) {
	if err := p.m.Bind(&p.pins); err != nil {
		return err
	}
	if _, err := p.m.Clock("clk", 2, 0); err != nil {
		return err
	}
	if p.a, err = ni.NewHost(p.m, "a_rx", "a_tx", p.params, 1); err != nil {
		return err
	}
	if p.b, err = ni.NewHost(p.m, "b_rx", "b_tx", p.params, 2); err != nil {
		return err
	}
	*p.pins.Rst = true
	if err := p.m.Run(64); err != nil {
		return err
	}
	*p.pins.Rst = false
	grant := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(0), Value: 1<<31 | 1}
	if err := p.b.Request(grant, func(linkproto.Packet) {}); err != nil {
		return err
	}
	return p.run(2000)
}

func (p *niPair) run(n int) error {
	for done := 0; done < n; done += 16 {
		if err := p.turn(16); err != nil {
			return err
		}
	}
	return nil
}

// turn runs n clocks between two looks of the hosts at their ports.
func (p *niPair) turn(n int) error { return ni.Turn(p.m, n, p.a, p.b) }

// writeLatency sends writes one at a time, at random distances, and takes the worst.
func writeLatency(ctx context.Context) (Measurement, error) {
	const writes = 200
	p, err := openNIPair(ctx)
	if err != nil {
		return Measurement{}, err
	}
	defer p.m.Close()
	best, worst := math.MaxInt, 0
	for i := range writes {
		if err := p.a.Write(1, uint32(8*i%p.params.PageBytes), []byte("8 bytes.")); err != nil {
			return Measurement{}, err
		}
		if err := p.run(300 + 16*(i%7)); err != nil {
			return Measurement{}, err
		}
		took := int(*p.pins.Written - *p.pins.EOP)
		if took <= 0 || took > 1000 {
			return Measurement{}, fmt.Errorf("write %d: written %d clocks after its last symbol", i, took)
		}
		best, worst = min(best, took), max(worst, took)
	}
	return Measurement{Value: float64(worst), Note: fmt.Sprintf("worst of %d writes, best %d", writes, best)}, nil
}

// resumeLatency traps over and over with writes of all sizes and alignments held behind, and takes the worst.
func resumeLatency(ctx context.Context) (Measurement, error) {
	const traps = 200
	p, err := openNIPair(ctx)
	if err != nil {
		return Measurement{}, err
	}
	defer p.m.Close()
	rng := rand.New(rand.NewPCG(1, 8))
	best, worst := math.MaxInt, 0
	for i := range traps {
		if err := p.a.Forward(linkproto.Packet{Type: linkproto.TypePage, Via: 1, Port: 1}); err != nil {
			return Measurement{}, err
		}
		for range 1 + rng.IntN(3) {
			data := make([]byte, 1+rng.IntN(64))
			if err := p.a.Write(1, uint32(rng.IntN(p.params.PageBytes-len(data))), data); err != nil {
				return Measurement{}, err
			}
		}
		if err := p.run(800 + 16*(i%7)); err != nil {
			return Measurement{}, err
		}
		status := linkproto.Status(0xFF)
		err := p.b.Request(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}, func(a linkproto.Packet) { status = a.Status })
		if err != nil {
			return Measurement{}, err
		}
		if err := p.run(600); err != nil {
			return Measurement{}, err
		}
		took := int(*p.pins.Released - *p.pins.Resumed)
		if status != linkproto.StatusOK || took <= 0 || took > 1000 {
			return Measurement{}, fmt.Errorf("trap %d: RESUME was answered %v, the first word written %d clocks after it", i, status, took)
		}
		best, worst = min(best, took), max(worst, took)
	}
	return Measurement{Value: float64(worst), Note: fmt.Sprintf("worst of %d traps, best %d", traps, best)}, nil
}

// linkPair is two link endpoints on one model, packets in and out on either side.
type linkPair struct {
	m       *verilator.Model
	sources [2]*verilator.Source
	sinks   [2]*verilator.Sink
	stopAt  *uint32
	silent  *uint32
	// clocks in which a packet was dropped or sent again
	disturbances *uint32
}

func openLinkPair(ctx context.Context, cable int, seed uint64) (*linkPair, error) {
	lib, err := verilator.Build(ctx, probe.Design("link_pair", map[string]int{"CABLE": cable}))
	if err != nil {
		return nil, err
	}
	l := &linkPair{}
	if l.m, err = lib.New(verilator.Config{Seed: seed}); err != nil {
		return nil, err
	}
	if err := l.attach(seed); err != nil {
		l.m.Close()
		return nil, err
	}
	return l, nil
}

func (l *linkPair) attach(seed uint64) error {
	var pins struct {
		RstA   *bool   `port:"rst_a"`
		RstB   *bool   `port:"rst_b"`
		StopAt *uint32 `port:"stop_at"`
		Silent *uint32 `port:"silent_at"`
		Bad    *uint32 `port:"disturbances"`
	}
	if err := l.m.Bind(&pins); err != nil {
		return err
	}
	l.stopAt, l.silent, l.disturbances = pins.StopAt, pins.Silent, pins.Bad
	if _, err := l.m.Clock("clk", 2, 0); err != nil {
		return err
	}
	*pins.RstA, *pins.RstB = true, true
	if err := l.m.Run(64); err != nil {
		return err
	}
	for i, side := range []string{"a", "b"} {
		in, out := verilator.Stream(side+"s"), verilator.Stream(side+"m")
		out.Seed = seed + uint64(i)
		var err error
		if l.sources[i], err = l.m.Source(in); err != nil {
			return err
		}
		if l.sinks[i], err = l.m.Sink(out); err != nil {
			return err
		}
	}
	*pins.RstA, *pins.RstB = false, false
	return nil
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
func stopLatency(ctx context.Context) (Measurement, error) {
	worst, note := 0, []string{}
	for _, size := range []int{8, 500, 2000} {
		took, err := stopLatencyOf(ctx, size)
		if err != nil {
			return Measurement{}, err
		}
		worst = max(worst, took)
		note = append(note, fmt.Sprintf("%d with %d-byte packets", took, size))
	}
	return Measurement{Value: float64(worst), Note: strings.Join(note, ", ") + "; a cable of 1 clock each way, 2 registers in each PHY"}, nil
}

func stopLatencyOf(ctx context.Context, size int) (int, error) {
	l, err := openLinkPair(ctx, 1, 1)
	if err != nil {
		return 0, err
	}
	defer l.m.Close()
	rng := rand.New(rand.NewPCG(uint64(size), 5))
	worst, stops := 0, 0
	for seen := uint32(0); stops < 50; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for l.sources[0].Send(packet(size, rng)) {
		}
		l.sinks[1].SetThrottle(float64(rng.IntN(2))) // reads all, or nothing
		if err := l.m.Run(2000 + uint64(rng.IntN(4000))); err != nil {
			return 0, err
		}
		l.sinks[1].Discard()
		if *l.stopAt == seen {
			continue
		}
		seen = *l.stopAt
		stops++
		if took := int(int32(*l.silent - *l.stopAt)); took > worst {
			worst = took
		}
	}
	return worst, nil
}

// cleanLinkDrops sends random packets both ways against readers of every slowness and counts whatever a clean link must not do.
func cleanLinkDrops(ctx context.Context) (Measurement, error) {
	drops, delivered := 0, 0
	throttles := []float64{0, 0.3, 0.6, 0.9, 0.98}
	for i, throttle := range throttles {
		l, err := openLinkPair(ctx, 1, uint64(i))
		if err != nil {
			return Measurement{}, err
		}
		packets := 20 + int(300*(1-throttle)) // a slow reader takes its time
		n, err := l.exchange(ctx, packets, throttle)
		delivered += n
		drops += int(*l.disturbances) + 2*packets - n
		l.m.Close()
		if err != nil {
			return Measurement{}, err
		}
	}
	return Measurement{Value: float64(drops), Note: fmt.Sprintf("%d packets delivered intact, readers idle up to %.0f %% of the clocks",
		delivered, 100*throttles[len(throttles)-1])}, nil
}

// exchange sends packets each way and returns how many arrived as they were sent.
func (l *linkPair) exchange(ctx context.Context, packets int, throttle float64) (delivered int, err error) {
	rng := rand.New(rand.NewPCG(uint64(packets), uint64(throttle*100)))
	var waiting [2][][]byte
	var sent [2]int
	l.sinks[0].SetThrottle(throttle)
	l.sinks[1].SetThrottle(throttle)
	const step, patience = 256, 40_000
	for steps := 0; delivered < 2*packets; steps++ {
		if err := ctx.Err(); err != nil {
			return delivered, err
		}
		if steps > patience {
			return delivered, fmt.Errorf("after %d clocks only %d of %d packets have arrived", steps*step, delivered, 2*packets)
		}
		for side := range 2 {
			for sent[side] < packets {
				p := packet(3+rng.IntN(2050), rng)
				if !l.sources[side].Send(p) {
					break
				}
				waiting[side] = append(waiting[side], p)
				sent[side]++
			}
			for {
				got, ok := l.sinks[1-side].Frame(nil)
				if !ok {
					break
				}
				if len(waiting[side]) == 0 || !bytes.Equal(got, waiting[side][0]) {
					return delivered, fmt.Errorf("packet %d from side %d arrived changed or twice", sent[side]-len(waiting[side]), side)
				}
				waiting[side] = waiting[side][1:]
				delivered++
			}
		}
		if err := l.m.Run(step); err != nil {
			return delivered, err
		}
	}
	return delivered, nil
}
