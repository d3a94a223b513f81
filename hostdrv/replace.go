package hostdrv

// Replacement decides which of a peer's frames a port gets, by index from 0. It is called under a lock: it must not wait, nor call the
// driver.
type Replacement interface {
	// Used says that a frame's port is being written.
	Used(frame int)
	// Victim chooses a frame, all being in use.
	Victim() int
}

// clock is the second-chance algorithm.
type clock struct {
	used []bool
	hand int
}

// NewClock returns a clock with second chance: the hand passes over a frame that was written since it came by last. Of no frames it chooses
// -1, which is none.
func NewClock(frames int) Replacement { return &clock{used: make([]bool, max(frames, 0))} }

// Used gives the frame its second chance.
func (c *clock) Used(frame int) {
	if uint(frame) < uint(len(c.used)) {
		c.used[frame] = true
	}
}

// Victim moves the hand on to a frame without one.
func (c *clock) Victim() int {
	if len(c.used) == 0 {
		return -1
	}
	for c.used[c.hand] {
		c.used[c.hand] = false
		c.hand = (c.hand + 1) % len(c.used)
	}
	victim := c.hand
	c.hand = (c.hand + 1) % len(c.used)
	return victim
}
