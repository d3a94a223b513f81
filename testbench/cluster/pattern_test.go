package cluster

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

// TestPatterns: of patterns in which each NI has one destination, these are them; a dash is an NI that sends nothing.
func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		shape string
		size  []int
		name  string
		want  string
	}{
		{"star", []int{4}, "neighbour", "1 2 3 0"},
		{"mesh", []int{3, 2}, "neighbour", "4 5 3 1 2 0"},
		{"star", []int{4}, "transpose", "- 2 1 -"},
		{"mesh", []int{2, 2}, "transpose", "- 2 1 -"},
		{"star", []int{8}, "bit-complement", "7 6 5 4 3 2 1 0"},
		{"star", []int{5}, "tornado", "2 3 4 0 1"},
		{"mesh", []int{4, 3}, "tornado", "5 6 7 4 9 10 11 8 1 2 3 0"},
		{"hyper-crossbar", []int{2, 2, 2}, "dimension-reverse", "- 4 - 6 1 - 3 -"},
		{"star", []int{4}, "corners", "3 - - 0"},
		{"hyper-crossbar", []int{2, 2}, "bit-complement", "3 2 1 0"},
	} {
		top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
		p := check.Must(newPattern(test.name, top))(t)
		n := top.Count(topology.NI)
		var have []string
		for from := range n {
			if !p.sends(from, n) {
				have = append(have, "-")
				continue
			}
			have = append(have, fmt.Sprint(p.draw(nil, from)))
		}
		check.Equal(t, fmt.Sprint(test.name, " on ", test.shape, test.size), strings.Join(have, " "), test.want)
	}
}

// TestShares: what is drawn is spread as the shares say, which add up to 1.
func TestShares(t *testing.T) {
	const nis, draws = 5, 20000
	top := check.Must(topology.Generate("star", []int{nis}, 1))(t)
	rng := testbench.NewRand(testbench.TestSeed(t))
	for _, name := range []string{"uniform", "hot-spot", "hot-spot:40"} {
		p := check.Must(newPattern(name, top))(t)
		for from := range nis {
			var count [nis]int
			for range draws {
				count[p.draw(rng, from)]++
			}
			sum := 0.0
			for to, have := range count {
				share := p.share(from, to)
				sum += share
				if math.Abs(float64(have)/draws-share) > 0.02 || (share == 0) != (have == 0) {
					t.Errorf("%s: %d of %d from %d to %d, want a share of %.3f", name, have, draws, from, to, share)
				}
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: shares from %d add up to %v", name, from, sum)
			}
		}
	}
}

// TestPatternsRefused: what a network does not allow is said, and why.
func TestPatternsRefused(t *testing.T) {
	for _, test := range []struct {
		shape string
		size  []int
		name  string
		want  []string
	}{
		{"star", []int{6}, "transpose", []string{"6 network interfaces are no square"}},
		{"star", []int{6}, "bit-complement", []string{"no power of two"}},
		{"mesh", []int{4, 2}, "tornado", []string{"4x2", "3 or more"}},
		{"mesh", []int{4, 2}, "dimension-reverse", []string{"4x2", "4x2x4"}},
		{"star", []int{4}, "dimension-reverse", []string{"two dimensions or more"}},
		{"star", []int{4}, "hot-spot:0", []string{"1 to 100 percent"}},
		{"star", []int{4}, "uniform:5", []string{"only hot-spot has a number"}},
		{"star", []int{4}, "unifrom", []string{"no such pattern", "uniform"}},
	} {
		top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
		if _, err := newPattern(test.name, top); err == nil {
			t.Errorf("%s on %s %v is taken", test.name, test.shape, test.size)
		} else {
			check.Contains(t, "error", err.Error(), test.want...)
		}
	}
}

// TestBound: no more is carried than the busiest direction of a cable can.
func TestBound(t *testing.T) {
	for _, test := range []struct {
		shape string
		size  []int
		name  string
		want  float64
	}{
		{"star", []int{16}, "uniform", 1},
		{"star", []int{5}, "hot-spot:100", 0.25},
		{"line", []int{4}, "uniform", 1 / (2 * 2 / 3.0)},      // two NIs on each side, two thirds of whose messages go to the other
		{"hyper-crossbar", []int{4, 4}, "uniform", 1},         // a link takes 12 of 15 messages of as many NIs as it serves
		{"tree", []int{2, 2}, "uniform", 1 / (2 * 2 / 3.0)},   // as on the line
		{"mesh", []int{3, 3}, "transpose", 1 / 2.0},           // (1,0) and (2,0) go by one cable
		{"hyper-crossbar", []int{4, 4}, "transpose", 1 / 3.0}, // an NI of the diagonal forwards for the others of its row
	} {
		top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
		n := &Cluster{Topology: top, Tables: check.Must(routing.Build(top, ""))(t), peers: top.Peers()}
		for i, node := range top.Nodes {
			if node.Kind == topology.NI {
				n.NIs = append(n.NIs, &NI{Node: i})
			}
		}
		p := check.Must(newPattern(test.name, top))(t)
		if have := n.bound(p); math.Abs(have-test.want) > 1e-9 {
			t.Errorf("%s on %s %v: at most %v, want %v", test.name, test.shape, test.size, have, test.want)
		}
	}
}

// TestHXBRows: each row of the paper is there, and what was measured in its unit.
func TestHXBRows(t *testing.T) {
	tables := map[int]int{}
	for _, r := range hxbRows() {
		tables[r.Table]++
		r.fill(Point{Payload: 0.9, Latency: Latency{P50: 50}})
		want := [2]float64{0.9, 112.5}
		if r.RoundTrip {
			want = [2]float64{100, 0.8}
		}
		if got := [2]float64{r.Clocks, r.Value}; math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1]) > 1e-9 {
			t.Errorf("%+v: measured %v, want %v", r, got, want)
		}
		if r.Table > 0 != (r.Published > 0) {
			t.Errorf("%+v: of a table of the paper, and not published there", r)
		}
	}
	check.Equal(t, "rows by table", fmt.Sprint(tables), "map[0:19 4:5 5:1 6:8]")
}
