package shared

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

// TestArea takes and gives parts, which never overlap, and of which nothing is lost.
func TestArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 64 * partBytes
		a := area{free: []span{{0, size}}}
		var owner [size]bool
		var taken []span
		set := func(s span, to bool) {
			for at := s.start; at < s.end; at++ {
				if owner[at] == to {
					t.Fatalf("byte %d of %+v was %v before", at, s, to)
				}
				owner[at] = to
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if n := len(taken); n > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				set(taken[i], false)
				a.give(taken[i].start, taken[i].end-taken[i].start)
				taken[i] = taken[n-1]
				taken = taken[:n-1]
				continue
			}
			bytes := rapid.IntRange(0, 20*partBytes).Draw(t, "bytes")
			if start, ok := a.take(bytes); ok {
				taken = append(taken, span{start, start + bytes})
				set(taken[len(taken)-1], true)
			}
		}
		for _, s := range taken {
			a.give(s.start, s.end-s.start)
		}
		check.Equal(t, "spans", len(a.free), 1)
		check.Equal(t, "free", a.free[0], span{0, size})
	})
}
