package cluster

import "sync"

// clockwork is what runs of a cluster but the hosts: RTL in lock-step, models, and what their cables carry.
type clockwork struct{ *Cluster }

// Run runs for so many clocks, a quantum at a time at most.
func (c clockwork) Run(clocks uint64) error {
	if c.group != nil {
		return c.group.run(int(clocks))
	}
	for left := int(clocks); left > 0; left -= quantum {
		if err := c.turn(min(left, quantum)); err != nil {
			return err
		}
	}
	return nil
}

// turn runs for n clocks. Models have done what they do in that time before RTL begins, which they do not hear before it is over.
func (c clockwork) turn(n int) error {
	c.keepTime(n)
	c.each(c.into, func(w *way) { w.arrive(n) })
	c.each(c.from, func(w *way) { w.depart(n) })
	if c.net == nil {
		return nil
	}
	if err := c.net.Run(uint64(n)); err != nil {
		return err
	}
	for _, ways := range c.into {
		for _, w := range ways {
			w.sent(n)
		}
	}
	for _, w := range c.leaving {
		w.sent(n)
	}
	return nil
}

// each calls f for ways by model, on as many threads as the network runs on; models share nothing.
func (c clockwork) each(ways [][]*way, f func(*way)) {
	threads := min(c.threads, len(ways))
	var group sync.WaitGroup
	for t := range threads {
		work := func() {
			for i := t; i < len(ways); i += threads {
				for _, w := range ways[i] {
					f(w)
				}
			}
		}
		if t == threads-1 {
			work()
		} else {
			group.Go(work)
		}
	}
	group.Wait()
}
