package engine

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Timers fire once each, in the order of their ticks, those of one tick in the order in which they were added, each when it was added for last, and none that was removed.
func TestTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct{ at, id uint64 }
		var c Core
		var active []entry
		var fired []uint64
		timers := make([]Timer, 40)
		for i := range timers {
			timers[i].Fire = func() { fired = append(fired, uint64(i)) }
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			id := rapid.Uint64Range(0, uint64(len(timers)-1)).Draw(t, "timer")
			if rapid.Bool().Draw(t, "add") {
				now := entry{c.now + rapid.Uint64Range(0, 9).Draw(t, "at"), id}
				c.AddTimer(&timers[id], now.at)
				if !slices.Contains(active, now) { // else it stays where it is
					active = append(slices.DeleteFunc(active, func(e entry) bool { return e.id == id }), now)
				}
			} else {
				c.RemoveTimer(&timers[id])
				active = slices.DeleteFunc(active, func(e entry) bool { return e.id == id })
			}
			c.now += rapid.Uint64Range(0, 3).Draw(t, "ticks")
			slices.SortStableFunc(active, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
			var want []uint64
			for len(active) > 0 && active[0].at <= c.now {
				want, active = append(want, active[0].id), active[1:]
			}
			fired = nil
			c.expire()
			if !slices.Equal(fired, want) {
				t.Fatalf("at tick %d timers %v fired, want %v", c.now, fired, want)
			}
		}
	})
}
