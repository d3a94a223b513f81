package collective_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/check"
)

// TestStages: by any algorithm, and for any number of members, each has heard of all others when it is through, every message is waited for, and nobody waits for ever.
func TestStages(t *testing.T) {
	for _, a := range collective.Algorithms {
		for n := 1; n <= 70; n++ {
			if err := carryOut(a, n); err != nil {
				t.Errorf("%s, %d members: %v", a.Name, n, err)
			}
		}
	}
}

// carryOut carries out the stages of all members.
func carryOut(a collective.Algorithm, n int) error {
	type member struct {
		stages []collective.Stage
		sent   bool // in the first one
		knows  map[int]bool
	}
	all := make([]member, n)
	underway := map[[2]int][]map[int]bool{}
	for i := range all {
		all[i] = member{stages: a.Stages(n, i), knows: map[int]bool{i: true}}
	}
	for moved := true; moved; {
		moved = false
		for i := range all {
			m := &all[i]
			if len(m.stages) == 0 {
				continue
			}
			s := &m.stages[0]
			if !m.sent {
				for _, to := range s.To {
					copied := map[int]bool{}
					for k := range m.knows {
						copied[k] = true
					}
					underway[[2]int{i, to}] = append(underway[[2]int{i, to}], copied)
				}
				m.sent, moved = true, true
			}
			for len(s.From) > 0 && len(underway[[2]int{s.From[0], i}]) > 0 {
				pair := [2]int{s.From[0], i}
				for k := range underway[pair][0] {
					m.knows[k] = true
				}
				underway[pair], s.From, moved = underway[pair][1:], s.From[1:], true
			}
			if len(s.From) == 0 {
				m.stages, m.sent, moved = m.stages[1:], false, true
			}
		}
	}
	for i, m := range all {
		if len(m.stages) > 0 || len(m.knows) != n {
			return fmt.Errorf("member %d has %d stages left and knows of %d", i, len(m.stages), len(m.knows))
		}
	}
	for pair, left := range underway {
		if len(left) > 0 {
			return fmt.Errorf("nobody waits for a message of %d to %d", pair[0], pair[1])
		}
	}
	return nil
}

// TestBarriers: nobody leaves a barrier before all are in it, in whatever order messages come.
func TestBarriers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "members")
		o := collective.Options{Barrier: rapid.SampledFrom(append(collective.Barriers(), "")).Draw(t, "algorithm")}
		f := newFake(n, rapid.Uint64().Draw(t, "seed"))
		o.Acknowledged = rapid.Bool().Draw(t, "multicasts are acknowledged")
		f.lossy = !o.Acknowledged && rapid.Bool().Draw(t, "multicasts get lost")
		groups := join(t, f, o)
		var entered atomic.Int64
		for rank, err := range each(groups, func(g *collective.Group) error {
			for round := range 4 {
				entered.Add(1)
				if err := g.Barrier(context.Background()); err != nil {
					return err
				}
				if in := entered.Load(); in < int64((round+1)*n) {
					return fmt.Errorf("it has left barrier %d with %d of %d in it", round, in, (round+1)*n)
				}
				data := []byte{byte(round)}
				if g.Rank() > 0 {
					data[0] = 99
				}
				if err := g.Broadcast(context.Background(), 0, data); err != nil {
					return err
				}
				if data[0] != byte(round) {
					return fmt.Errorf("broadcast %d brings %d", round, data[0])
				}
			}
			return g.Close(context.Background())
		}) {
			if err != nil {
				t.Fatalf("member %d: %v", rank, err)
			}
		}
	})
}

// TestMemberDies: a member that dies outside or within a barrier is named at all others.
func TestMemberDies(t *testing.T) {
	for _, name := range collective.Barriers() {
		for _, n := range []int{2, 5, 32} {
			f := newFake(n, 3)
			groups := join(t, f, collective.Options{Barrier: name})
			dead := n / 2
			errs := each(groups, func(g *collective.Group) error {
				if err := g.Barrier(context.Background()); err != nil {
					return fmt.Errorf("the first: %w", err)
				}
				if g.Rank() == dead {
					return f.ends[dead].Close()
				}
				return g.Barrier(context.Background())
			})
			for rank, err := range errs {
				member, is := errors.AsType[*collective.MemberError](err)
				if rank != dead && (!is || int(member.Node) != dead+1) {
					t.Errorf("%s, member %d of %d: %v", name, rank, n, err)
				}
			}
			if f.now > 2*time.Second {
				t.Errorf("%s of %d: it took %v", name, n, f.now)
			}
		}
	}
}

// TestMemberSilent: a member that is there and makes no call is named at all others within Options.Silence and two patiences, whomever else they wait for, and hears of it in its next
// call. One that is only late is not.
func TestMemberSilent(t *testing.T) {
	const silence, patience = 4 * time.Second, time.Second
	for _, name := range collective.Barriers() {
		for _, n := range []int{2, 13} {
			for first, call := range map[string]func(g *collective.Group) error{
				"barrier": func(g *collective.Group) error { return g.Barrier(context.Background()) },
				"broadcast": func(g *collective.Group) error {
					if err := g.Broadcast(context.Background(), 0, make([]byte, 9)); err != nil {
						return err
					}
					return g.Barrier(context.Background())
				},
			} {
				f := newFake(n, 3)
				groups := join(t, f, collective.Options{Barrier: name, Silence: silence, Patience: patience})
				silent := n / 2
				var others sync.WaitGroup
				others.Add(n - 1)
				var late, took time.Duration
				errs := each(groups, func(g *collective.Group) error {
					end := f.ends[g.Rank()]
					if g.Rank() != silent {
						defer others.Done()
						defer end.be(true)
					} else { // late by less than the silence, which harms nobody
						end.pause(silence - patience)
					}
					if err := g.Barrier(context.Background()); err != nil {
						return errors.New("in the first: " + err.Error())
					}
					if g.Rank() == silent {
						late = f.time()
						end.be(true)
						others.Wait()
						took = f.time() - late
						end.be(false)
						if err := call(g); err != nil { // else it had only to hear of this one
							return err
						}
					}
					return call(g)
				})
				for rank, err := range errs {
					check.Fails(t, fmt.Sprintf("%s, %s, member %d of %d", name, first, rank, n), err, collective.ErrMember, fmt.Sprintf("node %d: it is there and has not entered", silent+1))
				}
				if took < silence || took > silence+2*patience {
					t.Errorf("%s, %s of %d: it took %v", name, first, n, took)
				}
			}
		}
	}
}

// TestOvertaken: members that have lost a release wait for it also if the first one has made calls since, and does something else now. One that has made another call in place of the barrier is told so.
func TestOvertaken(t *testing.T) {
	for seed := range uint64(20) {
		f := newFake(4, seed)
		f.lossy = true
		failed := make(chan struct{})
		fail := sync.OnceFunc(func() { close(failed) })
		each(join(t, f, collective.Options{Barrier: "tree2-multicast", Patience: time.Second}), func(g *collective.Group) (err error) {
			defer func() {
				if err != nil {
					t.Errorf("seed %d, member %d: %v", seed, g.Rank(), err)
					f.ends[g.Rank()].Close() // nobody waits for it
					fail()
				}
			}()
			for range 3 {
				if err := g.Barrier(ctx()); err != nil {
					return err
				}
				if err := g.Broadcast(ctx(), 0, make([]byte, 1)); err != nil {
					return err
				}
				if g.Rank() == 0 {
					over := make(chan struct{})
					go func() {
						f.ends[0].pause(5 * time.Second)
						close(over)
					}()
					select {
					case <-over:
					case <-failed:
					}
				}
			}
			return g.Close(ctx())
		})
	}
	for _, err := range each(join(t, newFake(3, 1), collective.Options{Barrier: "concurrent-multicast"}), func(g *collective.Group) error {
		if g.Rank() == 1 {
			return g.Barrier(ctx())
		}
		if err := g.Gather(ctx(), 2, nil, nil); err != nil {
			return err
		}
		for _, root := range []int{0, 2} {
			if err := g.Broadcast(ctx(), root, make([]byte, 1)); err != nil {
				return err
			}
		}
		return nil
	}) {
		check.Fails(t, "another call", err, collective.ErrMember, "node 1: its call 2 is broadcast, that of node 2 is call 1, barrier")
	}
}

// TestProbeAgain: a member that has died is named also if there was no descriptor left to ask it at first.
func TestProbeAgain(t *testing.T) {
	f := newFake(2, 1)
	groups := join(t, f, collective.Options{Barrier: "concurrent", Patience: time.Second})
	f.ends[0].refuses = 1
	check.Error(t, f.ends[1].Close())
	check.Fails(t, "barrier", groups[0].Barrier(ctx()), collective.ErrMember, "node 2: it does not answer")
	if f.now > 3*time.Second {
		t.Errorf("it took %v", f.now)
	}
}

// TestCloseTogether: members that have given up, and have as much underway to each other as there is room for, can all close.
func TestCloseTogether(t *testing.T) {
	f := newFake(2, 1)
	ended, cancel := context.WithCancel(ctx())
	cancel()
	var given sync.WaitGroup
	given.Add(2)
	want(t, "close", each(join(t, f, collective.Options{}), func(g *collective.Group) error {
		check.Fails(t, "a call", g.AllToAll(ended, make([]byte, 2<<20), make([]byte, 2<<20)), context.Canceled)
		given.Done()
		given.Wait()
		limit, cancel := f.ends[g.Rank()].WithTimeout(ctx(), time.Second)
		defer cancel()
		return g.Close(limit)
	}))
}

// TestGivesUp: a member whose context ends is named at all others, and no call works any more. Others may still end the barrier of which it had only to hear.
func TestGivesUp(t *testing.T) {
	f := newFake(5, 1)
	groups := join(t, f, collective.Options{})
	for rank, err := range each(groups, func(g *collective.Group) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if g.Rank() == 2 {
			cancel()
		}
		err := g.Barrier(ctx)
		if g.Rank() != 2 && err == nil {
			err = g.Barrier(ctx)
		}
		return err
	}) {
		if rank == 2 {
			check.Fails(t, "the one that gives up", err, context.Canceled, "barrier 1 of 5 members", "waiting for node")
			continue
		}
		check.Fails(t, "another one", err, collective.ErrMember, "node 3: it gave up")
	}
	check.Fails(t, "another call", groups[0].Barrier(context.Background()), collective.ErrMember, "node 3")
	check.Fatal(t, groups[0].Close(context.Background()))
	check.Fails(t, "a closed group", groups[0].Barrier(context.Background()), hostdrv.ErrClosed)
}

// TestDisagree: members that make different calls are told so.
func TestDisagree(t *testing.T) {
	for _, test := range []struct {
		name  string
		other func(g *collective.Group) error
		text  string
	}{
		{"another call", func(g *collective.Group) error { return g.AllGather(context.Background(), nil, nil) }, "is"},
		{"another length", func(g *collective.Group) error {
			return g.AllToAll(context.Background(), make([]byte, 6), make([]byte, 6))
		}, "has other members, lengths, root or algorithm"},
	} {
		groups := join(t, newFake(3, 1), collective.Options{})
		for _, err := range each(groups, func(g *collective.Group) error {
			if g.Rank() == 1 {
				return test.other(g)
			}
			return g.AllToAll(context.Background(), make([]byte, 3), make([]byte, 3))
		}) {
			check.Fails(t, test.name, err, collective.ErrMember, test.text)
		}
	}
}

// TestOptions refuses what is no group.
func TestOptions(t *testing.T) {
	for _, test := range []struct {
		o    collective.Options
		text string
	}{
		{collective.Options{Members: []uint16{2, 3}}, "node 1 is no member"},
		{collective.Options{Members: []uint16{1, 2, 2}}, "node 2 among"},
		{collective.Options{Members: []uint16{1, 0}}, "node 0 among"},
		{collective.Options{Members: []uint16{1}, Barrier: "magic"}, `no barrier "magic"`},
		{collective.Options{Members: []uint16{1}, Barrier: "tree2-multicast"}, "want a group's address"},
		{collective.Options{Members: []uint16{1}, Way: "magic"}, `no way "magic"`},
		{collective.Options{Members: []uint16{1}, Patience: -1}, "a patience of"},
	} {
		check.Fails(t, test.text, check.Err(collective.Over(newFake(1, 1).ends[0], 1, test.o)), collective.ErrOption, test.text)
	}
	check.Fails(t, "a zero group", new(collective.Group).Barrier(t.Context()), collective.ErrOption, "Open")
}
