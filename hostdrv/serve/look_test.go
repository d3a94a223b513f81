package serve

import (
	"context"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
)

// restless are the rings of a program that asks for something each time that the server has looked.
type restless struct {
	hostdrv.MessageRings
	rings *sharing.Rings
	looks int
}

func (r *restless) Rings() *sharing.Rings { return r.rings }

func (r *restless) Pull() error {
	if r.looks++; r.looks == 1000 {
		return fmt.Errorf("it looks for ever")
	}
	r.rings.Want(uint64(r.looks))
	return nil
}

// TestLookEnds: the server does not look any more at what a program posts whose context is being closed, or whose connection has ended, however much that is.
func TestLookEnds(t *testing.T) {
	info := sharing.ContextInfo{Sends: 1, Receives: 1}
	for _, closing := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		r := &restless{rings: check.Must(info.Rings(make([]byte, info.Bytes())))(t)}
		x := &messages{MessageRings: r, client: &client{connection: ctx}}
		if closing {
			x.closing.Store(true)
		} else {
			cancel()
		}
		x.look(lookFor)
		cancel()
		check.Equal(t, fmt.Sprint("looks, closing ", closing), r.looks, 0)
	}
}
