package live

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
)

// pace lets time pass in a network that nobody waits for: as fast as it goes while something is under way, else a little of it now and then.
type pace struct{ host *lockstep.Host }

const (
	slice = 512 // clocks between two decisions
	share = 20  // of the time in which nothing is under way, one part in so many is simulated
)

// keepPace does so until ctx ends.
func (n *Network) keepPace(ctx context.Context) error {
	h := n.pace.host
	defer context.AfterFunc(ctx, h.Wake)()
	resting := false
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for ctx.Err() == nil {
		begun := time.Now()
		x := hostdrv.Exchange{Wait: slice, Idle: resting}
		if err := h.Exchange(&x); err != nil {
			if errors.Is(err, net.ErrClosed) {
				err = nil
			}
			return err
		}
		if resting && x.Ticks == 0 { // woken
			resting = false
			continue
		}
		look := n.Look()
		if rest := !look.Busy() && n.Traffic() == 0; rest && !resting {
			timer = time.AfterFunc(share*time.Since(begun), h.Wake)
			resting = true
		} else if !rest {
			resting = false
		}
	}
	return nil
}
