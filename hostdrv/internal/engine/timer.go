package engine

import (
	"cmp"
	"container/heap"
)

// Timer is something to be done at a tick.
type Timer struct {
	Fire func()

	at     uint64
	number uint64 // of those ever added: of two at the same tick the earlier one fires first
	place  int    // in the heap, plus one; 0: not active
}

// timers is a heap of those that are active, the next one first.
type timers []*Timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(t[i].at, t[j].at), cmp.Compare(t[i].number, t[j].number)) < 0
}

func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i+1, j+1
}

func (t *timers) Push(x any) {
	*t = append(*t, x.(*Timer))
	(*t)[len(*t)-1].place = len(*t)
}

func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	last.place, (*t)[len(*t)-1] = 0, nil
	*t = (*t)[:len(*t)-1]
	return last
}

// AddTimer makes a Timer fire at a tick, after those that fire then already. One that is active fires then only.
func (c *Core) AddTimer(t *Timer, at uint64) {
	if t.place > 0 && t.at == at {
		return
	}
	c.timersAdded++
	t.at, t.number = at, c.timersAdded
	if t.place > 0 {
		heap.Fix(&c.timers, t.place-1)
		return
	}
	heap.Push(&c.timers, t)
}

// RemoveTimer stops a Timer, if it is active.
func (c *Core) RemoveTimer(t *Timer) {
	if t.place > 0 {
		heap.Remove(&c.timers, t.place-1)
	}
}

// expire fires the timers that are due.
func (c *Core) expire() {
	for len(c.timers) > 0 && c.timers[0].at <= c.now {
		heap.Pop(&c.timers).(*Timer).Fire()
	}
}
