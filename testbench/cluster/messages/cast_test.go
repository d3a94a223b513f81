package messages_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/messages"
)

// TestCasts: all of a switch get what one sends as fast as that goes by its cable, in RTL and models, acknowledged or not.
func TestCasts(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL} {
		for _, acknowledged := range []bool{false, true} {
			rate := check.Must(messages.Casts(t.Context(), rung, 3, 1500, 250, acknowledged))(t)
			t.Log(rung, acknowledged, rate)
			if rate < 0.95 || rate > 1 {
				t.Errorf("%s, acknowledged %v: %.3f of a cable", rung, acknowledged, rate)
			}
		}
	}
}
