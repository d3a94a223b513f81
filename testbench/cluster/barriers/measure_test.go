package barriers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// TestPredict compares with the formula of the paper on MCD, whose parameters are these, in µs.
func TestPredict(t *testing.T) {
	mcd := barriers.LogP{Send: 3, Latency: 17.5, Receive: 9.5}
	check.Equal(t, "shuffle exchange", mcd.Predict(collective.Algorithms[0], 32, 1, false, 0, nil), 5*(3+17.5+9.5))
	if have := mcd.Predict(collective.Algorithms[1], 32, 1, false, 0, nil); have <= 5*30 || have > 10*30 {
		t.Errorf("a tree of 5 phases up and 5 down: %v", have)
	}
}

// TestPredictCables: messages that share a cable wait for each other there, those on cables of their own do not.
func TestPredictCables(t *testing.T) {
	p := barriers.LogP{Latency: 100, Gap: 10, Cable: 40}
	const n = 8
	for _, a := range collective.Algorithms {
		alone := p.Predict(a, n, 1, false, 500, nil)
		own := p.Predict(a, n, 1, false, 500, func(from, to int) []int { return []int{n*from + to} })
		if shared := p.Predict(a, n, 1, false, 500, func(from, to int) []int { return []int{1} }); math.Abs(own-alone) > 1e-6 || shared < own+p.Cable/2 || shared > own+2*n*n*p.Cable {
			t.Errorf("%s: %v clocks alone, %v on cables of their own, %v on one", a.Name, alone, own, shared)
		}
	}
}

// TestCableGap: of what is sent across a tree the cables between its switches carry a message in about the gap.
func TestCableGap(t *testing.T) {
	for n, shared := range map[int]bool{8: false, 24: true} {
		w := check.Must(barriers.Open(t.Context(), check.Must(barriers.Tree(n))(t), cluster.Model, n, 1, 1))(t)
		p := check.Must(w.LogP(t.Context(), n))(t)
		if t.Logf("%+v", p); (p.Cable != 0) != shared || shared && math.Abs(p.Cable-p.Gap) > 0.3*p.Gap {
			t.Errorf("%d nodes: cables have a gap of %v, nodes of %v", n, p.Cable, p.Gap)
		}
		check.Error(t, w.Close())
	}
}

// TestRunHardware: barriers by the routers of the network take less than one message does.
func TestRunHardware(t *testing.T) {
	w := check.Must(barriers.OpenHardware(t.Context(), check.Must(barriers.Tree(8))(t), cluster.Model, 8, 1, 1))(t)
	defer w.Close()
	d := barriers.Document{Count: 3, Nodes: []int{2, 5, 8}}
	check.Fatal(t, w.RunHardware(t.Context(), &d, func(what string) { t.Log(what) }))
	check.Equal(t, "points", len(d.Points), 3)
	for i, p := range d.Points {
		t.Logf("%+v", p)
		if p.Algorithm != collective.Hardware || p.Nodes != d.Nodes[i] || p.Predicted != 0 || p.Error() != 0 || p.Least < 1 || p.Mean < p.Least || p.Most < p.Mean || p.Most > 400 {
			t.Error("that cannot be")
		}
	}
	check.Equal(t, "plots", len(d.Plots()[0].Series), 3)
}

// TestCall: what is chosen is the way that is fastest, where these are far apart.
func TestCall(t *testing.T) {
	w := check.Must(barriers.Open(t.Context(), check.Must(barriers.Tree(8))(t), cluster.Model, 8, 1, 1))(t)
	defer w.Close()
	for _, test := range []struct {
		call, fast, slow string
		bytes            int
	}{
		{"broadcast", collective.Tree, collective.Chain, 1024}, {"broadcast", collective.Chain, collective.Tree, 64 << 10},
		{"allreduce", collective.Exchange, collective.Chain, 4096},
	} {
		took := map[string]float64{}
		for _, way := range []string{"", test.fast, test.slow} {
			took[way] = check.Must(w.Call(t.Context(), barriers.Call{Call: test.call, Way: way, Nodes: 8, Bytes: test.bytes}, 1))(t).Clocks
		}
		if t.Logf("%s of %d bytes: %v", test.call, test.bytes, took); took[test.fast] > 0.8*took[test.slow] || took[""] > 1.05*took[test.fast] {
			t.Error("that is not the fastest")
		}
	}
}

// TestFit: a line through points on a line is that line.
func TestFit(t *testing.T) {
	sizes := []barriers.Size{{Bytes: 0, Gap: 40}, {Bytes: 100, Gap: 145}, {Bytes: 1000, Gap: 1090}}
	f := barriers.NewFit(sizes, func(s barriers.Size) float64 { return s.Gap })
	if math.Abs(f.Base-40) > 1e-9 || math.Abs(f.PerByte-1.05) > 1e-9 || f.Error > 1e-9 {
		t.Errorf("%+v", f)
	}
	sizes[2].Gap = 1200
	if f = barriers.NewFit(sizes, func(s barriers.Size) float64 { return s.Gap }); f.Error < 0.02 || f.Error > 0.1 {
		t.Errorf("beside a line: %+v", f)
	}
}

// TestPaper: on one network and on two, and by hardware, all algorithms are measured. On models, where a switch takes no time, what LogP predicts is right but for the quanta of time, also where
// acknowledgements meet messages; on two networks programs look at one after the other, in an order that
// the machine decides, and some quanta pass. Two are hardly slower than one, and plots have both. Acknowledgements of multicasts meet the next barrier's messages, whose wait hosts see a quantum
// earlier or later, and again in the stage behind: there two quanta are allowed. The gap is the same among two and among eight.
func TestPaper(t *testing.T) {
	b := barriers.Bench{Nodes: []int{2, 8}, Count: 3, Rung: cluster.Model, Seed: testbench.TestSeed(t)}
	d := check.Must(b.Paper(t.Context(), func(what string) { t.Log(what) }))(t)
	t.Logf("%+v %+v %+v %+v", d.Models, d.Messages, d.Trip, d.Gap)
	check.Equal(t, "models", len(d.Models), 2)
	if two, eight := d.Models[0].Gap, d.Models[1].Gap; math.Abs(eight-two) > 0.02*two {
		t.Errorf("g is %v between two nodes and %v from one of eight to all others", two, eight)
	}
	const quantum = 32
	mean := map[string][3]float64{} // by networks
	for _, p := range d.Points {
		t.Logf("%+v: %.3f", p, p.Error())
		off := []float64{1: 0.05, 2: 0.2}[p.Networks]
		if p.Acknowledged {
			off = max(off, 2*quantum/p.Mean)
		}
		if p.Networks < 1 || p.Networks > 2 || p.Mean < 100 || p.Least > p.Mean || p.Mean > p.Most || p.Most > float64(1+p.Networks)*p.Mean || p.Error() > off {
			t.Error("that cannot be")
		}
		name := fmt.Sprint(p.Algorithm, p.Nodes, p.Acknowledged)
		m := mean[name]
		m[p.Networks] = p.Mean
		mean[name] = m
	}
	for name, m := range mean {
		if hardware := strings.HasPrefix(name, collective.Hardware); m[1] == 0 || hardware != (m[2] == 0) || m[2] > 1.2*m[1] {
			t.Errorf("%s: %v clocks by networks", name, m)
		}
	}
	if g := d.Gap.PerByte; g < 1 || g > 1.1 {
		t.Errorf("a byte takes %v clocks: a cable carries one in a clock", g)
	}
	if e := d.TripError(); e > 0.03 {
		t.Errorf("half round trips are off by %v", e)
	}
	plots := d.Plots()
	check.Equal(t, "plots", len(plots), len(collective.Algorithms)+2)
	check.Equal(t, "series of shuffle", len(plots[0].Series), 8+1)
}
