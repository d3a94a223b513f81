// Package wait makes calls wait for conditions that change under one lock.
package wait

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// List are the calls that wait. All of its methods are called under the lock.
type List struct {
	waiters          []*Waiter
	releasing, again bool
}

// Waiter is a call that waits. Whoever makes what it waits for true takes it from the list, before its goroutine happens to be scheduled.
type Waiter struct {
	Patient   bool        // it waits for what others do, for however long
	Wants     func() bool // it does wait: asked under the lock; nil: always
	ctx       context.Context
	done      func() bool
	over      chan struct{} // gets something when it is taken from the list
	taken     atomic.Bool   // it was
	satisfied bool
}

// Add begins a wait until done, which is asked under the lock.
func (l *List) Add(ctx context.Context, done func() bool) *Waiter {
	w := NewWaiter(done)
	l.AddAgain(ctx, w)
	return w
}

// AddAgain begins the wait of a Waiter that was removed once more, or of one that NewWaiter made.
func (l *List) AddAgain(ctx context.Context, w *Waiter) {
	select {
	case <-w.over: // of the last time
	default:
	}
	w.ctx, w.satisfied = ctx, false
	w.taken.Store(false)
	l.waiters = append(l.waiters, w)
}

// NewWaiter makes a Waiter for AddAgain.
func NewWaiter(done func() bool) *Waiter {
	return &Waiter{done: done, over: make(chan struct{}, 1)}
}

// Patient reports whether all are.
func (l *List) Patient() bool {
	return !slices.ContainsFunc(l.waiters, func(w *Waiter) bool { return !w.Patient })
}

// Idle reports whether nobody waits.
func (l *List) Idle() bool {
	return !slices.ContainsFunc(l.waiters, func(w *Waiter) bool { return w.Wants == nil || w.Wants() })
}

// Release takes those from the list whose wait is over, all of them if failed, and returns how many there were. What asks whether a wait is over may call it: that has all be asked once more, and returns 0.
func (l *List) Release(failed func() bool) (released int) {
	if l.again = l.releasing; l.again {
		return 0
	}
	l.releasing = true
	for more := true; more; more = l.again {
		l.again = false
		released += l.release(failed)
	}
	l.releasing = false
	return released
}

func (l *List) release(failed func() bool) (released int) {
	for i, w := range l.waiters {
		if w.satisfied = w.done(); w.satisfied || failed() || w.ctx.Err() != nil {
			w.taken.Store(true)
			w.over <- struct{}{}
			released++
		} else if released > 0 {
			l.waiters[i-released] = w
		}
	}
	if released > 0 {
		left := len(l.waiters) - released
		clear(l.waiters[left:])
		l.waiters = l.waiters[:left]
	}
	return released
}

// Remove ends a wait. It returns false if Release has taken it from the list.
func (l *List) Remove(w *Waiter) bool {
	i := slices.Index(l.waiters, w)
	if i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
	}
	return i >= 0
}

// Await returns when the wait is over, or its context; it is called without the lock.
func (w *Waiter) Await() {
	select {
	case <-w.over:
	case <-w.ctx.Done():
	}
}

// Over reports whether the Waiter was taken from the list.
func (w *Waiter) Over() bool { return w.taken.Load() }

// Err says how a wait ended that was removed; failure is why nothing works any more, or nil.
func (w *Waiter) Err(what string, failure error) error {
	switch {
	case w.satisfied:
		return nil
	case failure != nil:
		return failure
	}
	return Error(w.ctx, what)
}

// Error says that a context ended a wait.
func Error(ctx context.Context, what string) error {
	return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
}

// Limit returns a context that ends with context.DeadlineExceeded when expire is called, and with context.Canceled when cancel is.
func Limit(ctx context.Context) (limited context.Context, expire, cancel func()) {
	inner, end := context.WithCancelCause(ctx)
	return limit{inner}, func() { end(context.DeadlineExceeded) }, func() { end(context.Canceled) }
}

type limit struct{ context.Context }

func (l limit) Err() error {
	err := l.Context.Err()
	if err != nil && context.Cause(l.Context) == context.DeadlineExceeded {
		return context.DeadlineExceeded
	}
	return err
}
