package barriers

import (
	"context"
	"math"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/try"
)

// Point is what barriers of one algorithm take, in clocks.
type Point struct {
	Algorithm    string  `json:"algorithm"`
	Acknowledged bool    `json:"acknowledged"` // its releases are
	Networks     int     `json:"networks"`     // by which messages go
	Nodes        int     `json:"nodes"`
	Mean         float64 `json:"mean"` // of all members and barriers
	Least        float64 `json:"least"`
	Most         float64 `json:"most"`
	Predicted    float64 `json:"predicted"` // by LogP: the mean; 0 for barriers by hardware, which are no messages
	Alone        float64 `json:"alone"`     // the same if no two messages shared a cable between switches
}

// Bound is how far off predictions are to be at most, as a share of what was measured.
const Bound = 0.15

// Error is how far off the prediction is, as a share of what was measured; 0 if there is none.
func (p Point) Error() float64 {
	if p.Predicted == 0 {
		return 0
	}
	return math.Abs(p.Predicted-p.Mean) / p.Mean
}

// first barriers are left out, as Predict leaves them out: the very first one brings the virtual links up, which takes 133,000 clocks where members have many partners, and within the others members
// drift apart, as they are in all later ones.
const first = 4

// Pause is what members wait for between two barriers, at least: some 8 µs at 125 MHz.
const Pause = 1000

// group makes a node a member of a group of the first n, on the network's present context.
func (w *Network) group(ctx context.Context, i, n int, barrier string, acknowledged bool) *collective.Group {
	m := w.members[i]
	o := collective.Options{
		Members: w.numbers(n), Context: w.context, Barrier: barrier, Multicast: w.multicast, Acknowledged: acknowledged, Topology: w.topology, Seed: uint64(i + 1),
	}
	if w.networks() == 1 {
		return try.Get(collective.Open(ctx, m.node, o))
	}
	var seconds []uint16
	for _, other := range w.members[:n] {
		seconds = append(seconds, other.second.number)
	}
	return try.Get(collective.OpenTwo(ctx, m.node, m.second.node, seconds, o))
}

// Measure makes so many barriers of the first n nodes, after the first ones.
func (w *Network) Measure(ctx context.Context, a collective.Algorithm, n, count int, acknowledged bool, model LogP) (Point, error) {
	w.context++
	took, pauses := make([][]float64, n), make([]float64, n)
	err := w.each(ctx, n, func(ctx context.Context, i int) {
		g := w.group(ctx, i, n, a.Name, acknowledged)
		took[i], pauses[i] = w.rounds(ctx, g, i, count)
		try.OK(g.Close(ctx))
	})
	p := Point{Algorithm: a.Name, Acknowledged: acknowledged, Networks: w.networks(), Nodes: n, Least: math.Inf(1)}
	if a.Name != collective.Hardware {
		pause := 0.0
		for _, t := range pauses {
			pause += t / float64(n)
		}
		p.Predicted = model.Predict(a, n, w.networks(), acknowledged, pause, w.way)
		p.Alone = model.Predict(a, n, w.networks(), acknowledged, pause, nil)
	}
	for _, times := range took {
		for _, t := range times {
			p.Mean += t
			p.Least, p.Most = min(p.Least, t), max(p.Most, t)
		}
	}
	p.Mean /= float64(n * count)
	if err != nil {
		return Point{}, err // without times Least is no number
	}
	return p, nil
}

// rounds makes barriers, and returns what those behind the first ones took a member, and how long it waited between two, the mean: until its network interface was looked at again after the Pause.
func (w *Network) rounds(ctx context.Context, g *collective.Group, i, count int) (took []float64, pause float64) {
	two := w.networks() == 2 // else time stands still anyway while the member computes
	if two {
		defer w.members[i].host.Work()()
	}
	left := 0.0
	for round := range count + first {
		over := func() {}
		if two { // it waits at both, but for the pause
			over = w.members[i].second.host.Work()
		}
		start := w.clock()
		if round > 0 {
			pause += (start - left) / float64(count+first-1)
		}
		err := g.Barrier(ctx)
		left = w.clock()
		if round >= first {
			took = append(took, left-start)
		}
		over()
		try.OK(err)
		try.OK(w.pause(ctx, i, Pause))
	}
	return took, pause
}

// AllReduce returns the clocks of allreduces of 8 bytes, the mean.
func (w *Network) AllReduce(ctx context.Context, count int) (mean float64, err error) {
	w.context++
	n := len(w.members)
	times := make([]float64, n)
	op := collective.Op{Size: 8, Combine: func(into, from []byte) { copy(into, from) }}
	err = w.each(ctx, n, func(ctx context.Context, i int) {
		g := w.group(ctx, i, n, "", false)
		var start float64
		for round := range count + 2 {
			if round == 2 {
				start = w.clock()
			}
			try.OK(g.AllReduce(ctx, make([]byte, op.Size), op))
		}
		times[i] = (w.clock() - start) / float64(count)
		try.OK(g.Close(ctx))
	})
	for _, t := range times {
		mean += t / float64(n)
	}
	return mean, err
}
