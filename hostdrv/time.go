package hostdrv

import (
	"context"
	"math"
	"sync"
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
	stop := n.after(d, expire)
	return limited, func() {
		n.lock()
		stop()
		n.unlock()
		cancel()
	}
}

// Sleep waits until d of the target's time has passed. That of a simulation passes while something sleeps, as with all that waits.
func (n *NI) Sleep(ctx context.Context, d time.Duration) error {
	return n.sleep(ctx, d, n.after, n.until)
}

// Doze is Sleep for who is in no hurry: a network that rests while nothing happens goes on resting (Exchange.Patient).
func (n *NI) Doze(ctx context.Context, d time.Duration) error {
	once := func(d time.Duration, do func()) (stop func()) {
		return n.every(d, func() bool { do(); return false })
	}
	return n.sleep(ctx, d, once, n.untilOthers)
}

func (n *NI) sleep(ctx context.Context, d time.Duration, after func(time.Duration, func()) func(), until func(context.Context, string, func() bool) error) error {
	over := false
	n.lock()
	stop := after(d, func() { over = true })
	n.unlock()
	err := until(ctx, "time to pass", func() bool { return over })
	n.lock()
	defer n.unlock()
	stop()
	return err
}

// after calls do when d has passed, for which time hurries, unless stop is called before: all of that under the lock.
func (n *NI) after(d time.Duration, do func()) (stop func()) {
	n.timed++
	over := sync.OnceFunc(func() { n.timed-- })
	end := n.every(d, func() bool {
		over()
		do()
		return false
	})
	return func() {
		over()
		end()
	}
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
