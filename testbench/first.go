package testbench

// Wait is one of the things that Task.First waits for. Clock.Rises, Clock.When, Event.Happens, Queue.Filled, Task.Ends, Cycles and
// Time make them.
type Wait struct {
	what, which string
	arm         func(c *Task) armed
}

// armed is a Wait that has begun: it is over when holds does, or at a time.
type armed struct {
	holds func() bool // nil for never
	at    uint64
	poll  *Clock // whose rising edges are when to look again; nil for none
	line  *line  // that the task waits in meanwhile; nil for none
}

// Rises is the next rising edge.
func (k *Clock) Rises() Wait {
	return Wait{"a rising edge of", k.name, func(*Task) armed { return armed{at: k.next} }}
}

// Falls is the next falling edge.
func (k *Clock) Falls() Wait {
	return Wait{"a falling edge of", k.name, func(c *Task) armed { return armed{at: k.fall(c.b.now)} }}
}

// When is that a condition holds, now or just after a rising edge of the clock.
func (k *Clock) When(condition func() bool) Wait {
	return Wait{"a condition at", k.name, func(*Task) armed { return armed{holds: condition, at: never, poll: k} }}
}

// Cycles is that the main clock has risen n times.
func Cycles(n uint64) Wait {
	return Wait{"cycles", "", func(c *Task) armed { return armed{at: c.after(n)} }}
}

// Time is that time has passed, in the unit of Config.Period.
func Time(d uint64) Wait {
	return Wait{"time", "", func(c *Task) armed { return armed{at: c.later(d)} }}
}

// Ends is that the task has ended.
func (c *Task) Ends() Wait {
	return Wait{"the end of coroutine", c.name, func(*Task) armed {
		return armed{holds: func() bool { return c.done }, at: never, line: &c.ended}
	}}
}

// after returns when the main clock will have risen n times; now for 0.
func (c *Task) after(n uint64) uint64 {
	if n == 0 {
		return c.b.now
	}
	return c.b.mainClock().after(n)
}

// later returns the time d from now.
func (c *Task) later(d uint64) uint64 {
	if d > never-1-c.b.now {
		return never
	}
	return c.b.now + d
}

// First waits for one of several things and returns its index: the first in the list of those that are true. Nothing
// is taken from a queue, and nothing that another task does is ended.
func (c *Task) First(waits ...Wait) int {
	c.any = c.any[:0]
	c.what, c.which = "the first of", ""
	for i, w := range waits {
		a := w.arm(c)
		c.any = append(c.any, a)
		if i > 0 {
			c.which += ", "
		}
		c.which += w.what
		if w.which != "" {
			c.which += " " + w.which
		}
	}
	hit := -1
	c.until = func() bool {
		for i, a := range c.any {
			if a.at <= c.b.now || a.holds != nil && a.holds() {
				hit = i
				return true
			}
		}
		return false
	}
	if c.until() {
		c.until, c.any = nil, c.any[:0]
		return hit
	}
	for _, a := range c.any {
		if a.line != nil {
			a.line.join(c)
			c.listens = true
		}
	}
	defer func() {
		for _, a := range c.any {
			if a.line != nil {
				a.line.leave(c)
			}
		}
		c.until, c.any, c.listens = nil, c.any[:0], false
	}()
	c.poll, c.expiry, c.wake = nil, never, c.soonest()
	c.pause()
	return hit
}

// soonest returns when to look again at what First waits for.
func (c *Task) soonest() uint64 {
	soonest := uint64(never)
	for _, a := range c.any {
		soonest = min(soonest, a.at)
		if a.poll != nil {
			soonest = min(soonest, a.poll.next)
		}
	}
	return soonest
}
