package hostdrv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestCableFails cuts the host's cable, in either or both directions, so long that the link starts again while the NI goes on. Each
// write puts its number in a place of its own, so what has arrived can be counted and must be what the driver says: all but the lost.
func TestCableFails(t *testing.T) { onEach(t, cableFails) }

func cableFails(t *testing.T, open func(*testing.T, plan) *network) {
	total, losses := 0, 0
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := open(t, loop)
		c := &drivertest.Cable{}
		n, ctx := drive(t, w, 0, c), t.Context()
		events := check.Must(n.Events())(t)
		check.Fatal(t, errors.Join(n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}), n.SetFrame(ctx, 1, hostdrv.FrameEntry{Link: 1})))
		c.CutAfter(rng.IntN(2000), linkproto.DefaultRetry*linkproto.DefaultRetryLimit+rng.IntN(200_000), seed%3 != 1, seed%3 != 2)
		const writes = 64
		for i := range uint32(writes) {
			data := binary.LittleEndian.AppendUint32(nil, 1+i)
			check.Fatal(t, n.Write(ctx, 1+int(i)%2, int(i%2)*small.PageBytes+int(i/2)*4, data))
			if i%16 == 15 { // so many fill more than one turn, in which the cable may fail
				check.Fatal(t, drivertest.NoRestart(n.WriteRegister(ctx, linkproto.RegScratch, i)))
				if v, err := n.ReadRegister(ctx, linkproto.RegScratch); err != nil || v != i {
					t.Errorf("seed %d: a register written before the cable failed, or again after it, holds %d, %v, want %d", seed, v, err, i)
				}
			}
		}
		lost := [2]uint64{}
		for i := range lost {
			lost[i] = drivertest.LostBy(t, n.Sync(ctx, 1+i))
			check.Equal(t, fmt.Sprintf("seed %d: packets reported again", seed), drivertest.LostBy(t, n.Sync(ctx, 1+i)), 0)
		}
		if n.CableCounters()[linkproto.CntRestarts] == 0 {
			t.Errorf("seed %d: the link did not start again", seed)
			continue
		}
		restart, err := events.Next(ctx)
		if r, ok := restart.(hostdrv.Restart); !ok || r.Lost[0] != int(lost[0]) || r.Lost[1] != int(lost[1]) {
			t.Errorf("seed %d: event %+v, %v, and Sync says %v", seed, restart, err, lost)
		}
		have := make([]byte, 2*small.PageBytes)
		check.Fatal(t, n.ReadBuffer(ctx, have, 0))
		missing := [2]uint64{}
		for i := range uint32(writes) {
			if v := binary.LittleEndian.Uint32(have[int(i%2)*small.PageBytes+int(i/2)*4:]); v != 1+i {
				missing[i%2]++
			}
		}
		check.Equal(t, fmt.Sprintf("seed %d: writes that are missing, and those reported", seed), missing, lost)
		total++
		if lost != [2]uint64{} {
			losses++
		}
	}
	if losses == 0 || losses == total {
		t.Errorf("%d of %d cuts lost something, want some and not all", losses, total)
	}
}

// TestAbandonedWrite cuts the cable during a write whose context ends, and uses its memory again: what the driver sends once the cable is whole is what was to be written.
func TestAbandonedWrite(t *testing.T) {
	c := &drivertest.Cable{}
	n := drive(t, models(t, loop), 0, c)
	c.CutAfter(0, longCut, true, false)
	ctx, cancel := n.WithTimeout(t.Context(), 10_000) // 10 microseconds
	defer cancel()
	data := []byte("as it was")
	check.Fails(t, "a write by a cut cable", n.WriteBuffer(ctx, data, 0), context.DeadlineExceeded)
	copy(data, "otherwise")
	check.Fatal(t, n.ReadBuffer(t.Context(), data, 0))
	check.Equal(t, "written", string(data), "as it was")
}

// TestStartOverCutCable cuts the cable while a node sets its NI up, from which no answer comes for so long that the link starts again.
func TestStartOverCutCable(t *testing.T) { onEach(t, startOverCutCable) }

func startOverCutCable(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, crossed)
	c := &drivertest.Cable{}
	n := drive(t, w, 0, c)
	c.CutAfter(0, 2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit, false, true)
	a := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{Frames: []int{2, 5}}))(t)
	if n.CableCounters()[linkproto.CntRestarts] == 0 {
		t.Error("the link did not start again")
	}
	for i, want := range []int{1, 1, 2, 2, 2, 2, 2, 0} {
		check.Equal(t, fmt.Sprintf("link of frame %d", i), check.Must(n.Frame(t.Context(), i))(t).Link, want)
	}
	b := check.Must(hostdrv.Start(t.Context(), drive(t, w, 1, &drivertest.Cable{}), hostdrv.NodeOptions{}))(t)
	send, receive := drivertest.Channel(t, b, a, 1, "")
	check.Error(t, errors.Join(send.StoreUint32(t.Context(), 0, 77), receive.Wait(t.Context(), func(page []byte) bool { return page[0] == 77 })))
}

// TestReset resets the NI in the middle of things: everything ends with one error, and it can be opened again.
func TestReset(t *testing.T) { onEach(t, reset) }

func reset(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, loop)
	host := check.Must(w.Host(0))(t)
	ctx := t.Context()
	n := check.Must(hostdrv.New(ctx, host, hostdrv.Options{}))(t)
	check.Fatal(t, n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}))
	check.Fatal(t, w.reset(0))
	check.Fails(t, "Write after a reset", n.Write(ctx, 1, 0, []byte("lost")), hostdrv.ErrReset) // it waits to know of room
	check.Fails(t, "Sync after a reset", n.Sync(ctx, 1), hostdrv.ErrReset)
	check.Fails(t, "Frame after a reset", check.Err(n.Frame(ctx, 0)), hostdrv.ErrReset)
	check.Error(t, n.Close())
	again := drive(t, w, 0, &drivertest.Cable{})
	check.Equal(t, "opened again: link of frame 0", check.Must(again.Frame(ctx, 0))(t).Link, 0)
}

// TestCutDuringResume cuts the cable while writes are underway and, when it is whole again, once more at every third clock until the driver knows
// what has arrived. What was acknowledged is there; as many writes as the driver says are missing, unless it says that it cannot know; nothing hangs.
func TestCutDuringResume(t *testing.T) {
	for direction, d := range map[string]struct{ out, in bool }{"to the NI": {true, false}, "from the NI": {false, true}, "both": {true, true}} {
		t.Run(direction, func(t *testing.T) {
			t.Parallel()
			j := resumeCut{out: d.out, in: d.in}
			whole := j.run(t, never)
			for at := 0; at < whole; at += 3 {
				j.run(t, at)
			}
			t.Logf("a resume takes %d clocks; %+v", whole, j)
			if j.uncertain == 0 || j.uncertain == j.runs || j.lossy == 0 || j.again == 0 {
				t.Errorf("of %d runs %d had a link that started again and again, %d lost something, %d could not know: want some and not all",
					j.runs, j.again, j.lossy, j.uncertain)
			}
		})
	}
}

// resumeCut cuts joins, and counts what becomes of that.
type resumeCut struct {
	out, in                       bool
	runs, again, lossy, uncertain int
}

const (
	longCut = 2 * linkproto.DefaultRetry * linkproto.DefaultRetryLimit // in which links start again
	never   = 1 << 29
)

// run cuts the cable again so many clocks after it was whole, and returns after how many all was known.
func (j *resumeCut) run(t *testing.T, at int) int {
	const before, writes = 8, 32 // a page
	j.runs++
	w, c, ctx := models(t, loop), &drivertest.Cable{}, t.Context()
	n := drive(t, w, 0, c)
	ctx, cancel := n.WithTimeout(ctx, 100e6) // 100 ms, some 20 times what it takes
	defer cancel()
	check.Fatal(t, n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}))
	whole := 0 // when it is, after the first time
	for i := range uint32(writes) {
		if i == before {
			check.Fatal(t, n.Sync(ctx, 1))
			first := rand.New(rand.NewPCG(uint64(at), 17)).IntN(600)
			whole = c.CutAfter(0, first+longCut, false, true) // what arrives before the other way is cut too is not acknowledged
			c.CutAfter(first, longCut, true, false)
			c.CutAfter(first+longCut+at, longCut, j.out, j.in)
		}
		if err := n.Write(ctx, 1, 4*int(i), binary.LittleEndian.AppendUint32(nil, 1+i)); err != nil && !errors.Is(err, hostdrv.ErrUncertain) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	err := n.Sync(ctx, 1)
	lost := uint64(0)
	uncertain := errors.Is(err, hostdrv.ErrUncertain)
	switch loss, lossy := errors.AsType[*hostdrv.LossError](err); {
	case uncertain:
		j.uncertain++
	case lossy:
		lost = loss.Lost
		j.lossy++
	case err != nil:
		t.Fatalf("cut at %d: %v", at, err)
	}
	took := c.Ticks() - whole
	if n.CableCounters()[linkproto.CntRestarts] > 1 {
		j.again++
	}
	if uncertain {
		if err := n.Close(); err != nil && !errors.Is(err, hostdrv.ErrUncertain) {
			t.Fatal(err)
		}
		n = drive(t, w, 0, &drivertest.Cable{})
	}
	have := make([]byte, 4*writes)
	if err := n.ReadBuffer(t.Context(), have, 0); err != nil {
		t.Fatalf("cut at %d: %v", at, err)
	}
	missing := uint64(0)
	for i := range uint32(writes) {
		if binary.LittleEndian.Uint32(have[4*i:]) == 1+i {
			continue
		}
		missing++
		if i < before {
			t.Errorf("cut at %d: write %d was acknowledged and is not there", at, i)
		}
	}
	if !uncertain && missing != lost {
		t.Errorf("cut at %d: %d writes are missing and %d were reported", at, missing, lost)
	}
	return took
}
