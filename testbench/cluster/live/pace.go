package live

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
)

// pace lets time pass in a network that nobody waits for: as fast as it goes while something is under way, else a little of it now and then. Where nodes are outside
// their cables say how fast.
type pace struct{ host *lockstep.Host }

const (
	slice = 512 // clocks between two decisions
	share = 20  // of the time in which nothing is under way, one part in so many is simulated
)

// keepPace does so until ctx ends. Time passes while it waits in an Exchange that is not idle.
func (n *Network) keepPace(ctx context.Context) error {
	h := n.pace.host
	h.Patient()
	defer context.AfterFunc(ctx, h.Wake)()
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	resting, begun, passed := false, time.Now(), 0
	for ctx.Err() == nil {
		x := hostdrv.Exchange{Wait: slice, Idle: resting}
		if err := h.Exchange(&x); err != nil {
			if errors.Is(err, net.ErrClosed) {
				err = nil
			}
			return err
		}
		if resting && x.Ticks < slice { // woken
			resting, begun, passed = false, time.Now(), 0
			continue
		}
		if passed += x.Ticks; passed < slice {
			continue
		}
		look := n.Look()
		if rest := !look.Busy() && n.world.Cluster.Outsiders() == 0; rest && !resting {
			timer = time.AfterFunc(share*time.Since(begun), h.Wake)
			resting = true
		} else if !rest {
			resting = false
		}
		begun, passed = time.Now(), 0
	}
	return nil
}
