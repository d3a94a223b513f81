package pagemem

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

func TestWatched(t *testing.T) {
	m := check.Must(newWatched([]byte{1, 2, 3}))(t)
	defer m.close()
	ask := func() (at []int) {
		t.Helper()
		check.Fatal(t, m.written(func(first, end int) { at = append(at, first, end) }))
		return at
	}
	if at := ask(); at != nil || m.memory[2] != 3 {
		t.Errorf("nothing was written, it says %v", at)
	}
	for round := range 3 {
		m.memory[5] = byte(round)
		check.Equal(t, fmt.Sprintf("round %d: changed bytes", round), ask(), []int{0, len(m.memory)})
		if at := ask(); at != nil {
			t.Errorf("round %d: asked again, it says %v", round, at)
		}
	}
}
