package hostdrv

import (
	"container/heap"
	"context"
	"math"
	"time"
)

// Now is the target's time since the NI was opened. It stands still while nothing waits for a simulated target.
func (n *NI) Now() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(float64(n.core.now) / n.timing.TicksPerSecond * float64(time.Second))
}

// WithTimeout returns a context that ends with context.DeadlineExceeded when d of the target's time has passed, and not before: real time
// on a board, clock cycles in a simulation, there at its nominal rate. Time that passes while the NI is closed does not count.
func (n *NI) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancelCause(ctx)
	t := &timer{fire: func() { cancel(context.DeadlineExceeded) }}
	n.mu.Lock()
	n.core.timers.add(t, n.core.now+uint64(max(math.Ceil(d.Seconds()*n.timing.TicksPerSecond), 1)))
	n.wakeOwner() // it may be waiting for longer
	n.mu.Unlock()
	return timeoutContext{inner}, func() {
		n.mu.Lock()
		n.core.timers.remove(t)
		n.mu.Unlock()
		cancel(context.Canceled)
	}
}

type timeoutContext struct{ context.Context }

func (c timeoutContext) Err() error {
	err := c.Context.Err()
	if err != nil && context.Cause(c.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}

// timer is something to be done at a tick.
type timer struct {
	at    uint64
	index int // in timers, -1 if not there
	fire  func()
}

// timers is a heap, the first one to fire at its top.
type timers []*timer

func (t *timers) add(x *timer, at uint64) {
	x.at = at
	heap.Push(t, x)
}

func (t *timers) remove(x *timer) {
	if x.index >= 0 {
		heap.Remove(t, x.index)
	}
}

func (t *timers) expire(now uint64) {
	for len(*t) > 0 && (*t)[0].at <= now {
		heap.Pop(t).(*timer).fire()
	}
}

// Len, Less, Swap, Push and Pop are for package heap.
func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}

func (t *timers) Push(x any) {
	x.(*timer).index = len(*t)
	*t = append(*t, x.(*timer))
}

func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	x.index = -1
	return x
}
