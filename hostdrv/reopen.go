package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// reopening is a transport that is opened again when it fails. While it is away time passes, and its cable carries nothing.
type reopening struct {
	dial   func(context.Context) (Transport, error)
	within time.Duration
	timing Timing
	ctx    context.Context // until Close
	end    context.CancelFunc
	work   sync.WaitGroup
	change chan struct{} // something below has changed, or Wake was called

	mu     sync.Mutex
	inner  Transport // nil while it is away
	gone   error     // why it will not come back
	closed bool

	// of the caller of Exchange
	left time.Time // when it went away; zero if it is there and was heard
	last time.Time // when the time was read, while it is away
	rest float64   // of a tick
}

const (
	redial = 100 * time.Millisecond // before each attempt: also to a target that can be opened and fails at once
	beat   = 10 * time.Millisecond  // in which time passes while it is away
)

func reopen(t Transport, within time.Duration, dial func(context.Context) (Transport, error)) *reopening {
	r := &reopening{dial: dial, within: within, timing: t.Timing(), change: make(chan struct{}, 1), inner: t}
	r.ctx, r.end = context.WithCancel(context.Background())
	return r
}

func (r *reopening) Exchange(x *Exchange) error {
	r.mu.Lock()
	inner, gone := r.inner, r.gone
	r.mu.Unlock()
	if gone != nil {
		return gone
	}
	if inner == nil {
		r.wait(x)
		return nil
	}
	err := inner.Exchange(x)
	if err == nil {
		if len(x.In) > 0 {
			r.left = time.Time{}
		}
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return err
	}
	r.last = time.Now()
	if r.left.IsZero() {
		r.left = r.last
	}
	r.inner = nil
	deadline := r.left.Add(r.within)
	r.work.Go(func() { r.seek(inner, err, deadline) })
	x.Taken, x.Away = true, true
	return nil
}

// wait is Exchange while the target is away.
func (r *reopening) wait(x *Exchange) {
	timer := time.NewTimer(beat)
	defer timer.Stop()
	select {
	case <-r.change:
	case <-timer.C:
	}
	now := time.Now()
	r.rest += now.Sub(r.last).Seconds() * r.timing.TicksPerSecond
	r.last = now
	x.Ticks = int(min(r.rest, 1<<30))
	r.rest -= float64(x.Ticks)
	x.Taken, x.Away = true, true
}

// seek frees a target that has failed and opens it again.
func (r *reopening) seek(old Transport, cause error, deadline time.Time) {
	_ = old.Close() // it failed before
	ctx, cancel := context.WithDeadline(r.ctx, deadline)
	defer cancel()
	failed := cause
	for {
		select {
		case <-ctx.Done():
			r.settle(nil, fmt.Errorf("%w; it did not come back within %v: %w", cause, r.within, failed))
			return
		case <-time.After(redial):
		}
		t, err := r.dial(ctx)
		if err == nil {
			r.settle(t, nil)
			return
		}
		if ctx.Err() == nil { // else the time is up
			failed = err
		}
	}
}

// settle ends an absence, one way or the other.
func (r *reopening) settle(t Transport, gone error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		if t != nil {
			_ = t.Close()
		}
		t, gone = nil, r.gone
	}
	r.inner, r.gone = t, gone
	r.wake() // it may be the next Exchange that was to be woken
}

func (r *reopening) Wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wake()
}

func (r *reopening) wake() {
	if r.inner != nil {
		r.inner.Wake()
	}
	select {
	case r.change <- struct{}{}:
	default:
	}
}

func (r *reopening) Timing() Timing { return r.timing }

// Close closes the target, or ends the search for it.
func (r *reopening) Close() error {
	r.mu.Lock()
	r.closed = true
	inner := r.inner
	if inner == nil && r.gone == nil {
		r.gone = errors.New("closed while it was away")
	}
	r.wake()
	r.mu.Unlock()
	r.end()
	var err error
	if inner != nil {
		err = inner.Close()
	}
	r.work.Wait()
	return err
}
