package golden

import (
	"context"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/ni"
)

// World is one network interface with an endpoint in Go on every port: a host on port 0, peers on the others.
type World struct {
	Params rtl.Params
	Ports  []*ni.Port
	// Clocked is set if every symbol has its clock on the lines, and ports have a Tap.
	Clocked bool
	// Step runs for some symbol times, no more than hosts and peers may go without a look at their ports, and returns how many.
	Step func() (int, error)
	// Reset resets the network interface; it returns with the reset over.
	Reset func() error
	// Observe, if the network interface is in Go, is called with every packet that it has dealt with.
	Observe func(model.Observation)
}

// FabricConfig is that of a fabric for NewRTL.
func FabricConfig(p rtl.Params, seed uint64) ni.Config {
	c := ni.Config{Params: p, Nodes: 1, Seed: seed, Quantum: look}
	for link := range p.WithDefaults().Links + 1 {
		c.Peers = append(c.Peers, ni.Socket{Link: link})
	}
	return c
}

// NewRTL is the world of a fabric that was opened with FabricConfig.
func NewRTL(f *ni.Fabric) *World {
	w := &World{Params: f.Params, Reset: f.Reset, Clocked: f.Params.HostPHY == rtl.Direct && f.Params.LinkPHY == rtl.Direct}
	slowest := 1
	for link := range f.Params.Links + 1 {
		port := f.Peers[ni.Socket{Link: link}]
		w.Ports = append(w.Ports, port)
		slowest = max(slowest, port.SymbolClocks)
	}
	w.Step = func() (int, error) { return max(f.Config.Quantum/slowest, 1), f.Run(1) }
	return w
}

// NewModel is the world of a model with these parameters. Its identity is that of module hash.
func NewModel(ctx context.Context, p rtl.Params, seed, hash uint64) (*World, error) {
	p = p.WithDefaults()
	p.Width = 1 // a model takes a symbol at a time
	w := &World{Params: p}
	rng := testbench.NewRand(seed).Split("model")
	m, err := model.New(model.Config{
		Links: p.Links, Frames: p.Frames, PageBytes: p.PageBytes, ReplayBytes: p.ReplayBytes, RxBytes: p.RxBytes, Headroom: p.Headroom,
		AckDelay: p.AckDelay, WordTimer: p.WordTimer, Retry: p.Retry, RetryLimit: p.RetryLimit, Epoch: epoch(rng), Hash: hash,
		Observe: func(o model.Observation) {
			if w.Observe != nil {
				w.Observe(o)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	for port := range p.Links + 1 {
		end, err := ni.JoinPort(m.Port(port), ni.EndConfig(p, port, rng))
		if err != nil {
			return nil, err
		}
		w.Ports = append(w.Ports, end)
	}
	w.Reset = func() error {
		m.Reset()
		return nil
	}
	w.Step = func() (int, error) { return look, ni.Exchange(instantly{ctx}, look, w.Ports...) }
	return w, nil
}

// instantly runs what takes no time.
type instantly struct{ ctx context.Context }

func (i instantly) Run(uint64) error { return i.ctx.Err() }

func epoch(rng *testbench.Rand) uint8 { return linkproto.NextEpoch(uint8(rng.IntN(256))) }
