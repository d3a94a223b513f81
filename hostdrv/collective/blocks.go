package collective

import (
	"context"
	"fmt"
)

// checkBlocks says what is wrong with the length of data that has a block of each member.
func (g *Group) checkBlocks(data []byte, block int) error {
	if len(data) != block*len(g.members) {
		return fmt.Errorf("%w: room for %d bytes, want %d members times %d", ErrOption, len(data), len(g.members), block)
	}
	return nil
}

// Gather puts the data of all members behind each other by rank into those of the root. Nobody else's all is looked at.
func (g *Group) Gather(ctx context.Context, root int, own, all []byte) error {
	if err := g.checkRoot(root); err != nil {
		return err
	}
	if g.rank == root {
		if err := g.checkBlocks(all, len(own)); err != nil {
			return err
		}
		copy(all[root*len(own):], own)
	}
	return g.do(ctx, kindGather, func() error {
		if g.rank != root {
			return g.send(root, own)
		}
		for rank := range g.members {
			if rank != root {
				if err := g.into(rank, all[rank*len(own):(rank+1)*len(own)]); err != nil {
					return err
				}
			}
		}
		return nil
	}, len(own), root)
}

// into receives a member's data.
func (g *Group) into(rank int, data []byte) error {
	return g.receive(rank, len(data), func(at int, part []byte) { copy(data[at:], part) })
}

// AllGather puts the data of all members behind each other by rank, at all of them: each sends on to the next one what came from the one before.
func (g *Group) AllGather(ctx context.Context, own, all []byte) error {
	if err := g.checkBlocks(all, len(own)); err != nil {
		return err
	}
	n := len(g.members)
	copy(all[g.rank*len(own):], own)
	block := func(rank int) []byte { return all[rank%n*len(own):][:len(own)] }
	return g.do(ctx, kindAllGather, func() error {
		for i := range n - 1 {
			if err := g.send((g.rank+1)%n, block(g.rank+n-i)); err != nil {
				return err
			}
			if err := g.into((g.rank+n-1)%n, block(g.rank+n-i-1)); err != nil {
				return err
			}
		}
		return nil
	}, len(own))
}

// AllToAll sends each member its block of out, by rank, and puts what they send into in. In each step members send to those that are so far behind them.
func (g *Group) AllToAll(ctx context.Context, out, in []byte) error {
	n := len(g.members)
	if len(out) != len(in) {
		return fmt.Errorf("%w: %d bytes to send, and room for %d", ErrOption, len(out), len(in))
	}
	size := len(out) / max(n, 1)
	if err := g.checkBlocks(out, size); err != nil {
		return err
	}
	copy(in[g.rank*size:][:size], out[g.rank*size:])
	return g.do(ctx, kindAllToAll, func() error {
		for i := 1; i < n; i++ {
			to, from := (g.rank+i)%n, (g.rank+n-i)%n
			if err := g.send(to, out[to*size:][:size]); err != nil {
				return err
			}
			if err := g.into(from, in[from*size:][:size]); err != nil {
				return err
			}
		}
		return nil
	}, size)
}
