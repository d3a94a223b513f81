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
	c.each(c.into, (*way).arrive, n)
	c.each(c.from, (*way).depart, n)
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

// each calls f with n for ways by model, on as many threads as the network runs on; models share nothing.
func (c clockwork) each(ways [][]*way, f func(*way, int), n int) {
	threads := min(c.threads, len(ways))
	if threads <= 1 {
		every(ways, 0, 1, f, n)
		return
	}
	var group sync.WaitGroup
	for t := range threads - 1 {
		group.Go(func() { every(ways, t, threads, f, n) })
	}
	every(ways, threads-1, threads, f, n)
	group.Wait()
}

// every calls f with n for the ways of every so many models.
func every(ways [][]*way, first, step int, f func(*way, int), n int) {
	for i := first; i < len(ways); i += step {
		for _, w := range ways[i] {
			f(w, n)
		}
	}
}
