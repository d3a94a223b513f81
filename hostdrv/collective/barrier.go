package collective

import (
	"context"
	"math/bits"
	"slices"
)

// Stage is a step of a member in a barrier: it sends to some, by their ranks, and then waits for some.
type Stage struct {
	To, From []int
	Cast     bool // by one message to a multicast group
}

// Algorithm is a way to make a barrier. A zero one is none.
type Algorithm struct {
	Name   string
	stages func(n, rank int) []Stage
}

// Stages are those of a member of n.
func (a Algorithm) Stages(n, rank int) []Stage {
	if a.stages == nil || n < 1 {
		return nil
	}
	return a.stages(n, rank)
}

// Multicast reports whether members are released by a multicast.
func (a Algorithm) Multicast() bool {
	return slices.ContainsFunc(a.Stages(2, 0), func(s Stage) bool { return s.Cast })
}

// Algorithms are the ways to make a barrier.
var Algorithms = []Algorithm{
	{"shuffle", shuffle},
	{"tree2", tree(2)},
	{"tree3", tree(3)},
	{"tree4", tree(4)},
	{"concurrent", concurrent},
	{"tree2-multicast", released(tree(2))},
	{"tree3-multicast", released(tree(3))},
	{"tree4-multicast", released(tree(4))},
	{"concurrent-multicast", released(concurrent)},
	{"dissemination", dissemination(1)},
	{"dissemination3", dissemination(2)},
	{"dissemination4", dissemination(3)},
}

// Barriers are the names of Algorithms.
func Barriers() (names []string) {
	for _, a := range Algorithms {
		names = append(names, a.Name)
	}
	return names
}

func algorithmNamed(name string) (Algorithm, bool) {
	i := slices.IndexFunc(Algorithms, func(a Algorithm) bool { return a.Name == name })
	if i < 0 {
		return Algorithm{}, false
	}
	return Algorithms[i], true
}

// algorithm is that of the options, else the one that is fastest in RTL: with many members messages between switches wait for each other, and fewer stages help no more.
func (o Options) algorithm() Algorithm {
	name := o.Barrier
	switch n := len(o.Members); {
	case name != "" && name != Hardware:
	case n <= 8:
		name = "dissemination4"
	case n <= 16:
		name = "dissemination3"
	default:
		name = "shuffle"
	}
	a, _ := algorithmNamed(name)
	return a
}

// Barrier waits until all members are in it.
func (g *Group) Barrier(ctx context.Context) error { return g.do(ctx, kindBarrier, g.wait) }

func (g *Group) wait() error {
	if h := g.hardware; h != nil {
		if !h.tried {
			if err := g.prepare(); err != nil {
				return err
			}
		}
		if h.barrier != nil {
			return g.waitHardware()
		}
	}
	return g.carryOut(g.stages)
}

func (g *Group) carryOut(stages []Stage) error {
	for _, s := range stages {
		if s.Cast {
			if err := g.cast(); err != nil {
				return err
			}
			continue
		}
		for _, rank := range s.To {
			if err := g.send(rank, nil); err != nil {
				return err
			}
		}
		for _, rank := range s.From {
			if err := g.receive(rank, 0, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// shuffle is shuffle exchange: members whose ranks differ by a bit tell each other, bit by bit. Those beyond a power of two have one of the others act for them.
func shuffle(n, rank int) (stages []Stage) {
	power := powerWithin(n)
	if rank >= power {
		return []Stage{{To: []int{rank - power}, From: []int{rank - power}}}
	}
	if power+rank < n {
		stages = append(stages, Stage{From: []int{power + rank}})
	}
	for bit := 1; bit < power; bit *= 2 {
		stages = append(stages, Stage{To: []int{rank ^ bit}, From: []int{rank ^ bit}})
	}
	if power+rank < n {
		stages = append(stages, Stage{To: []int{power + rank}})
	}
	return stages
}

// powerWithin is the greatest power of two up to n.
func powerWithin(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// tree is the k-ary tree: in each phase a member of k hears from the k-1 others, which wait then for the release by the same ways.
func tree(k int) func(n, rank int) []Stage {
	return func(n, rank int) (stages []Stage) {
		var release []Stage
		for step := 1; step < n; step *= k {
			if rank/step%k != 0 {
				parent := []int{rank - rank/step%k*step}
				stages = append(stages, Stage{To: parent, From: parent})
				break
			}
			var children []int
			for child := rank + step; child < min(rank+k*step, n); child += step {
				children = append(children, child)
			}
			if children != nil {
				stages = append(stages, Stage{From: children})
				release = append(release, Stage{To: children})
			}
		}
		slices.Reverse(release)
		return append(stages, release...)
	}
}

// concurrent has all tell the first one at once, which tells all.
func concurrent(n, rank int) []Stage {
	if rank > 0 {
		return []Stage{{To: []int{0}, From: []int{0}}}
	}
	return []Stage{{From: others(n)}, {To: others(n)}}
}

// others are all members but the first.
func others(n int) (ranks []int) {
	for other := 1; other < n; other++ {
		ranks = append(ranks, other)
	}
	return ranks
}

// released has the first member release the others of a tree by a multicast.
func released(way func(n, rank int) []Stage) func(n, rank int) []Stage {
	return func(n, rank int) (stages []Stage) {
		for _, s := range way(n, rank) {
			if rank > 0 && s.To != nil { // to its parent, and then it waits for the release
				return append(stages, Stage{To: s.To}, Stage{From: []int{0}})
			}
			if s.To == nil {
				stages = append(stages, s)
			}
		}
		return append(stages, Stage{To: others(n), Cast: true})
	}
}

// dissemination sends to so many members a stage, at distances that grow so that each stage multiplies from how many a member has heard.
func dissemination(ways int) func(n, rank int) []Stage {
	return func(n, rank int) (stages []Stage) {
		for step := 1; step < n; step *= ways + 1 {
			var s Stage
			for way := 1; way <= ways && way*step < n; way++ {
				s.To = append(s.To, (rank+way*step)%n)
				s.From = append(s.From, (rank+n-way*step)%n)
			}
			stages = append(stages, s)
		}
		return stages
	}
}
