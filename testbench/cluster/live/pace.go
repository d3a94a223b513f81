package live

import (
	"context"
	"errors"
	"math"
	"net"

	"github.com/stafflink/lmmc/hostdrv"
)

// keepPace lets time pass in a network that nobody waits for, until ctx ends: as fast as it goes while something is under way, else a little of it now and then (World.Rest).
// Where nodes are outside their cables say how fast.
func (n *Network) keepPace(ctx context.Context) error {
	n.pace.Patient()
	defer context.AfterFunc(ctx, n.pace.Wake)()
	for ctx.Err() == nil {
		if err := n.pace.Exchange(&hostdrv.Exchange{Wait: math.MaxInt32, Patient: true}); err != nil {
			if errors.Is(err, net.ErrClosed) {
				err = nil
			}
			return err
		}
	}
	return nil
}
