package messages

import (
	"cmp"
	"context"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Stage is a part of the way of a message, in clocks since its first symbol was on the cable of the sending host. It ends when the first symbol leaves, and the last one
// when the last symbol has come.
type Stage struct {
	Name string `json:"name"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// Way is where the time of a message of one packet goes, through a switch.
type Way struct {
	Bytes  int     `json:"bytes"`
	Stages []Stage `json:"stages"`
	// Hosts is what both hosts' drivers take beside, by half of their round trip: of clocks, in which they look at their cables every 32.
	Hosts float64 `json:"hosts"`
}

// Clocks is how many there are from host port to host port.
func (w *Way) Clocks() int { return w.Stages[len(w.Stages)-1].To }

// NewWay sends messages of so many bytes from the host's port of one of two network interfaces to that of the other, and returns the median way. Hosts take no time.
func NewWay(ctx context.Context, bytes int) (way Way, err error) {
	err = try.Run(func() {
		p := openPorts(ctx, star(), cluster.BenchParams(pageBytes, 1))
		defer try.Finally(p.Close)
		try.OK(p.Watch())
		// The clocks of the first symbols on the cables, and of the last one on the last.
		var seen []int
		mark := func(at int, clock uint64) {
			if len(seen) == at {
				seen = append(seen, int(clock))
			}
		}
		// Taps of hosts are asked before the cluster has counted the clock, and what a host sends is on its cable another one later.
		p.near.Tap = func(toNI bool, _ uint64, s linkproto.Symbol) {
			if toNI && s == linkproto.SymSOP {
				mark(0, p.Cycles+2)
			}
		}
		latency := 0
		for i, at := range []int{1, 2} {
			cable := p.Topology.Cables[i]
			latency = cable.Latency
			from := p.near.Node // the way that the message takes
			if i == 1 {
				from = cable.Ends[0].Node + cable.Ends[1].Node - p.far.Node
			}
			try.Get(p.Listen(i, func(way, _ int, _ uint64, s linkproto.Symbol) {
				if s == linkproto.SymSOP && cable.Ends[way].Node == from {
					mark(at, p.Cycles)
				}
			}))
		}
		p.far.Tap = func(toNI bool, _ uint64, s linkproto.Symbol) {
			switch {
			case toNI:
			case s == linkproto.SymSOP:
				mark(3, p.Cycles+1)
			case s == linkproto.SymEOP:
				mark(4, p.Cycles+1)
			}
		}
		come := false
		p.far.Routed = func(linkproto.Route, []byte) { come = true }
		var all [][]int
		const count = 11
		for rng := testbench.NewRand(1); len(all) < count; {
			p.rest(rng)
			come, seen = false, nil
			p.send(p.near, p.far, make([]byte, bytes))
			for !come {
				try.OK(p.Step())
			}
			if len(seen) != 5 {
				try.Failf("messages: a message of %d bytes was seen at %d of 5 places", bytes, len(seen))
			}
			all = append(all, seen)
		}
		slices.SortFunc(all, func(a, b []int) int { return cmp.Compare(a[4]-a[0], b[4]-b[0]) })
		way = newWay(bytes, all[count/2], latency)
	})
	return way, err
}

func newWay(bytes int, seen []int, latency int) Way {
	w := Way{Bytes: bytes}
	at := 0
	add := func(name string, to int) {
		w.Stages = append(w.Stages, Stage{name, at, to})
		at = to
	}
	add("sender's network interface", seen[1]-seen[0])
	add("cable", at+latency)
	add("switch", seen[2]-seen[0])
	add("cable", at+latency)
	add("receiver's network interface", seen[3]-seen[0])
	add("receiver's host cable", seen[4]-seen[0])
	return w
}
