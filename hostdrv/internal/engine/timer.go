package engine

// Timer is something to be done at a tick.
type Timer struct {
	Fire func()

	at     uint64
	number uint64 // of those ever added: of two at the same tick the earlier one fires first
	place  int    // in the heap, plus one; 0: not active
}

// timers is a heap of those that are active, the next one first.
type timers []*Timer

func (t timers) less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].number < t[j].number
}

func (t timers) swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i+1, j+1
}

// fix moves the timer at i to where it belongs.
func (t timers) fix(i int) {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		next := 2*i + 1
		if next+1 < len(t) && t.less(next+1, next) {
			next++
		}
		if next >= len(t) || !t.less(next, i) {
			return
		}
		t.swap(i, next)
		i = next
	}
}

// AddTimer makes a Timer fire at a tick, after those that fire then already. One that is active fires then only.
func (c *Core) AddTimer(t *Timer, at uint64) {
	if t.place > 0 && t.at == at {
		return
	}
	c.timersAdded++
	t.at, t.number = at, c.timersAdded
	if t.place == 0 {
		c.timers = append(c.timers, t)
		t.place = len(c.timers)
	}
	c.timers.fix(t.place - 1)
}

// RemoveTimer stops a Timer, if it is active.
func (c *Core) RemoveTimer(t *Timer) {
	if t.place == 0 {
		return
	}
	i, last := t.place-1, len(c.timers)-1
	c.timers.swap(i, last)
	c.timers[last], t.place = nil, 0
	if c.timers = c.timers[:last]; i < last {
		c.timers.fix(i)
	}
}

// expire fires the timers that are due.
func (c *Core) expire() {
	for len(c.timers) > 0 && c.timers[0].at <= c.now {
		t := c.timers[0]
		c.RemoveTimer(t)
		t.Fire()
	}
}
