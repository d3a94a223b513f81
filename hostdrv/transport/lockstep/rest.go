package lockstep

import (
	"sync"
	"time"
)

// rest is how time stands still where nothing is under way.
type rest struct {
	most   time.Duration // 0: it does not
	settle int           // ticks
	busy   func() bool

	timer  *time.Timer
	change sync.Cond
	over   bool
	still  int  // ticks in which nothing was sent, and nothing has come
	rested bool // since a driver was woken, or something has come
	passed int  // ticks since it has rested
}

// slice is how many ticks pass between two rests while nobody wants anything.
const slice = 512

// Rest makes the world rest where programs may need the processor to answer: when all drivers that wait are patient (Exchange.Patient), no symbol has gone to a network interface or
// come from one for settle ticks, and busy, which is called while no turn runs, returns false. Then time stands still for up to most of real time, or until a driver wants something.
// The world rests once after each thing that has happened. After that time hurries as long as a driver is owed something (Exchange.Owed); otherwise the world rests again every
// slice ticks. Call it before the first Host.
func (w *World) Rest(most time.Duration, settle int, busy func() bool) {
	r := &w.rest
	w.timing.Rests = true
	r.most, r.settle, r.busy, r.change.L = most, settle, busy, &w.mu
	r.timer = time.AfterFunc(most, func() {
		w.mu.Lock()
		w.rouse()
		w.mu.Unlock()
	})
	r.timer.Stop()
}

// rouse ends the rest.
func (w *World) rouse() {
	if w.rest.most > 0 {
		w.rest.over = true
		w.rest.change.Signal()
	}
}

// count takes ticks that have passed.
func (r *rest) count(ticks int, still bool) {
	r.passed += ticks
	if r.still += ticks; !still {
		r.still, r.rested = 0, false
	}
}

// pause rests if it is time to, and reports whether somebody wanted something meanwhile. No turn runs.
func (w *World) pause() bool {
	r := &w.rest
	if r.most == 0 || w.between > 0 || r.still <= r.settle || r.rested && r.passed < slice {
		return false
	}
	for _, h := range w.present {
		if h != nil && (!h.x.Patient || r.rested && h.x.Owed) {
			return false
		}
	}
	if r.busy() {
		return false
	}
	first := !r.rested
	r.rested, r.passed, r.over, w.running = true, 0, false, true
	if first && w.look() {
		w.running = false
		return true
	}
	r.timer.Reset(r.most)
	for !r.over {
		r.change.Wait()
	}
	w.running = false
	return r.timer.Stop()
}

// spin is for how long a world that rests looks for what programs ask for (Exchange.Look): one that answers what has just come does so within about as long.
const spin = 50 * time.Microsecond

// look looks for a time for what programs ask for, and reports whether somebody wants something. The lock is released meanwhile.
func (w *World) look() bool {
	looks := w.looks[:0]
	for _, h := range w.present {
		if h != nil && h.x.Look != nil {
			looks = append(looks, h)
		}
	}
	w.looks = looks
	if len(looks) == 0 {
		return false
	}
	for end, last := time.Now().Add(spin), false; !w.rest.over && !last; {
		last = time.Now().After(end)
		for _, h := range looks {
			w.mu.Unlock()
			asked := h.x.Look(last)
			w.mu.Lock()
			if asked {
				h.woken, w.rest.rested, w.rest.over = true, false, true
			}
		}
		w.mu.Unlock()
		yield() // a program that is to answer may wait for this processor
		w.mu.Lock()
	}
	return w.rest.over
}
