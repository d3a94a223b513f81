package wait

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestReleaseWithin: what is asked whether a wait is over may release others, and is asked again itself.
func TestReleaseWithin(t *testing.T) {
	var l List
	never := func() bool { return false }
	asked, over := 0, false
	first := l.Add(t.Context(), func() bool {
		if asked++; asked == 1 {
			over = true
			check.Equal(t, "released within", l.Release(never), 0)
			return false
		}
		return asked == 2
	})
	second := l.Add(t.Context(), func() bool { return over })
	third := l.Add(t.Context(), never)
	check.Equal(t, "released", l.Release(never), 2)
	check.Equal(t, "over", [3]bool{first.Over(), second.Over(), third.Over()}, [3]bool{true, true, false})
	check.Equal(t, "in the list", [3]bool{l.Remove(first), l.Remove(second), l.Remove(third)}, [3]bool{false, false, true})
}
