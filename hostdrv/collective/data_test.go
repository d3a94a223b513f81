package collective_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/check"
)

// sum adds numbers of 64 bits.
var sum = collective.Op{Size: 8, Combine: func(into, from []byte) {
	for i := 0; i < len(into); i += 8 {
		binary.LittleEndian.PutUint64(into[i:], binary.LittleEndian.Uint64(into[i:])+binary.LittleEndian.Uint64(from[i:]))
	}
}}

// TestData makes calls of all kinds one after the other, and compares what each member has then with what one that has everything computes.
func TestData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 8, 13, 70}).Draw(t, "members")
		f := newFake(n, rapid.Uint64().Draw(t, "seed"))
		way := rapid.SampledFrom([]string{"", collective.Exchange, collective.Tree, collective.Chain}).Draw(t, "way")
		groups := join(t, f, collective.Options{Way: way})
		type step struct{ kind, root, size int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			size := rapid.SampledFrom([]int{0, 8, 64, 4096, 4104, 70000, 8 * 1024}).Draw(t, "size")
			if n > 5 {
				size = min(size, 4104)
			}
			if n > 13 {
				size = min(size, 64)
			}
			return step{rapid.IntRange(0, 5).Draw(t, "kind"), rapid.IntRange(0, n-1).Draw(t, "root"), size}
		}), 1, 6).Draw(t, "steps")
		data := func(i, rank, size int) []byte {
			return bytes.Repeat([]byte{byte(i), byte(rank), 3, 4, 5, byte(i * rank), 7, 1}, size/8)
		}
		for rank, err := range each(groups, func(g *collective.Group) error {
			for i, s := range steps {
				own, all := data(i, g.Rank(), s.size), make([]byte, n*s.size)
				total, blocks := make([]byte, s.size), []byte(nil)
				for rank := range n {
					sum.Combine(total, data(i, rank, s.size))
					blocks = append(blocks, data(i, rank, s.size)...)
				}
				ctx := context.Background()
				var err error
				have, expected := own, total
				switch s.kind {
				case 0:
					err, expected = g.Broadcast(ctx, s.root, own), data(i, s.root, s.size)
				case 1:
					err = g.Reduce(ctx, s.root, own, sum)
				case 2:
					err = g.AllReduce(ctx, own, sum)
				case 3:
					err, have, expected = g.Gather(ctx, s.root, own, all), all, blocks
				case 4:
					err, have, expected = g.AllGather(ctx, own, all), all, blocks
				case 5:
					out := bytes.Repeat(own, n)
					err, have, expected = g.AllToAll(ctx, out, all), all, blocks
				}
				if err != nil {
					return err
				}
				if everywhere := s.kind != 1 && s.kind != 3; (everywhere || g.Rank() == s.root) && !slices.Equal(have, expected) {
					check.Error(t, f.ends[g.Rank()].Close()) // nobody waits for it
					return fmt.Errorf("wrong after step %d, %+v", i, s)
				}
			}
			return g.Close(ctx())
		}) {
			if err != nil {
				t.Fatalf("member %d: %v", rank, err)
			}
		}
	})
}

func ctx() context.Context { return context.Background() }

// TestBlocks: all-to-all sends each block to the member that it is for.
func TestBlocks(t *testing.T) {
	const n = 7
	groups := join(t, newFake(n, 1), collective.Options{})
	want(t, "alltoall", each(groups, func(g *collective.Group) error {
		out, in, expected := make([]byte, n), make([]byte, n), make([]byte, n)
		for i := range n {
			out[i], expected[i] = byte(10*g.Rank()+i), byte(10*i+g.Rank())
		}
		err := g.AllToAll(ctx(), out, in)
		if err == nil && !bytes.Equal(in, expected) {
			err = fmt.Errorf("%v, want %v", in, expected)
		}
		return err
	}))
}

// TestAhead: a root that makes calls while the others are elsewhere waits for them in the end, so that what it sends fits in their memory.
func TestAhead(t *testing.T) {
	f := newFake(2, 1)
	groups := join(t, f, collective.Options{})
	var calls atomic.Int64
	want(t, "broadcasts", each(groups, func(g *collective.Group) error {
		for i := range 1000 {
			if g.Rank() == 0 {
				calls.Store(int64(i))
			} else if ahead := calls.Load() - int64(i); ahead > 100 {
				return fmt.Errorf("the root is ahead by %d calls", ahead)
			}
			if err := g.Broadcast(ctx(), 0, make([]byte, 1)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestBadData refuses what no call can do.
func TestBadData(t *testing.T) {
	g := join(t, newFake(2, 1), collective.Options{})[0]
	for text, err := range map[string]error{
		"no member 2":         g.Broadcast(ctx(), 2, nil),
		"no member -1":        g.Gather(ctx(), -1, nil, nil),
		"want 2 members":      g.AllGather(ctx(), make([]byte, 4), make([]byte, 4)),
		"6 bytes to send":     g.AllToAll(ctx(), make([]byte, 6), make([]byte, 4)),
		"elements of 8 bytes": g.AllReduce(ctx(), make([]byte, 4), sum),
	} {
		check.Fails(t, text, err, collective.ErrOption, text)
	}
}
