package hostdrv_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

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
