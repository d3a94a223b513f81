package hostdrv_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestLateBehindImmediate: a Flush does not bring back what was written late where something was written at once since.
func TestLateBehindImmediate(t *testing.T) { onEachShared(t, lateBehindImmediate) }

func lateBehindImmediate(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, a, b, 1, "")
	check.Fatal(t, errors.Join(send.Port().SetWritePolicy(hostdrv.Late), send.WritePage(ctx, []byte("late"), 0)))
	check.Fatal(t, errors.Join(send.Port().SetWritePolicy(hostdrv.Immediate), send.WritePage(ctx, []byte("ow"), 1), send.Flush(ctx), send.WritePage(ctx, []byte("!"), 4)))
	have := make([]byte, 5)
	check.Fatal(t, receive.Wait(ctx, func(page []byte) bool { return copy(have, page) > 0 && have[4] == '!' }))
	check.Equal(t, "page", string(have), "lowe!")
}
