package figures

import (
	"context"
	"fmt"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// barrierNodes are those of the figures.
const barrierNodes = 32

var barrierFigures = []Figure{
	{Name: "barrier_32", Doc: "barrier that routers carry out: 32 nodes on a root and three switches of 16 ports in RTL, from the last enter at a network interface to the last release at one, median of 101",
		Unit: "cycles", Must: new(150.0), Aim: new(60.0), Better: Lower, Long: true, Measure: wordFigure("tree 32", 0, 101, func(w barriers.Words) int { return w.Median })},
	{Name: "barrier_32_loaded", Doc: "the same while uniform messages of 64 to 1500 bytes saturate the network, worst of 1,000",
		Unit: "cycles", Must: new(180.0), Aim: new(75.0), Better: Lower, Long: true, Measure: wordFigure("tree 32", barriers.Saturating, 1000, func(w barriers.Words) int { return w.Most })},
	{Name: "barrier_2560", Doc: "the same on an idle hyper-crossbar of 16x16x10, 2,560 nodes and 576 switches in RTL, median of 11",
		Unit: "cycles", Must: new(600.0), Aim: new(250.0), Better: Lower, Long: true, Measure: wordFigure("hyper-crossbar 16 16 10", 0, 11, func(w barriers.Words) int { return w.Median })},
	barrierFigure(1, "shuffle", "shuffle exchange", "174 µs MCD"),
	barrierFigure(1, "tree2", "a binary tree", "204 µs MCD, released by multicast"),
	barrierFigure(1, "tree3", "a ternary tree", "200 µs MCD, 31 nodes, released by multicast"),
	barrierFigure(1, "tree4", "a quaternary tree", ""),
	barrierFigure(1, "concurrent", "all to one", "309 µs MCD, released by multicast"),
	barrierFigure(2, "shuffle", "shuffle exchange", ""),
	barrierFigure(2, "tree2", "a binary tree", ""),
	barrierFigure(2, "tree3", "a ternary tree", "169 µs MCD, 15 nodes, released by multicast"),
	barrierFigure(2, "tree4", "a quaternary tree", ""),
	barrierFigure(2, "concurrent", "all to one", "147 µs MCD, 16 nodes, released by multicast"),
	{Name: "logp_error", Doc: "largest error of LogP's predictions for these barriers, as a share of what was measured", Must: new(0.15), Aim: new(0.05), Better: Lower, Long: true,
		Measure: steps(func(ctx context.Context) Measurement {
			d := barrierDocument(ctx)
			p := d.Worst()
			return Measurement{Value: p.Error(), Note: fmt.Sprintf("%s, networks: %d", p.Algorithm, p.Networks)}
		})},
	{Name: "allreduce_8b_32", Doc: "allreduce of 8 bytes by messages between 32 nodes, one after the other, the mean", Unit: "cycles", Better: Lower, Long: true,
		Measure: steps(func(ctx context.Context) Measurement { return Measurement{Value: barrierDocument(ctx).AllReduce} })},
}

// wordFigure is of so many barriers of all nodes of a network.
func wordFigure(network string, load float64, count int, value func(barriers.Words) int) func(context.Context) (Measurement, error) {
	return steps(func(ctx context.Context) Measurement {
		if Quick(ctx) {
			count = min(count, 100)
		}
		w := try.Get(barriers.MeasureWords(ctx, network, []float64{load}, count, 1, 1, func(string) {}))[0]
		return Measurement{Value: float64(value(w)), Note: fmt.Sprintf("%d to %d, median %d, of %d barriers", w.Least, w.Most, w.Median, w.Count)}
	})
}

func barrierFigure(networks int, name, doc, published string) Figure {
	suffix, where := "", "two levels of switches"
	if networks == 2 {
		suffix, where = "_two", "two networks of two levels of switches each"
	}
	return Figure{Name: "barrier_32_" + name + suffix, Doc: "barrier by messages between 32 nodes on " + where + ", " + doc + ": the mean of all members", Unit: "cycles", Better: Lower, Long: true,
		Published: published, Measure: steps(func(ctx context.Context) Measurement {
			for _, p := range barrierDocument(ctx).Points {
				if p.Algorithm == name && p.Networks == networks {
					return Measurement{Value: p.Mean, Note: fmt.Sprintf("%.0f to %.0f; LogP: %.0f", p.Least, p.Most, p.Predicted)}
				}
			}
			panic("no barrier " + name)
		})}
}

// barrierRun is what all of these figures are of.
var barrierRun struct {
	once     sync.Once
	document barriers.Document
	err      error
}

func barrierDocument(ctx context.Context) barriers.Document {
	const count = 4
	r := &barrierRun
	r.once.Do(func() {
		r.err = try.Run(func() {
			t, algorithms := try.Get(barriers.Tree(barrierNodes)), collective.Algorithms[:5] // those without multicasts
			w := try.Get(barriers.Open(ctx, t, cluster.RTL, barrierNodes, 1, 1))
			defer try.Finally(w.Close)
			w.Algorithms = algorithms
			r.document = try.Get(w.Run(ctx, []int{barrierNodes}, count, func(string) {}))
			two := try.Get(barriers.OpenTwo(ctx, t, cluster.RTL, 1, 1))
			defer try.Finally(two.Close)
			two.Algorithms = algorithms
			try.OK(two.RunTwo(ctx, &r.document, func(string) {}))
		})
	})
	try.OK(r.err)
	return r.document
}
