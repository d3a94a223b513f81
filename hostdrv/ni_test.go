package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

func TestRegistersAndBuffer(t *testing.T) { onEach(t, registersAndBuffer) }

func registersAndBuffer(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, loop)
	n, ctx := drive(t, w, 0, &drivertest.Cable{}), t.Context()
	id := n.Identity()
	if id.Links != small.Links || id.Frames != small.Frames || id.PageBytes != small.PageBytes || id.ReplayBytes != small.ReplayBytes ||
		!id.Has(linkproto.FeaturePaging) || !id.Has(linkproto.FeatureNotify) {
		t.Errorf("identity %+v", id)
	}
	check.Error(t, n.WriteRegister(ctx, linkproto.RegScratch, 0xC0FFEE))
	check.Equal(t, "scratch", check.Must(n.ReadRegister(ctx, linkproto.RegScratch))(t), 0xC0FFEE)
	// More requests than there are tags, across pages, answered in order.
	want := make([]byte, id.BufferBytes())
	for i := range want {
		want[i] = byte(i * 7)
	}
	b := n.Batch()
	have := make([]byte, len(want))
	for i := 0; i < len(want); i += 2 {
		b.WriteBuffer(want[i:i+2], i)
	}
	b.ReadBuffer(have, 0)
	if err := b.Run(ctx); err != nil || !bytes.Equal(have, want) {
		t.Errorf("the buffer holds % x, %v", have, err)
	}
	for frame, e := range map[int]hostdrv.FrameEntry{0: {Link: 1}, 7: {Link: 2}, 3: {}} {
		check.Error(t, n.SetFrame(ctx, frame, e))
		check.Equal(t, fmt.Sprintf("frame %d", frame), check.Must(n.Frame(ctx, frame))(t), e)
	}
	var refused *hostdrv.RefusedError
	if err := n.WriteRegister(ctx, linkproto.RegMagic, 1); !errors.As(err, &refused) || refused.Status != linkproto.StatusBadAddress {
		t.Errorf("a write of MAGIC: %v", err)
	}
	if err := n.Resume(ctx, 1); !errors.As(err, &refused) || refused.Status != linkproto.StatusNotTrapped {
		t.Errorf("RESUME without a trap: %v", err)
	}
	for name, err := range map[string]error{
		"read past the end":  n.ReadBuffer(ctx, make([]byte, 2), id.BufferBytes()-1),
		"negative address":   n.WriteBuffer(ctx, nil, -1),
		"no such frame":      n.SetFrame(ctx, id.Frames, hostdrv.FrameEntry{}),
		"frame to no link":   n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 3}),
		"write by link 0":    n.Write(ctx, 0, 0, nil),
		"write by link 3":    n.Write(ctx, 3, 0, nil),
		"write far away":     n.Write(ctx, 1, 1<<32, []byte{1}),
		"a request by link":  n.Send(ctx, 1, linkproto.Packet{Type: linkproto.TypeRegRead}),
		"a packet too long":  n.Send(ctx, 1, linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 130)}),
		"too many params":    n.Send(ctx, 1, linkproto.Packet{Type: linkproto.TypeConnect, Data: make([]byte, 65)}),
		"sync of link 3":     n.Sync(ctx, 3),
		"resume of no link":  n.Resume(ctx, 0),
		"second event queue": twice(n),
	} {
		check.Fails(t, name, err, nil)
	}
}

func twice(n *hostdrv.NI) error {
	if _, err := n.Events(); err != nil {
		return nil
	}
	_, err := n.Events()
	return err
}

func TestEvents(t *testing.T) { onEach(t, events) }

func events(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, loop)
	n, ctx := drive(t, w, 0, &drivertest.Cable{}), t.Context()
	events := check.Must(n.Events())(t)
	check.Fatal(t, errors.Join(n.SetNotify(ctx, true), n.SetFrame(ctx, 2, hostdrv.FrameEntry{Link: 2})))
	connect := linkproto.Packet{Type: linkproto.TypeConnect, Port: 77, Data: []byte("hello")}
	page := linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 5}
	check.Fatal(t, errors.Join(n.Send(ctx, 1, connect), n.Send(ctx, 1, page), n.Write(ctx, 1, 2*128+9, []byte("data"))))
	ev, err := events.Next(ctx)
	if trap, ok := ev.(*hostdrv.Trap); !ok || trap.Link != 2 || trap.Type != linkproto.TypeConnect || trap.Port != 77 || string(trap.Params) != "hello" {
		t.Fatalf("%+v, %v", ev, err)
	}
	if s, err := n.LinkStatus(ctx, 2); err != nil || !s.Trapped || !s.Up {
		t.Errorf("%+v, %v", s, err)
	}
	check.Fatal(t, n.Resume(ctx, 2))
	ev, err = events.Next(ctx)
	if trap, ok := ev.(*hostdrv.Trap); !ok || trap.Type != linkproto.TypePage || trap.Frame != 2 || trap.Port != 5 {
		t.Fatalf("%+v, %v", ev, err)
	}
	check.Fatal(t, n.Resume(ctx, 2))
	check.Equal(t, "event", check.Must(events.Next(ctx))(t), hostdrv.Event(hostdrv.Notify{Frame: 2, First: 9, Last: 12}))
	// Notifications that nobody fetches are merged.
	for i := range 20 {
		check.Fatal(t, n.Write(ctx, 1, 2*128+20+i, []byte{1}))
	}
	check.Fatal(t, n.Sync(ctx, 1))
	for have := make([]byte, 1); have[0] == 0; {
		check.Fatal(t, n.ReadBuffer(ctx, have, 2*128+39))
	}
	for range 20 {
		check.Must(n.LinkStatus(ctx, 0))(t) // the last NOTIFY is there by then
	}
	check.Equal(t, "event", check.Must(events.Next(ctx))(t), hostdrv.Event(hostdrv.Notify{Frame: 2, First: 20, Last: 39}))
}

// TestWriters lets several goroutines write by both links at once, over cables with bit errors, and wants every byte and the accounts
// right.
func TestWriters(t *testing.T) { onEach(t, writers) }

func writers(t *testing.T, open func(*testing.T, plan) *network) {
	faulty := loop
	faulty.latency, faulty.errors = 20, 1e-5
	w := open(t, faulty)
	n, ctx := drive(t, w, 0, &drivertest.Cable{RNG: rand.New(rand.NewPCG(1, 2)), Rate: 3e-5}), t.Context()
	b := n.Batch()
	b.WriteBuffer(make([]byte, n.Identity().BufferBytes()), 0)
	for frame := range small.Frames {
		b.SetFrame(frame, hostdrv.FrameEntry{Link: 1 + frame%2})
	}
	check.Fatal(t, b.Run(ctx))
	want := make([][]byte, small.Frames)
	var writers sync.WaitGroup
	for frame := range want {
		want[frame] = make([]byte, small.PageBytes)
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(frame)))
			link := 2 - frame%2 // the other end of the frame's
			for range 60 {
				at := rng.IntN(small.PageBytes)
				data := drivertest.Random(rng, want[frame][at:at+rng.IntN(small.PageBytes-at+1)])
				check.Error(t, n.Write(ctx, link, frame*small.PageBytes+at, data))
			}
			check.Error(t, n.Sync(ctx, link))
		})
	}
	writers.Wait()
	// What has been acknowledged may still be in a receive FIFO.
	for range 2 * small.RxBytes / 32 {
		check.Must(n.LinkStatus(ctx, 0))(t)
	}
	for frame := range want {
		have := make([]byte, small.PageBytes)
		if err := n.ReadBuffer(ctx, have, frame*small.PageBytes); err != nil || !bytes.Equal(have, want[frame]) {
			t.Errorf("frame %d: %v, holds\n% x, want\n% x", frame, err, have, want[frame])
		}
	}
	if c, err := n.Counters(ctx, 0); err != nil || c[linkproto.CntBadPacket] != 0 || n.CableCounters()[linkproto.CntReplays] == 0 {
		t.Errorf("counters %v %v, %v: want replays and no bad packet", c, n.CableCounters(), err)
	}
	for link := 1; link <= 2; link++ {
		if c, err := n.Counters(ctx, link); err != nil || c[linkproto.CntNoSpace] != 0 {
			t.Errorf("link %d: counters %v, %v: want no packet dropped for want of space", link, c, err)
		}
	}
}

// TestCloseAtAnyTime closes while others use the NI in every way.
func TestCloseAtAnyTime(t *testing.T) { onEach(t, closeAtAnyTime) }

func closeAtAnyTime(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, loop)
	for round := range 20 {
		host := check.Must(w.Host(0))(t)
		n := check.Must(hostdrv.New(t.Context(), host, hostdrv.Options{}))(t)
		events := check.Must(n.Events())(t)
		var users sync.WaitGroup
		for _, use := range []func() error{
			func() error { return n.Write(t.Context(), 1, 0, make([]byte, 100)) },
			func() error { return n.ReadBuffer(t.Context(), make([]byte, 600), 0) },
			func() error { return n.Sync(t.Context(), 1) },
			func() error { _, err := events.Next(t.Context()); return err },
		} {
			users.Go(func() {
				for {
					if err := use(); err != nil {
						check.Fails(t, "after Close", err, hostdrv.ErrClosed)
						return
					}
				}
			})
		}
		for range round {
			check.Must(n.ReadRegister(t.Context(), 0))(t)
		}
		for range 2 {
			users.Go(func() {
				check.Error(t, n.Close())
			})
		}
		users.Wait()
	}
}

func TestCancel(t *testing.T) { onEach(t, cancel) }

func cancel(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, loop)
	n := drive(t, w, 0, &drivertest.Cable{})
	ctx, cancel := context.WithCancel(t.Context())
	events := check.Must(n.Events())(t)
	ended := check.Go(func() error { return check.Err(events.Next(ctx)) })
	cancel()
	check.Fails(t, "wait", <-ended, context.Canceled)
	check.Fails(t, "ReadRegister", check.Err(n.ReadRegister(ctx, 0)), context.Canceled)
	if _, err := n.ReadRegister(t.Context(), 0); err != nil {
		t.Errorf("a call that was cancelled spoils the next one: %v", err)
	}
}

// delayed is the context of a call whose goroutine does not get to run again before waits has returned.
type delayed struct {
	context.Context
	waits func()
}

func (d delayed) Done() <-chan struct{} {
	d.waits()
	return d.Context.Done()
}

// TestTimeWaitsForCallers holds that the time of a simulation does not run on after an answer has come, for somebody else who waits, before
// the goroutine that asked has got to run.
func TestTimeWaitsForCallers(t *testing.T) {
	n := drive(t, models(t, loop), 0, &drivertest.Cable{})
	events := check.Must(n.Events())(t)
	const long = time.Millisecond // of the target's time
	var over <-chan error
	others, cancel := n.WithTimeout(t.Context(), long)
	defer cancel()
	start := n.Now()
	asked := delayed{t.Context(), func() {
		over = check.Go(func() error { return check.Err(events.Next(others)) })
		time.Sleep(50 * time.Millisecond) // for which time should stand still
	}}
	check.Must(n.ReadRegister(asked, linkproto.RegScratch))(t)
	if passed := n.Now() - start; passed > long/2 {
		t.Errorf("%v have passed", passed)
	}
	check.Fails(t, "the other wait", <-over, context.DeadlineExceeded)
}

// TestWriteAllocates holds that neither driver nor model allocates for a write. What a writer that waits for room needs is shared by the writes which then fit.
func TestWriteAllocates(t *testing.T) {
	n := check.Must(hostdrv.Open(t.Context(), "model:?replay=32768&rx=32768", hostdrv.Options{}))(t)
	defer n.Close()
	check.Fatal(t, n.SetFrame(t.Context(), 0, hostdrv.FrameEntry{Link: 1}))
	data := make([]byte, 64)
	check.Equal(t, "allocations a write", testing.AllocsPerRun(20_000, func() { check.Fatal(t, n.Write(t.Context(), 1, 0, data)) }), 0)
}

// A recording of an NI that writes to itself tells when the packets left and arrived, and names the one that triggered.
func TestTrace(t *testing.T) {
	traced := loop
	traced.trace = 256
	n := drive(t, simulated(t, traced), 0, &drivertest.Cable{})
	ctx := t.Context()
	sent, arrived := linkproto.TraceEvent(linkproto.CntTxPackets), linkproto.TraceEvent(linkproto.CntRxPackets)
	check.Fatal(t, n.StartTrace(ctx, linkproto.TraceSetup{Events: []linkproto.TraceEvent{sent, arrived}, Ports: []int{1, 2}, Trigger: []linkproto.TraceEvent{arrived},
		TriggerPorts: []int{2}, Post: 1}))
	check.Fatal(t, n.Write(ctx, 1, 0, []byte("traced")))
	check.Fatal(t, n.Sync(ctx, 1))
	trace := check.Must(n.ReadTrace(ctx))(t)
	if len(trace.Entries) != 2 || !trace.Triggered || trace.Lost != 0 {
		t.Fatalf("got %+v", trace)
	}
	first, second := trace.Entries[0], trace.Entries[1]
	if first.Port != 2 || !first.Trigger || !slices.Equal(first.Events, []linkproto.TraceEvent{arrived}) ||
		second.Port != 1 || second.Trigger || !slices.Equal(second.Events, []linkproto.TraceEvent{sent}) || second.Time <= first.Time {
		t.Errorf("a packet arrives at link 2, then its acknowledgement at link 1; got %+v", trace.Entries)
	}

	plain := drive(t, simulated(t, loop), 0, &drivertest.Cable{})
	check.Fails(t, "an NI without a trace buffer", check.Err(plain.ReadTrace(ctx)), linkproto.ErrNoTrace)
}
