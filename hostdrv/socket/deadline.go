package socket

import (
	"sync"
	"time"
)

// deadline is a time, as people have it, after which calls of one direction fail. Its zero value is none.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	over  chan struct{} // closed once it has passed
}

// wait returns what is closed once the deadline has passed.
func (d *deadline) wait() chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over == nil {
		d.over = make(chan struct{})
	}
	return d.over
}

// set moves the deadline. The zero time is none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.over // it has passed, or is about to
	}
	d.timer = nil
	if d.over == nil || passed(d.over) {
		d.over = make(chan struct{})
	}
	switch left := time.Until(t); {
	case t.IsZero():
	case left <= 0:
		close(d.over)
	default:
		over := d.over
		d.timer = time.AfterFunc(left, func() { close(over) })
	}
}

func passed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// signal wakes the one that waits for c, or the next one that does.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
