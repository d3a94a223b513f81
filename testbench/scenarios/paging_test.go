package scenarios

import (
	"strings"
	"testing"
)

// TestPaging runs the scenarios of remote paging with one seed each.
func TestPaging(t *testing.T) {
	for _, s := range All() {
		if strings.HasPrefix(s.Name, "paging") {
			t.Run(s.Name, func(t *testing.T) { once(t, s) })
		}
	}
}
