package hostdrv_test

import (
	"context"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
)

// TestBarrierCallsAreSure: a call about a barrier that the server has carried out when its context ends has succeeded. Else a group would stay open, and a member wait for a
// phase that it has left.
func TestBarrierCallsAreSure(t *testing.T) {
	type fate struct {
		cancel context.CancelFunc
		answer sharing.Message // once the program has cancelled the call
	}
	fates := make(chan fate, 1) // of the next call
	var f fate
	node := openFakeServer(t, func(m sharing.Message, say func(sharing.Message)) {
		if m.Op == sharing.OpCancel {
			say(f.answer)
			return
		}
		f = <-fates
		f.answer.Call = m.Call
		f.cancel()
	})
	during := func(answer sharing.Message, do func(context.Context) error) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fates <- fate{cancel, answer}
		return do(ctx)
	}
	done := sharing.Message{Op: sharing.OpDone}
	var group *hostdrv.Barrier
	check.Fatal(t, during(done, func(ctx context.Context) (err error) {
		group, err = node.OpenBarrier(ctx, hostdrv.BarrierGroup{Ports: 3})
		return err
	}))
	check.Error(t, during(done, group.Enter))
	check.Error(t, during(done, group.Wait))
	cancelled := sharing.Message{Op: sharing.OpFailed, Data: failed(t, context.Canceled)}
	check.Fails(t, "a wait that the server has cancelled", during(cancelled, group.Wait), context.Canceled, "waiting for the other members")
}
