package collective

import (
	"context"
	"fmt"
	"math"
	"math/bits"
)

// Op combines elements of Size bytes of from into those of into, which have as many. It must be associative and commutative.
type Op struct {
	Size    int
	Combine func(into, from []byte)
}

// check says what is wrong with an operation on data.
func (op Op) check(data []byte) error {
	if op.Combine == nil || op.Size < 1 || segment%op.Size != 0 || len(data)%op.Size != 0 {
		return fmt.Errorf("%w: an operation on elements of %d bytes, on %d bytes of data: want a power of two, at most %d, and whole elements", ErrOption, op.Size, len(data), segment)
	}
	return nil
}

func (g *Group) checkRoot(root int) error {
	if root < 0 || root >= len(g.members) {
		return fmt.Errorf("%w: no member %d, there are %d", ErrOption, root, len(g.members))
	}
	return nil
}

// Ways by which data goes in Broadcast, Reduce and AllReduce, for Options.Way.
const (
	Exchange = "exchange" // AllReduce by the stages of shuffle exchange; in the others the same as Tree
	Tree     = "tree"     // a binomial tree, in AllReduce to the first member and back
	Chain    = "chain"    // from member to member, in segments that flow behind each other
)

// The limits follow from LogP: a segment takes some one and a half of its bytes' time from one member to the next, and any more behind it their own time.
const hop = segment * 3 / 2 // bytes that could flow meanwhile

// chainFrom is from how many bytes on a chain of n members is faster than a binomial tree, whose root sends each segment log2 n times.
func chainFrom(n int) int {
	stages := bits.Len(uint(n - 1))
	if stages < 2 {
		return math.MaxInt
	}
	return (n - 1 - stages) * hop / (stages - 1)
}

// chainAllFrom is from how many bytes on in AllReduce a chain there and back is faster than an exchange, in which each member sends all bytes in each stage. On a chain back a byte takes the time of
// almost four, since each member combines and passes on at once.
func chainAllFrom(n int) int {
	const passes = 4
	stages := len(shuffle(n, 0))
	if stages <= passes {
		return math.MaxInt
	}
	return 2 * (n - 1) * hop / (stages - passes)
}

// shape is the tree by which data goes, for ranks counted from the root: a member's parent, -1 for the root, and its children.
func (g *Group) shape(root, bytes int) (parent int, children []int) {
	n := len(g.members)
	me, parent := (g.rank+n-root)%n, -1
	rank := func(relative int) int { return (relative + root) % n }
	if g.way == Chain || g.way == "" && bytes > chainFrom(n) {
		if me > 0 {
			parent = rank(me - 1)
		}
		if me+1 < n {
			children = []int{rank(me + 1)}
		}
		return parent, children
	}
	for step := 1; step < n; step *= 2 {
		if me&step != 0 {
			return rank(me - step), children
		}
		if me+step < n {
			children = append([]int{rank(me + step)}, children...)
		}
	}
	return parent, children
}

// Broadcast sends the data of the root, a rank, to all members, whose data must be as long.
func (g *Group) Broadcast(ctx context.Context, root int, data []byte) error {
	if err := g.checkRoot(root); err != nil {
		return err
	}
	return g.do(ctx, kindBroadcast, func() error { return g.broadcast(root, data) }, len(data), root)
}

func (g *Group) broadcast(root int, data []byte) error {
	if g.acknowledged && root == 0 && g.way == "" {
		return g.broadcastAll(data)
	}
	parent, children := g.shape(root, len(data))
	return segments(len(data), func(from, to int) error {
		if parent >= 0 {
			if err := g.receive(parent, to-from, func(at int, part []byte) { copy(data[from+at:], part) }); err != nil {
				return err
			}
		}
		for _, child := range children {
			if err := g.send(child, data[from:to]); err != nil {
				return err
			}
		}
		return nil
	})
}

// broadcastAll sends the first member's data to all others by the multicast.
func (g *Group) broadcastAll(data []byte) error {
	return segments(len(data), func(from, to int) error {
		if g.rank == 0 {
			return g.sendTo(g.multicast, data[from:to])
		}
		return g.receive(0, to-from, func(at int, part []byte) { copy(data[from+at:], part) })
	})
}

// segments calls for each segment, and for one without bytes if there are none.
func segments(bytes int, do func(from, to int) error) error {
	for from := 0; from == 0 || from < bytes; from += segment {
		if err := do(from, min(from+segment, bytes)); err != nil {
			return err
		}
	}
	return nil
}

// Reduce combines the data of all members in the root's. That of the others is lost.
func (g *Group) Reduce(ctx context.Context, root int, data []byte, op Op) error {
	if err := g.checkRoot(root); err != nil {
		return err
	}
	if err := op.check(data); err != nil {
		return err
	}
	return g.do(ctx, kindReduce, func() error { return g.reduce(root, data, op) }, len(data), root, op.Size)
}

func (g *Group) reduce(root int, data []byte, op Op) error {
	parent, children := g.shape(root, len(data))
	return segments(len(data), func(from, to int) error {
		for i := len(children) - 1; i >= 0; i-- { // the one whose tree is smallest first
			if err := g.receive(children[i], to-from, func(at int, part []byte) { op.Combine(data[from+at:from+at+len(part)], part) }); err != nil {
				return err
			}
		}
		if parent < 0 {
			return nil
		}
		return g.send(parent, data[from:to])
	})
}

// AllReduce combines the data of all members in that of each, to the same bytes.
func (g *Group) AllReduce(ctx context.Context, data []byte, op Op) error {
	if err := op.check(data); err != nil {
		return err
	}
	return g.do(ctx, kindAllReduce, func() error {
		if g.way == Exchange || g.way == "" && len(data) <= chainAllFrom(len(g.members)) {
			return g.exchange(data, op)
		}
		if err := g.reduce(0, data, op); err != nil {
			return err
		}
		return g.broadcast(0, data)
	}, len(data), op.Size)
}

// exchange combines by the stages of shuffle exchange. A member beyond the power of two hears the whole from the one that acts for it. Two that exchange long data first tell
// each other that they have begun the stage: else those that are ahead fill the cable of one that waits for another, and what it waits for shares that with them.
func (g *Group) exchange(data []byte, op Op) error {
	n := len(g.members)
	whole := g.rank >= powerWithin(n)
	for _, s := range shuffle(n, g.rank) {
		if len(data) > segment && !whole && len(s.To) == len(s.From) {
			if err := g.carryOut([]Stage{s}); err != nil {
				return err
			}
		}
		for _, rank := range s.To {
			if err := g.send(rank, data); err != nil {
				return err
			}
		}
		for _, rank := range s.From {
			err := g.receive(rank, len(data), func(at int, part []byte) {
				if whole {
					copy(data[at:], part)
				} else {
					op.Combine(data[at:at+len(part)], part)
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
