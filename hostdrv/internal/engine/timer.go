package engine

import "container/heap"

// Timer is something to be done at a tick.
type Timer struct {
	Fire func()

	at     uint64
	active bool
	index  int // in timers, while active
}

// AddTimer makes a Timer, which is not active, fire at a tick.
func (c *Core) AddTimer(t *Timer, at uint64) {
	t.at = at
	heap.Push(&c.timers, t)
}

// RemoveTimer stops a Timer, if it is active.
func (c *Core) RemoveTimer(t *Timer) {
	if t.active {
		heap.Remove(&c.timers, t.index)
	}
}

// timers is a heap, the first one to fire at its top.
type timers []*Timer

func (t *timers) expire(now uint64) {
	for len(*t) > 0 && (*t)[0].at <= now {
		heap.Pop(t).(*Timer).Fire()
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
	timer := x.(*Timer)
	timer.index, timer.active = len(*t), true
	*t = append(*t, timer)
}

func (t *timers) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	(*t)[last] = nil
	*t = (*t)[:last]
	x.active = false
	return x
}
