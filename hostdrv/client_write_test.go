package hostdrv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestClientWritesKeepTheirOrder has a client write numbers to two ports in turn, many underway at once: the frame written second never holds a
// later one, and at the end both pages hold the last. It looks at the frames: pages follow them one by one, each at its time.
func TestClientWritesKeepTheirOrder(t *testing.T) {
	a, b, _ := startPair(t, models, 0, 0)
	client, ctx := share(t, a), t.Context()
	var send, receive [2]*hostdrv.Window
	for i := range send {
		send[i], receive[i] = drivertest.Channel(t, client, b, 1, "")
	}
	const last = 20_000
	written := check.Go(func() error {
		for n := uint32(1); n <= last; n++ {
			if err := errors.Join(send[0].StoreUint32(ctx, 8, n), send[1].StoreUint32(ctx, 4, n)); err != nil {
				return err
			}
		}
		return errors.Join(send[0].Sync(ctx), send[1].Sync(ctx))
	})
	offset := [2]int{8, 4}
	holds := func(i int, what func(uint32) bool) {
		t.Helper()
		check.Fatal(t, receive[i].Wait(ctx, func(page []byte) bool { return what(binary.LittleEndian.Uint32(page[offset[i]:])) }))
	}
	var at [2]int // the numbers' addresses
	for i, w := range receive {
		holds(i, func(n uint32) bool { return n > 0 }) // so it has a frame, and keeps that
		for _, p := range b.Tables().Ports {
			if p.Port == w.Port().ID() {
				at[i] = p.Frame*small.PageBytes + offset[i]
			}
		}
	}
	for seen := uint32(0); seen < last; {
		var raw [2][4]byte
		look := b.NI().Batch()
		look.ReadBuffer(raw[1][:], at[1])
		look.ReadBuffer(raw[0][:], at[0])
		check.Fatal(t, look.Run(ctx))
		first, second := binary.LittleEndian.Uint32(raw[0][:]), binary.LittleEndian.Uint32(raw[1][:])
		if first < second || second < seen {
			t.Fatalf("%d has come before %d, after %d", second, first, seen)
		}
		seen = second
	}
	for i := range receive {
		holds(i, func(n uint32) bool { return n == last })
	}
	check.Error(t, <-written)
}

// TestClientWritesAndLosses pulls the cable between the nodes at random moments while a client writes: what Sync has acknowledged is there, and
// nothing that was written behind a write which failed.
func TestClientWritesAndLosses(t *testing.T) {
	losses := 0
	for seed := range uint64(2) {
		a, b, w := startPair(t, simulated, 0, 0)
		client, ctx := share(t, a), t.Context()
		send, receive := drivertest.Channel(t, client, b, 1, "")
		rng := rand.New(rand.NewPCG(seed, 41))
		next := uint32(0)
		failed := func(err error) bool {
			if drivertest.IsLoss(err) {
				losses++
			} else if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return err != nil
		}
		write := func(n int) (all bool) { // reports on the last ones
			for range n {
				next++
				all = !failed(send.StoreUint32(ctx, 0, next)) && !failed(send.StoreUint32(ctx, 8, next))
			}
			return all
		}
		for round := range 4 {
			write(rng.IntN(40))
			w.plug(t, false, w.wires[:2]...)
			write(40 + rng.IntN(40))                                                              // more than there is room for
			limit, cancel := client.WithTimeout(ctx, time.Duration(rng.IntN(3))*time.Millisecond) // a link that is down is given up after 1 ms
			failed(send.Flush(limit))
			cancel()
			w.plug(t, true, w.wires[:2]...)
			all := write(1 + rng.IntN(40))
			synced := !failed(send.Sync(ctx))
			var first, second uint32
			limit, cancel = b.WithTimeout(ctx, time.Millisecond)
			err := receive.Wait(limit, func(page []byte) bool {
				first, second = binary.LittleEndian.Uint32(page), binary.LittleEndian.Uint32(page[8:])
				// What is read while it is written may show the second word of a pair before the first; the next NOTIFY shows both.
				return first > next || first == next && second == next
			})
			cancel()
			if first < second || first > next || synced && all && err != nil {
				t.Fatalf("seed %d, round %d: the page holds %d and %d, of %d; all of that acknowledged: %t (%v)", seed, round, first, second, next, synced && all, err)
			}
		}
	}
	if losses == 0 {
		t.Error("nothing was lost")
	}
}

// TestStalledLink has a client write by a link whose peer takes no more: its own writes wait there, and nothing else does.
func TestStalledLink(t *testing.T) {
	a, b, _ := startPair(t, models, 0, 0)
	client, ctx := share(t, a), t.Context()
	var stalled []*hostdrv.Window
	for range small.Frames { // more than the link has
		w, _ := drivertest.Channel(t, client, b, 1, "")
		stalled = append(stalled, w)
	}
	other, _ := drivertest.Channel(t, client, b, 2, "")
	for _, w := range append(stalled, other) {
		check.Fatal(t, errors.Join(w.WritePage(ctx, []byte{1}, 0), w.Sync(ctx)))
	}
	check.Fatal(t, b.Close()) // its NI goes on, but nobody serves its traps
	until := func(use func(context.Context) error) {
		t.Helper()
		limit, cancel := client.WithTimeout(ctx, 100*time.Microsecond)
		defer cancel()
		var err error
		for err == nil {
			err = use(limit)
		}
		check.Fails(t, "write", err, context.DeadlineExceeded)
	}
	until(func(ctx context.Context) error { return stalled[0].WritePage(ctx, make([]byte, 100), 0) })
	until(stalled[0].Flush)
	until(stalled[1].Sync)
	check.Error(t, errors.Join(other.WritePage(ctx, []byte{2}, 0), other.Sync(ctx), other.Port().Delete(), stalled[0].Port().Delete()))
	check.Error(t, client.Close())
	for len(a.Tables().Ports) > 0 { // which the server clears away
		check.Must(a.Report(ctx))(t)
	}
}
