// Package drivertest is what the tests of the driver, of its transports and of its server have in common.
package drivertest

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// IsLoss reports whether an error says that packets were lost.
func IsLoss(err error) bool {
	_, is := errors.AsType[*hostdrv.LossError](err)
	return is
}

// LostBy is how many packets are reported as lost; any other error ends the test.
func LostBy(t check.TB, err error) uint64 {
	t.Helper()
	if loss, is := errors.AsType[*hostdrv.LossError](err); is {
		return loss.Lost
	}
	check.Fatal(t, err)
	return 0
}

// NoRestart is an error, or nil if that says only that a request was carried out when the link started again.
func NoRestart(err error) error {
	if _, restarted := errors.AsType[*hostdrv.RestartError](err); restarted {
		return nil
	}
	return err
}

// Channel connects a port from one node to the other, which may be the same.
func Channel(t testing.TB, from, to *hostdrv.Node, link int, params string) (send, receive *hostdrv.Window) {
	t.Helper()
	ctx := t.Context()
	accepted := check.Go(func() error {
		return try.Run(func() { receive = try.Get(try.Get(try.Get(to.Accept(ctx)).Accept()).Window()) })
	})
	p, err := from.Dial(ctx, link, hostdrv.Send, []byte(params))
	check.Fatal(t, errors.Join(err, <-accepted))
	return check.Must(p.Window())(t), receive
}

// Random makes a part of data random, and returns it.
func Random(rng *rand.Rand, part []byte) []byte {
	for i := range part {
		part[i] = byte(rng.Uint32())
	}
	return part
}

// Socket is a path for a socket, in a folder that is to be empty when the test ends. That of t.TempDir may be too long.
func Socket(t testing.TB) string {
	t.Helper()
	dir := check.Must(os.MkdirTemp("", "lmmc"))(t)
	t.Cleanup(func() { check.Error(t, os.Remove(dir)) })
	return filepath.Join(dir, "s")
}

// Unplugged takes an NI away while calls wait for it, which end with hostdrv.ErrGone.
func Unplugged(t testing.TB, n *hostdrv.NI, unplug func()) {
	t.Helper()
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() {
			var err error
			for err == nil {
				err = n.ReadBuffer(t.Context(), make([]byte, 1024), 0)
			}
			check.Fails(t, "read", err, hostdrv.ErrGone)
		})
	}
	unplug()
	users.Wait()
}

// Stuck closes a transport whose target takes no more bytes.
func Stuck(t testing.TB, transport hostdrv.Transport) {
	t.Helper()
	out := make([]linkproto.Symbol, transport.Timing().Burst)
	for stuck := 0; stuck < 3; stuck++ { // what is between may hold some thousand bytes
		x := hostdrv.Exchange{Out: out, Wait: int(transport.Timing().TicksPerSecond / 60)}
		check.Fatal(t, transport.Exchange(&x))
		if x.Taken {
			stuck = 0
		}
	}
	check.Error(t, transport.Close())
}
