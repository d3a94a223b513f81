package hostdrv_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestFailedStart: a Start that fails leaves an NI that says nothing of itself, relays nothing, and can be started again.
func TestFailedStart(t *testing.T) {
	for _, c := range []struct {
		name  string
		relay bool
		fail  func(n *hostdrv.NI, o hostdrv.NodeOptions) error
	}{
		{"events taken", false, func(n *hostdrv.NI, o hostdrv.NodeOptions) error {
			return errors.Join(check.Err(n.Events()), check.Err(hostdrv.Start(t.Context(), n, o)))
		}},
		{"context ended", false, ended},
		{"context ended, relay", true, ended},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said atomic.Int32
			f := network5(t, nil)
			f.regs[linkproto.RegFeatures] |= linkproto.FeaturePaging.In(1) | linkproto.FeatureNotify.In(1)
			f.routed = func(*fake, linkproto.Route) { said.Add(1) }
			o := hostdrv.NodeOptions{Peers: []hostdrv.Peer{{Node: 5}}}
			if c.relay {
				f.regs[linkproto.RegFeatures] &^= linkproto.FeatureRoutes.In(1)
				o.Relay = map[uint16]int{5: 1}
			}
			n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
			if err := c.fail(n, o); err == nil {
				t.Fatal("Start did not fail")
			}
			check.Fatal(t, n.Sleep(t.Context(), time.Millisecond)) // in which it says what was to be said
			before := said.Load()
			check.Fatal(t, n.Sleep(t.Context(), time.Second))
			check.Equal(t, "ROUTEs to the peer", said.Load(), before)
			if c.relay {
				check.Equal(t, "ROUTEs to an NI that takes none", before, 0)
				check.Fails(t, "a datagram", n.SendRouted(t.Context(), 1, 5, linkproto.Packet{Type: linkproto.TypeMessage}), hostdrv.ErrNoRoutes)
			}
			if c.name != "events taken" {
				check.Fatal(t, check.Err(hostdrv.Start(t.Context(), n, o)))
			}
		})
	}
}

func ended(n *hostdrv.NI, o hostdrv.NodeOptions) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return check.Err(hostdrv.Start(ctx, n, o))
}
