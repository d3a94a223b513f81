package cluster

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/testbench"
)

// A pattern says where the messages of each network interface go. NIs are numbered as in Cluster.NIs.
type pattern struct {
	// share is the part of the messages of `from` that go to `to`; those of an NI add up to 1, or to 0 if it sends nothing.
	share func(from, to int) float64
	draw  func(rng *testbench.Rand, from int) int
}

// Patterns are the names of the patterns of traffic that Bench knows, with what they are.
var Patterns = [][2]string{
	{"uniform", "to any other, each as likely"},
	{"neighbour", "to the next in each dimension, the last to the first"},
	{"transpose", "first and second half of the coordinates exchanged; the number of network interfaces is a square"},
	{"bit-complement", "number i to the number of inverted bits; the number of network interfaces is a power of two"},
	{"tornado", "almost half way round in each dimension of 3 or more"},
	{"hot-spot", "one in ten to the first, the others to any; hot-spot:N, N percent to the first"},
	{"corners", "the first and the last to each other; the others send nothing"},
	{"dimension-reverse", "coordinates in reverse order; two dimensions or more, of sizes that are the same in reverse"},
}

const hotPercent = 10

// newPattern is the pattern of a name for a network, or says why the network does not allow it.
func newPattern(name string, t *topology.Topology) (pattern, error) {
	n, dims := t.Count(topology.NI), gridOf(t)
	fail := func(format string, args ...any) (pattern, error) {
		return pattern{}, fmt.Errorf("cluster: pattern %s: %s", name, fmt.Sprintf(format, args...))
	}
	kind, percent, given := strings.Cut(name, ":")
	if n < 2 {
		return fail("one network interface has nobody to send to: add another")
	}
	if given && kind != "hot-spot" {
		return fail("only hot-spot has a number, as in hot-spot:20")
	}
	switch kind {
	case "uniform":
		return spread(n, 0), nil
	case "hot-spot":
		hot := hotPercent
		if given {
			var err error
			if hot, err = strconv.Atoi(percent); err != nil || hot < 1 || hot > 100 {
				return fail("want 1 to 100 percent, as in hot-spot:20")
			}
		}
		return spread(n, float64(hot)/100), nil
	case "neighbour":
		return onGrid(dims, func(x, size int) int { return (x + 1) % size }), nil
	case "tornado":
		if slices.Min(dims) < 3 {
			return fail("a dimension of 2 has no half way round: want 3 or more in each of %s", sizeText(dims))
		}
		return onGrid(dims, func(x, size int) int { return (x + (size+1)/2 - 1) % size }), nil
	case "transpose":
		side := 1
		for side*side < n {
			side++
		}
		if side*side != n {
			return fail("%d network interfaces are no square: want 4, 9, 16, 25 and so on", n)
		}
		return fixed(n, func(i int) int { return i%side*side + i/side }), nil
	case "bit-complement":
		if bits.OnesCount(uint(n)) != 1 {
			return fail("%d network interfaces are no power of two", n)
		}
		return fixed(n, func(i int) int { return n - 1 - i }), nil
	case "corners":
		return fixed(n, func(i int) int {
			if i == 0 || i == n-1 {
				return n - 1 - i
			}
			return i
		}), nil
	case "dimension-reverse":
		reversed := slices.Clone(dims)
		slices.Reverse(reversed)
		if len(dims) < 2 || !slices.Equal(dims, reversed) {
			return fail("%s reads otherwise in reverse: want two dimensions or more, as 4x4 or 4x2x4", sizeText(dims))
		}
		return fixed(n, func(i int) int {
			at := coordinates(i, dims)
			slices.Reverse(at)
			return number(at, dims)
		}), nil
	}
	var known []string
	for _, p := range Patterns {
		known = append(known, p[0])
	}
	return fail("no such pattern%s; there are %s", nearest.Hint(kind, known), strings.Join(known, ", "))
}

// spread sends a share to the first, and what is left to all others alike.
func spread(n int, hot float64) pattern {
	return pattern{
		share: func(from, to int) float64 {
			share := (1 - hot) / float64(n-1)
			switch {
			case from == to:
				return 0
			case from == 0:
				return 1 / float64(n-1)
			case to == 0:
				share += hot
			}
			return share
		},
		draw: func(rng *testbench.Rand, from int) int {
			if from > 0 && hot > 0 && rng.Chance(hot) {
				return 0
			}
			to := rng.IntN(n - 1)
			if to >= from {
				to++
			}
			return to
		},
	}
}

// fixed sends all of an NI's messages to one. An NI that would send to itself sends nothing.
func fixed(n int, dest func(int) int) pattern {
	all := make([]int, n)
	for i := range all {
		all[i] = dest(i)
	}
	return pattern{
		share: func(from, to int) float64 {
			if from != to && all[from] == to {
				return 1
			}
			return 0
		},
		draw: func(_ *testbench.Rand, from int) int { return all[from] },
	}
}

// onGrid changes each coordinate by itself.
func onGrid(dims []int, change func(x, size int) int) pattern {
	n := 1
	for _, size := range dims {
		n *= size
	}
	return fixed(n, func(i int) int {
		at := coordinates(i, dims)
		for d := range at {
			at[d] = change(at[d], dims[d])
		}
		return number(at, dims)
	})
}

// gridOf are the dimensions in which a topology's NIs lie, the first counting fastest: one dimension if it is no grid.
func gridOf(t *topology.Topology) []int {
	n, all := t.Count(topology.NI), 1
	for _, size := range t.Size {
		all *= size
	}
	switch t.Shape {
	case "line", "ring", "mesh", "torus", "hyper-crossbar":
		if all == n {
			return t.Size
		}
	}
	return []int{n}
}

func coordinates(i int, dims []int) []int {
	at := make([]int, len(dims))
	for d, size := range dims {
		at[d], i = i%size, i/size
	}
	return at
}

func number(at, dims []int) (i int) {
	for d := len(dims) - 1; d >= 0; d-- {
		i = i*dims[d] + at[d]
	}
	return i
}

func sizeText(dims []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", "x"), "[]")
}

// bound is the load at which the busiest channel, a direction of a cable or a host's cable, is full: no network by these tables carries more.
func (n *Cluster) bound(p pattern) float64 {
	const ports = topology.MaxSwitchPorts + 1
	loads := make([]float64, ports*len(n.Topology.Nodes)) // of what leaves a node by a port
	for from, at := range n.NIs {
		for to, end := range n.NIs {
			share := p.share(from, to)
			if share == 0 {
				continue
			}
			for node := at.Node; node != end.Node; {
				port, _ := n.Tables.Route(node, end.Node)
				loads[ports*node+int(port)] += share
				node = n.peers[node][port]
			}
		}
	}
	return 1 / max(slices.Max(loads), 1) // an NI's host sends all
}
