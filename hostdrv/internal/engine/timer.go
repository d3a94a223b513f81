package engine

import (
	"cmp"
	"slices"
)

// Timer is something to be done at a tick.
type Timer struct {
	Fire func()

	at uint64
}

// AddTimer makes a Timer, which is not active, fire at a tick, after those that fire then already.
func (c *Core) AddTimer(t *Timer, at uint64) {
	t.at = at
	i, _ := slices.BinarySearchFunc(c.timers, at, func(other *Timer, at uint64) int { return cmp.Or(cmp.Compare(other.at, at), -1) })
	c.timers = slices.Insert(c.timers, i, t)
}

// RemoveTimer stops a Timer, if it is active.
func (c *Core) RemoveTimer(t *Timer) {
	c.timers = slices.DeleteFunc(c.timers, func(other *Timer) bool { return other == t })
}

// expire fires the timers that are due.
func (c *Core) expire() {
	for len(c.timers) > 0 && c.timers[0].at <= c.now {
		t := c.timers[0]
		c.timers = slices.Delete(c.timers, 0, 1)
		t.Fire()
	}
}
