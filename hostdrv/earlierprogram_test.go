package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

// TestInheritedTrap opens an NI whose link waits for an answer to a trap that only the program before was told of.
func TestInheritedTrap(t *testing.T) { onEach(t, inheritedTrap) }

func inheritedTrap(t *testing.T, open func(*testing.T, plan) *network) {
	for _, c := range []struct {
		sent linkproto.Packet
		want hostdrv.Trap
	}{
		{linkproto.Packet{Type: linkproto.TypePage, Frame: 3, Port: 9}, hostdrv.Trap{Link: 2, Type: linkproto.TypePage, Frame: 3, Port: 9}},
		// What a CONNECT says is not told again.
		{linkproto.Packet{Type: linkproto.TypeConnect, Port: 8, Data: []byte("hello")}, hostdrv.Trap{Link: 2, Type: linkproto.TypeConnect, Port: 8, Params: []byte{}}},
	} {
		w := open(t, plan{nis: 2, cables: []modelsim.Cable{{LinkA: 1, B: 1, LinkB: 2}}})
		ctx := t.Context()
		a, before := drive(t, w, 0, &drivertest.Cable{}), drive(t, w, 1, &drivertest.Cable{})
		events := check.Must(before.Events())(t)
		check.Fatal(t, errors.Join(before.SetFrame(ctx, 3, hostdrv.FrameEntry{Link: 2}), before.WriteBuffer(ctx, []byte{0}, 3*small.PageBytes)))
		check.Fatal(t, errors.Join(a.Send(ctx, 1, c.sent), a.Write(ctx, 1, 3*small.PageBytes, []byte{7})))
		e := check.Must(events.Next(ctx))(t)
		if told, ok := e.(*hostdrv.Trap); !ok || told.Port != c.sent.Port {
			t.Fatalf("%+v", e)
		}
		check.Fatal(t, before.Close())
		b := drive(t, w, 1, &drivertest.Cable{})
		events = check.Must(b.Events())(t)
		limit, cancel := b.WithTimeout(ctx, 1e6) // 1 ms
		defer cancel()
		check.Equal(t, fmt.Sprintf("%v told again", c.sent.Type), check.Must(events.Next(limit))(t), hostdrv.Event(&c.want))
		// It is told once, and what is behind it waits for Resume.
		if e, err := events.Next(limit); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: then came %+v, %v", c.sent.Type, e, err)
		}
		have := []byte{0}
		if err := b.ReadBuffer(ctx, have, 3*small.PageBytes); err != nil || have[0] != 0 {
			t.Errorf("%v: what is behind it has passed: %d, %v", c.sent.Type, have[0], err)
		}
		check.Fatal(t, errors.Join(b.Resume(ctx, 2), a.Sync(ctx, 1)))
		for have[0] == 0 {
			check.Fatal(t, b.ReadBuffer(ctx, have, 3*small.PageBytes))
		}
		check.Equal(t, fmt.Sprintf("%v: byte of the write behind it", c.sent.Type), have[0], 7)
	}
}

// TestInheritedQueue opens an NI whose queue the program before has filled, while the peer takes nothing. The new program sends nothing before
// that has gone, and its account is right from then on.
func TestInheritedQueue(t *testing.T) { onEach(t, inheritedQueue) }

func inheritedQueue(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, plan{nis: 2, cables: []modelsim.Cable{{LinkA: 1, B: 1, LinkB: 2}}})
	ctx := t.Context()
	before, b := drive(t, w, 0, &drivertest.Cable{}), drive(t, w, 1, &drivertest.Cable{})
	// Pages 0 and 1 are for the program before, as far as it gets, page 2 is for the new one.
	want := make([]byte, 3*small.PageBytes)
	check.Fatal(t, b.WriteBuffer(ctx, want, 0))
	for frame := range 3 {
		check.Fatal(t, b.SetFrame(ctx, frame, hostdrv.FrameEntry{Link: 2}))
	}
	// A trap that nobody serves holds back what is behind it, until there is no room anywhere.
	check.Fatal(t, before.Send(ctx, 1, linkproto.Packet{Type: linkproto.TypePage, Frame: 7, Port: 9}))
	full, cancel := before.WithTimeout(ctx, 1e6) // 1 ms
	defer cancel()
	sent := byte(0)
	for sent < 255 && before.Write(full, 1, int(sent), []byte{1 + sent}) == nil {
		sent++
	}
	if full.Err() != context.DeadlineExceeded || sent == 255 {
		t.Fatalf("%d writes found room: %v", sent, full.Err())
	}
	waits := check.Go(func() error { return before.Write(ctx, 1, 0, []byte{1}) })
	for range 20 {
		check.Must(before.LinkStatus(ctx, 1))(t) // time passes, in which it finds no room
	}
	check.Fatal(t, before.Close())
	check.Fails(t, "a write that waited for room", <-waits, hostdrv.ErrClosed)
	a := drive(t, w, 0, &drivertest.Cable{})
	account := func(when string) {
		t.Helper()
		if r, err := a.Report(ctx); err != nil || r.Links[1].Packets != 0 || r.Links[1].Bytes != 0 {
			t.Errorf("the account of what it has sent, %s: %d packets, %d bytes, %v", when, r.Links[1].Packets, r.Links[1].Bytes, err)
		}
	}
	limit, cancel := a.WithTimeout(ctx, 1e6)
	defer cancel()
	check.Fails(t, "a write to a full queue", a.Write(limit, 1, 2*small.PageBytes, []byte{1}), context.DeadlineExceeded)
	account("before anything")
	check.Fatal(t, b.Resume(ctx, 2))
	for i := range small.PageBytes { // more than there is room for
		check.Fatal(t, a.Write(ctx, 1, 2*small.PageBytes+i, []byte{byte(i)}))
	}
	if err := a.Sync(ctx, 1); err != nil {
		t.Errorf("all has arrived, and %v", err)
	}
	account("when all has arrived")
	for i := range want {
		if i >= 2*small.PageBytes {
			want[i] = byte(i)
		} else if i < int(sent) {
			want[i] = byte(1 + i)
		}
	}
	have := make([]byte, len(want))
	limit, cancel = b.WithTimeout(ctx, 1e6)
	defer cancel()
	for !bytes.Equal(have, want) {
		if err := b.ReadBuffer(limit, have, 0); err != nil {
			t.Fatalf("%v: holds\n% x, want\n% x", err, have, want)
		}
	}
}

// TestInheritedLoss opens an NI that has lost what the program before had queued, and says so: that is not this program's loss, and keeps nothing
// of its own back.
func TestInheritedLoss(t *testing.T) {
	w := simulated(t, plan{nis: 2, cables: []modelsim.Cable{{LinkA: 1, B: 1, LinkB: 2}}})
	ctx := t.Context()
	before, b := drive(t, w, 0, &drivertest.Cable{}), drive(t, w, 1, &drivertest.Cable{})
	check.Fatal(t, errors.Join(b.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}), b.WriteBuffer(ctx, []byte{0}, 0)))
	awaitUp(t, before, 1)
	w.plug(t, false, w.wires[:2]...)
	check.Fatal(t, before.Write(ctx, 1, 0, []byte{1}))
	check.Must(before.LinkStatus(ctx, 1))(t) // so the write has come to the NI
	check.Fatal(t, before.Close())
	a := drive(t, w, 0, &drivertest.Cable{})
	limit, cancel := a.WithTimeout(ctx, 20e6) // 20 ms
	defer cancel()
	for linkproto.StatusLost.Of(check.Must(a.ReadRegister(limit, linkproto.LinkStatusReg(1)))(t)) == 0 {
	}
	if err := a.Sync(limit, 1); err != nil {
		t.Errorf("it has sent nothing, and lost %v", err)
	}
	w.plug(t, true, w.wires[:2]...)
	check.Error(t, errors.Join(a.Write(limit, 1, 0, []byte{3}), a.Sync(limit, 1)))
	have := []byte{0}
	for have[0] == 0 {
		check.Fatal(t, b.ReadBuffer(ctx, have, 0))
	}
	check.Equal(t, "byte written", have[0], 3)
}

// TestInheritedEpoch opens an NI with the epoch of the program before, so that the NI takes the new one for that; it finds out soon.
func TestInheritedEpoch(t *testing.T) { onEach(t, inheritedEpoch) }

func inheritedEpoch(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, plan{nis: 1})
	for i := range 3 {
		c := &drivertest.Cable{}
		w.opens = 0 // and with it the seed, which the epoch comes from
		n := drive(t, w, 0, c)
		timing := c.Timing()
		if soon := float64(timing.LinkTimeout) / 64 / timing.TicksPerSecond; n.Now().Seconds() > soon {
			t.Errorf("program %d: it took %v s to open the network interface, want %v at most", i, n.Now().Seconds(), soon)
		}
		check.Fatal(t, n.Close())
	}
}
