package messages

import (
	"cmp"
	"context"
	"fmt"
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

// Ways sends messages of some lengths from the host's port of one of two network interfaces to that of the other, and returns the median way of each. Hosts take no time.
func Ways(ctx context.Context, sizes []int, progress func(string)) (ways []Way, err error) {
	err = try.Run(func() {
		p := openPorts(ctx, star(), cluster.BenchParams(pageBytes, 1))
		defer try.Finally(p.Close)
		try.OK(p.Watch())
		seen := p.follow()
		for _, bytes := range sizes {
			progress(fmt.Sprintf("stages of %d bytes", bytes))
			var all [][]int
			const count = 11
			for rng := testbench.NewRand(1); len(all) < count; {
				p.rest(rng)
				*seen = nil
				p.send(p.near, p.far, make([]byte, bytes))
				for len(*seen) < places {
					try.OK(p.Step())
				}
				all = append(all, *seen)
			}
			slices.SortFunc(all, func(a, b []int) int { return cmp.Compare(a[places-1]-a[0], b[places-1]-b[0]) })
			ways = append(ways, newWay(bytes, all[count/2], p.Topology.Default.Latency))
		}
	})
	return ways, err
}

// places is at how many places a message is seen: where its first symbol is on each of four cables, and its last one on the last.
const places = 5

// follow appends the clock at which a message is seen at each place to what it returns.
func (p ports) follow() *[]int {
	var seen []int
	mark := func(place int, clock uint64) {
		if len(seen) == place {
			seen = append(seen, int(clock))
		}
	}
	// Taps of hosts are asked before the cluster has counted the clock, and what a host sends is on its cable another one later.
	p.near.Tap = func(toNI bool, _ uint64, s linkproto.Symbol) {
		if toNI && s == linkproto.SymSOP {
			mark(0, p.Cycles+2)
		}
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
	for i, cable := range p.Topology.Cables {
		try.Get(p.Listen(i, func(way, _ int, _ uint64, s linkproto.Symbol) {
			switch from := cable.Ends[way].Node; {
			case s != linkproto.SymSOP:
			case from == p.near.Node:
				mark(1, p.Cycles)
			case from != p.far.Node && i == 1:
				mark(2, p.Cycles)
			}
		}))
	}
	return &seen
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
