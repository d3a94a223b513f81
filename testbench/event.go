package testbench

// Event is something that happens once, as "the link is up", or again and again, as "a packet has come". The zero value
// has not happened. Tasks that wait go on at the edge at which it happens, in the order of their creation. An observer
// or the test may set it too: then they go on just after the next edge.
type Event struct {
	// Name is what reports call it.
	Name string

	set     bool
	times   uint64
	waiting line
}

// Set makes the event have happened: who waits goes on, and who waits later does not wait.
func (e *Event) Set() {
	e.set = true
	e.Pulse()
}

// Pulse lets those go on who wait now. It changes nothing for who waits later.
func (e *Event) Pulse() {
	e.times++
	e.waiting.all()
}

// Clear makes the event not have happened.
func (e *Event) Clear() { e.set = false }

// IsSet reports whether the event has happened, and was not cleared since.
func (e *Event) IsSet() bool { return e.set }

// Wait returns at once if the event is set, else when Set or Pulse is called.
func (e *Event) Wait(c *Task) {
	if e.set {
		return
	}
	e.waiting.join(c)
	defer e.waiting.leave(c)
	for times := e.times; times == e.times; {
		c.sleep("event", e.Name)
	}
}

// Happens is Wait for Task.First.
func (e *Event) Happens() Wait {
	return Wait{"event", e.Name, func(*Task) armed {
		times := e.times
		return armed{holds: func() bool { return e.set || e.times != times }, at: never, line: &e.waiting}
	}}
}

// Semaphore is a number of permits, each of which one task holds at a time: 1 makes a lock. Tasks get theirs in the order
// in which they asked.
type Semaphore struct {
	// Name is what reports call it.
	Name string

	free    int
	waiting line
}

// NewSemaphore returns a semaphore with a number of free permits.
func NewSemaphore(name string, permits int) *Semaphore { return &Semaphore{Name: name, free: permits} }

// Acquire takes n permits, and waits until so many are free and who asked before has theirs.
func (s *Semaphore) Acquire(c *Task, n int) {
	s.waiting.turn(c, func() bool { return s.free >= n }, "permits of semaphore", s.Name)
	s.free -= n
}

// Release gives n permits back.
func (s *Semaphore) Release(n int) {
	s.free += n
	s.waiting.first()
}

// Free returns how many permits are free.
func (s *Semaphore) Free() int { return s.free }
