package scenarios

import "testing"

// TestLines runs the scenarios over serial lines and UARTs, and those of test builds, with one seed each; those of hostile neighbours are in
// TestHostile.
func TestLines(t *testing.T) {
	for _, s := range All() {
		if s.Name == "pair-serial" || s.Name == "pair-uart" || s.Name == "inject" || s.Name == "trace" {
			t.Run(s.Name, func(t *testing.T) { once(t, s) })
		}
	}
}
