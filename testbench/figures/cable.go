package figures

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

var cableFigures = []Figure{
	{Name: "uart_payload_share", Doc: "payload as a share of the byte rate of the host's UART, to the board: remote writes of a page of 1,024 random bytes",
		Must: new(0.95), Aim: new(0.975), Long: true, Measure: steps(uartPayloadShare)},
	{Name: "rtl_pingpong_8", Doc: "the driver's share of the wall time of a ping-pong of 8 bytes over rtl:; the rest is the simulator's",
		Better: Lower, Timed: true, Long: true, Measure: steps(rtlPingPong8)},
}

// framed is a transport that knows when it had sent which frames.
type framed struct {
	hostdrv.Transport
	ticks int
	ends  []int // ticks at which each frame had been sent, to a turn
}

func (f *framed) Exchange(x *hostdrv.Exchange) error {
	frames := 0
	for _, s := range x.Out {
		if s == linkproto.SymEOP {
			frames++
		}
	}
	err := f.Transport.Exchange(x)
	f.ticks += x.Ticks
	for ; x.Taken && frames > 0; frames-- {
		f.ends = append(f.ends, f.ticks)
	}
	return err
}

// uartPayloadShare counts ticks, the time of a byte on the UART, from the end of one frame to that of another, in the midst of a stream of
// writes. That all of them arrived at once, and right, is seen afterwards.
func uartPayloadShare(ctx context.Context) Measurement {
	const (
		page   = 1024
		frames = 4
		margin = 16 // writes before and after those that count
	)
	counted := either(ctx, 400, 50)
	cable := &framed{}
	n := try.Get(hostdrv.Open(ctx, fmt.Sprintf("rtl:?uart=4&frames=%d&page=%d", frames, page), hostdrv.Options{Seed: 1,
		Wrap: func(_ string, t hostdrv.Transport) hostdrv.Transport { cable.Transport = t; return cable }}))
	defer try.Finally(n.Close)
	for frame := range frames {
		try.OK(n.SetFrame(ctx, frame, hostdrv.FrameEntry{Link: 1}))
	}
	// Every request has been answered: nothing is sent and cable is left alone while this goroutine waits for nothing.
	first := len(cable.ends) + margin
	want, have := make([]byte, frames*page), make([]byte, frames*page)
	rng := rand.New(rand.NewPCG(1, 23))
	for i := range margin + counted + margin {
		at := i % frames * page
		data := want[at : at+page]
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		try.OK(n.Write(ctx, 1, at, data))
	}
	try.OK(n.Sync(ctx, 1), n.ReadBuffer(ctx, have, 0))
	if c := n.CableCounters(); c[linkproto.CntReplays] != 0 || !bytes.Equal(have, want) {
		try.Failf("the cable had %d replays; the last pages are right: %t", c[linkproto.CntReplays], bytes.Equal(have, want))
	}
	ticks := cable.ends[first+counted] - cable.ends[first]
	return Measurement{Value: float64(counted*page) / float64(ticks), Note: fmt.Sprintf("%d writes in %d byte times of 40 clocks", counted, ticks)}
}

// simulating is a transport of a simulation that adds up the wall time in which that runs. It stands still in an idle Exchange.
type simulating struct {
	hostdrv.Transport
	ran time.Duration
}

func (s *simulating) Exchange(x *hostdrv.Exchange) error {
	if x.Idle {
		return s.Transport.Exchange(x)
	}
	start := time.Now()
	err := s.Transport.Exchange(x)
	s.ran += time.Since(start)
	return err
}

// rtlPingPong8 has one goroutine at both ends, so that nothing but the simulation runs while it waits. Its NI is cabled to itself.
func rtlPingPong8(ctx context.Context) Measurement {
	const trips = 500
	var shares, costs, cycles []float64
	for range rounds(ctx) {
		wall, ran, took := pingPong(ctx, trips)
		shares = append(shares, float64(wall-ran)/float64(wall))
		costs = append(costs, float64(wall-ran)/trips/float64(time.Microsecond))
		cycles = append(cycles, took.Seconds()*rtlsim.Rate/trips)
	}
	return Measurement{Value: Median(shares), Note: fmt.Sprintf("median of %d times %d round trips of %.0f cycles; %.1f µs of the driver's each",
		len(shares), trips, Median(cycles), Median(costs))}
}

// pingPong returns the wall time of some round trips, that of the simulation in it, and the target's.
func pingPong(ctx context.Context, trips int) (wall, ran, took time.Duration) {
	meter := &simulating{}
	n := try.Get(hostdrv.Open(ctx, "rtl:", hostdrv.Options{Seed: 1,
		Wrap: func(_ string, t hostdrv.Transport) hostdrv.Transport { meter.Transport = t; return meter }}))
	defer try.Finally(n.Close)
	node := try.Get(hostdrv.Start(ctx, n, hostdrv.NodeOptions{Seed: 1}))
	var send, receive [2]*hostdrv.Window // there and back
	for i := range send {
		send[i], receive[i] = loopedPort(ctx, node)
	}
	limit, cancel := n.WithTimeout(ctx, time.Duration(trips)*time.Millisecond)
	defer cancel()
	var ball [8]byte
	trip := func(i int) {
		for way := range send {
			binary.LittleEndian.PutUint64(ball[:], uint64(2*i+way+1))
			try.OK(send[way].WritePage(limit, ball[:], 0))
			try.OK(receive[way].Wait(limit, func(page []byte) bool { return bytes.Equal(page[:8], ball[:]) }))
		}
	}
	const warm = 20
	for i := range warm {
		trip(i)
	}
	start, began, before := time.Now(), n.Now(), meter.ran
	for i := range trips {
		trip(warm + i)
	}
	return time.Since(start), meter.ran - before, n.Now() - began
}
