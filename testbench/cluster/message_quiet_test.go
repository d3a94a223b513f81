package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestQuietSends: a send that is quiet wakes nobody, unless it fails; it comes with the next one that does, in its order.
func TestQuietSends(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, nis []*hostdrv.NI) func(int) *hostdrv.Node{
		"own": func(t *testing.T, nis []*hostdrv.NI) func(int) *hostdrv.Node {
			return func(i int) *hostdrv.Node {
				return check.Must(hostdrv.Start(t.Context(), nis[i], hostdrv.NodeOptions{NoPorts: true}))(t)
			}
		},
		"served": served,
	} {
		t.Run(name, func(t *testing.T) {
			w, nis := programs(t, 2, cluster.Model)
			connect := open(t, nis)
			ctx, node := t.Context(), connect(0)
			a := check.Must(message.Open(ctx, node, 5, message.Options{Patience: 20 * time.Millisecond}))(t)
			b := check.Must(message.Open(ctx, connect(1), 5, message.Options{Patience: 20 * time.Millisecond}))(t)
			for range 3 {
				check.Fatal(t, b.PostReceive(message.Receive{Data: make([]byte, 8)}))
			}
			send := func(cookie uint64, quiet bool) {
				check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Cookie: cookie, Quiet: quiet}))
			}
			want := func(cookie uint64) {
				t.Helper()
				if c := check.Must(a.Wait(ctx))(t); c.Cookie != cookie || c.Err != nil {
					t.Errorf("completion %d, %v, want that of %d", c.Cookie, c.Err, cookie)
				}
			}
			send(1, false) // which brings the virtual link up
			want(1)
			send(2, true)
			limit, cancel := node.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			c, err := a.Wait(limit)
			if limit.Err() == nil {
				t.Errorf("a quiet send woke: %d, %v", c.Cookie, err)
			}
			if s := check.Must(a.Stats())(t); s.Sent != 2 {
				t.Errorf("%d messages were acknowledged, want 2", s.Sent)
			}
			send(3, false)
			if err != nil { // else the end of the wait found it
				want(2)
			}
			want(3)
			check.Fatal(t, b.Close())
			send(4, true)
			if c := check.Must(a.Wait(ctx))(t); c.Cookie != 4 || !errors.Is(c.Err, message.ErrPeer) {
				t.Errorf("completion %d, %v, want that of 4, which fails", c.Cookie, c.Err)
			}
		})
	}
}

// TestBurstWakesOnce: who waits for messages that come one right after the other is told of several at a time, and of a single one at once.
func TestBurstWakesOnce(t *testing.T) {
	w, nis := programs(t, 2, cluster.Model)
	connect := served(t, nis)
	ctx, near, far := t.Context(), connect(0), connect(1)
	o := message.Options{Patience: 20 * time.Millisecond, Longest: 1000}
	a, b := check.Must(message.Open(ctx, near, 5, o))(t), check.Must(message.Open(ctx, far, 5, o))(t)
	const burst = 8
	exchange := func(messages int) (ready int) {
		for range messages {
			check.Fatal(t, b.PostReceive(message.Receive{Data: make([]byte, 1000)}))
		}
		for range messages {
			check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 1000), Quiet: true}))
		}
		check.Must(b.Wait(ctx))(t)
		var c message.Completion
		for ready = 1; check.Must(b.Poll(&c))(t); ready++ {
		}
		for left := messages - ready; left > 0; left-- {
			check.Must(b.Wait(ctx))(t)
		}
		return ready
	}
	check.Equal(t, "messages of one", exchange(1), 1)
	if ready := exchange(burst); ready < burst/2 {
		t.Errorf("of %d messages in a row %d had come when the first was told of", burst, ready)
	}
}
