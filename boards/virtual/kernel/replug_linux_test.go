package kernel_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// replug unplugs the board in the middle of transfers, repeatedly: each time the driver fails at once, and works again after plugging in.
// Then it does so to a driver that reopens its target.
func replug(t *testing.T, target string) {
	b := pluggedIn(t)
	when, rng := rand.New(rand.NewPCG(1, 7)), rand.New(rand.NewPCG(1, 8))
	for range 4 {
		n := open(t, target, hostdrv.Options{})
		carried := make(chan bool)
		failed := make(chan error)
		go func() {
			for {
				if err := carry(t, n, rng); err != nil {
					close(carried)
					failed <- err
					return
				}
				carried <- true
			}
		}()
		for range when.IntN(3) + 1 {
			if !<-carried {
				t.Fatal(<-failed)
			}
		}
		time.Sleep(time.Duration(when.IntN(20)) * time.Millisecond)
		b.order(orderUnplug)
		for <-carried {
		}
		t.Log(<-failed)
		if err := n.Close(); err != nil {
			t.Log(err) // the device has gone
		}
		b.unplugged()
		b.plug()
	}
	n := open(t, target, hostdrv.Options{Reopen: time.Minute})
	check.Error(t, carry(t, n, rng))
	b.order(orderUnplug)
	b.order(orderPlug)
	check.Error(t, carry(t, n, rng))
	check.Error(t, n.Close())
}

func open(t *testing.T, target string, o hostdrv.Options) *hostdrv.NI {
	t.Helper()
	return check.Must(hostdrv.Open(t.Context(), target, o))(t)
}

// carry writes a page to the receive buffer, and expects to read it.
func carry(t *testing.T, n *hostdrv.NI, rng *rand.Rand) error {
	want, have := make([]byte, 4096), make([]byte, 4096)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := n.WriteBuffer(ctx, want, 0); err != nil {
		return err
	}
	if err := n.ReadBuffer(ctx, have, 0); err != nil {
		return err
	}
	check.Equal(t, "page read back", have, want)
	return nil
}
