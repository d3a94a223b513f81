package hostdrv_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestSleep sleeps for a time of the target's, which nobody else waits for, until a context or the driver ends.
func TestSleep(t *testing.T) { onEach(t, sleep) }

func sleep(t *testing.T, open func(*testing.T, plan) *network) {
	n := drive(t, open(t, loop), 0, &drivertest.Cable{})
	for _, d := range []time.Duration{0, 10 * time.Microsecond, 100 * time.Microsecond} {
		before := n.Now()
		check.Fatal(t, n.Sleep(t.Context(), d))
		if took := n.Now() - before; took < d || took > d+20*time.Microsecond {
			t.Errorf("it has slept for %v, want %v", took, d)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, "an ended context", n.Sleep(ended, time.Hour), context.Canceled)
	limit, cancel := n.WithTimeout(t.Context(), 10*time.Microsecond)
	defer cancel()
	check.Fails(t, "a shorter limit", n.Sleep(limit, time.Hour), context.DeadlineExceeded)
	asleep := check.Go(func() error { return n.Sleep(t.Context(), time.Hour) })
	check.Fatal(t, n.Sleep(t.Context(), 10*time.Microsecond))
	check.Error(t, n.Close())
	if err := <-asleep; !errors.Is(err, hostdrv.ErrClosed) {
		t.Errorf("asleep when it is closed: %v", err)
	}
}
