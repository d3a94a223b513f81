package figures

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// saturatedPair is two network interfaces with 2 KB pages, whose hosts look at their ports every quantum clocks.
func saturatedPair(replayBytes, cable, quantum int) ni.Config {
	c := ni.Pair(rtl.Params{PageBytes: 2048, ReplayBytes: replayBytes}, cable)
	c.Seed, c.Quantum = 1, quantum
	return c
}

// saturate lets all hosts write as fast as they may.
func saturate(ctx context.Context, c ni.Config, size int) (*ni.Fabric, *ni.Traffic) {
	f := try.Get(ni.Open(ctx, c))
	var t *ni.Traffic
	err := try.Run(func() {
		t = try.Get(ni.NewTraffic(f, 1))
		t.Size = size
		try.OK(t.Send(min(200, 20+2*f.Params.ReplayBytes/size))) // past the beginning: the replay buffer is full
	})
	if err != nil {
		f.Close()
	}
	try.OK(err)
	return f, t
}

// payloadShare is the figure of a size.
func payloadShare(size int) func(context.Context) (Measurement, error) {
	return steps(func(ctx context.Context) Measurement {
		cycles := either(ctx, 1_000_000, 200_000)
		shares := shareOf(ctx, saturatedPair(8192, 1, 128), size, uint64(cycles))
		return Measurement{Value: (shares[0] + shares[1]) / 2,
			Note: fmt.Sprintf("%.4f one way, %.4f the other, over %d cycles", shares[0], shares[1], cycles)}
	})
}

// shareOf measures the payload share in both directions at once. It counts from one acknowledgement to another, so that whole packets
// are counted.
func shareOf(ctx context.Context, c ni.Config, size int, cycles uint64) [2]float64 {
	var shares [2]float64
	f, t := saturate(ctx, c, size)
	defer f.Close()
	type mark struct{ freed, at uint64 }
	first, last := make([]mark, len(t.Streams)), make([]mark, len(t.Streams))
	for begin := f.Cycles; f.Cycles-begin < cycles; {
		try.OK(t.Offer(64))
		try.OK(f.Run(1))
		for i, s := range t.Streams {
			now := mark{f.Nodes[s.From.Node].Host.Credit(s.From.Link).FreedBytes, f.Cycles}
			if now.freed == last[i].freed {
				continue
			}
			if last[i].at == 0 {
				first[i] = now
			}
			last[i] = now
		}
	}
	for i := range shares {
		packets := float64(last[i].freed-first[i].freed) / float64(size+writeOverhead)
		shares[i] = packets * float64(size) / float64(last[i].at-first[i].at)
	}
	return shares
}

// links7Share has seven network interfaces, one link of each, write into all links of an eighth.
func links7Share(ctx context.Context) Measurement {
	const links, page = 7, 1024
	cycles := uint64(either(ctx, 60_000, 20_000))
	c := ni.Config{Params: rtl.Params{Links: links, Frames: links + 1, PageBytes: page}, Nodes: links + 1, Optimize: verilator.Full, Seed: 1, Quantum: 128}
	for i := range links {
		c.Cables = append(c.Cables, ni.Cable{A: i + 1, LinkA: 1, B: 0, LinkB: i + 1})
	}
	f := try.Get(ni.Open(ctx, c))
	defer f.Close()
	t := try.Get(ni.NewTraffic(f, 1))
	t.Size = page
	t.Streams = slices.DeleteFunc(t.Streams, func(s *ni.Stream) bool { return s.To.Node != 0 })
	all := t.Streams
	payload := func(streams ...*ni.Stream) float64 {
		t.Streams = streams
		try.OK(t.Send(8)) // past the beginning
		begin, freed := f.Cycles, t.Freed()
		for f.Cycles-begin < cycles {
			try.OK(t.Offer(64), f.Run(1))
		}
		share := float64(t.Freed()-freed) / float64(f.Cycles-begin)
		try.OK(t.Settle())
		return share
	}
	together := payload(all...)
	var alone float64
	for _, s := range all {
		alone += payload(s)
	}
	t.Streams = all
	try.OK(t.Check(), t.CheckCounters(true))
	return Measurement{Value: together / alone, Note: fmt.Sprintf("%.3f bytes a clock together, %.3f alone added up, over %d cycles each", together, alone, cycles)}
}

// writeOverhead is what a WRITE has besides its data, in bytes.
const writeOverhead = linkproto.HeaderBytes + 4

// SharePoint is a point of the curve of payload share against the size of writes.
type SharePoint struct {
	Bytes int     `json:"bytes"`
	Share float64 `json:"share"` // measured, mean of both directions
	Limit float64 `json:"limit"` // that the frame's other symbols set, were nothing else on the link
}

// ShareCurve measures the payload share of writes of 8 bytes to a page of 2 KB, both directions at once.
func ShareCurve(ctx context.Context) (curve []SharePoint, err error) {
	const cycles = 50_000
	sizes := []int{8, 16, 32, 64, 128, 256, 512, 1024, GigaEPM.Bytes, 2048}
	curve = make([]SharePoint, len(sizes))
	var points errgroup.Group
	points.SetLimit(runtime.NumCPU())
	for i, size := range sizes {
		points.Go(func() error {
			return try.Run(func() {
				shares := shareOf(ctx, saturatedPair(8192, 1, 128), size, cycles)
				curve[i] = SharePoint{size, (shares[0] + shares[1]) / 2,
					float64(size) / float64(size+writeOverhead+linkproto.FrameOverhead)}
			})
		})
	}
	if err := points.Wait(); err != nil {
		return nil, err
	}
	return curve, nil
}
