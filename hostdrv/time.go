package hostdrv

import (
	"context"
	"math"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
)

// Now is the target's time since the NI was opened. It stands still while nothing waits for a simulated target.
func (n *NI) Now() time.Duration {
	n.lock()
	defer n.unlock()
	return time.Duration(float64(n.core.Now()) / n.timing.TicksPerSecond * float64(time.Second))
}

// WithTimeout returns a context that ends with context.DeadlineExceeded when d of the target's time has passed, and not before: real time
// on a board, clock cycles in a simulation, there at its nominal rate. Time that passes while the NI is closed does not count.
func (n *NI) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	limited, expire, cancel := wait.Limit(ctx)
	n.lock()
	defer n.unlock()
	stop := n.every(d, func() bool {
		expire()
		return false
	})
	return limited, func() {
		n.lock()
		stop()
		n.unlock()
		cancel()
	}
}

// Sleep waits until d of the target's time has passed. That of a simulation passes while something sleeps, as with all that waits.
func (n *NI) Sleep(ctx context.Context, d time.Duration) error {
	over := false
	n.lock()
	stop := n.every(d, func() bool {
		over = true
		return false
	})
	n.unlock()
	err := n.until(ctx, "time to pass", func() bool { return over })
	n.lock()
	defer n.unlock()
	stop()
	return err
}

// every calls tick each time that d has passed, until it returns false or stop is called: all of that under the lock.
func (n *NI) every(d time.Duration, tick func() bool) (stop func()) {
	ticks := uint64(max(math.Ceil(d.Seconds()*n.timing.TicksPerSecond), 1))
	t := &engine.Timer{}
	add := func() { n.core.AddTimer(t, n.core.Now()+ticks) }
	t.Fire = func() {
		if tick() {
			add()
		}
	}
	add()
	n.wakeOwner() // it may be waiting for longer
	return func() { n.core.RemoveTimer(t) }
}
