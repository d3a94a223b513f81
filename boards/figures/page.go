package figures

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// Link are those that a simulation of a board's network interfaces tells.
var Link = []figures.Figure{
	{Name: "hx8k_page_share", Doc: "payload share of the symbol rate of board hx8k's serial link, as it is configured: writes of 1 KB pages, one way",
		Must: new(0.95), Aim: new(0.975), Long: true, Measure: func(ctx context.Context) (m figures.Measurement, err error) {
			err = try.Run(func() { m = pageShare(ctx) })
			return m, err
		}},
}

// pageShare counts clocks from page to page, in the midst of a stream of them. The host's own line is phy_direct: the board's UART has half the
// link's rate, and would be what is measured. That all of them arrived at once, and right, is seen afterwards.
func pageShare(ctx context.Context) figures.Measurement {
	const margin = 4 // pages before those that count
	counted := 48
	if figures.Quick(ctx) {
		counted = 16
	}
	p := try.Get(boards.Named("hx8k/one-link")).Params()
	p.HostPHY = rtl.Direct
	net := try.Get(rtlsim.New(ctx, rtlsim.Config{Params: p, NIs: 2, Cables: []ni.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1}}, Seed: 1}))
	defer try.Finally(net.Close)
	var ends [2]*hostdrv.NI
	for i := range ends {
		ends[i] = try.Get(hostdrv.New(ctx, try.Get(net.Host(i)), hostdrv.Options{Seed: uint64(i)}))
		defer try.Finally(ends[i].Close)
	}
	a, b := ends[0], ends[1]
	for frame := range p.Frames {
		try.OK(b.SetFrame(ctx, frame, hostdrv.FrameEntry{Link: 1}))
	}
	want, have := make([]byte, p.Frames*p.PageBytes), make([]byte, p.Frames*p.PageBytes)
	rng := rand.New(rand.NewPCG(1, 24))
	var begin uint64
	for i := range margin + counted {
		if i == margin {
			begin = net.Ticks()
		}
		at := i % p.Frames * p.PageBytes
		page := want[at : at+p.PageBytes]
		for i := range page {
			page[i] = byte(rng.Uint32())
		}
		try.OK(a.Write(ctx, 1, at, page))
	}
	_, symbol := p.SymbolClocks()
	symbols := float64(net.Ticks()-begin) / float64(symbol)
	try.OK(a.Sync(ctx, 1), b.ReadBuffer(ctx, have, 0))
	if c := try.Get(a.Counters(ctx, 1)); c[linkproto.CntReplays] != 0 || !bytes.Equal(have, want) {
		try.Failf("the link had %d replays; the last pages are right: %t", c[linkproto.CntReplays], bytes.Equal(have, want))
	}
	return figures.Measurement{Value: float64(counted*p.PageBytes) / symbols,
		Note: fmt.Sprintf("%d pages in %.0f symbol times of %d clocks; replay buffer %d bytes", counted, symbols, symbol, p.ReplayBytes)}
}
