package conformance_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conform runs the suite on a target, on which as many cases are to be skipped.
func conform(t *testing.T, target string, skips int) {
	t.Helper()
	r := check.Must(conformance.Execute(t.Context(), target, conformance.Options{}))(t)
	for _, x := range r.Results {
		switch x.Verdict {
		case conformance.Fail:
			t.Errorf("%s: %s\nagain: %s", x.Name, x.Reason, x.Again)
		default:
			t.Logf("%-24s %6.3f s  %s  %s", x.Name, x.Seconds, x.Verdict, x.Reason)
		}
	}
	for _, x := range r.Results {
		for _, m := range x.Measured {
			t.Logf("%s: %v", x.Name, m)
		}
	}
	if n := r.Count(conformance.Skip); n != skips {
		t.Errorf("%d cases were skipped, want %d", n, skips)
	}
	t.Logf("%.1f s; %v", r.Seconds, r.Links)
}

func TestModel(t *testing.T) {
	conform(t, "model:?links=3&frames=8", 0)
	conform(t, "model:?links=2&page=64&replay=512&rx=2048", 0)
}

func TestOneLink(t *testing.T) { conform(t, "model:", 2) }

// TestTCP has the target in a server, which keeps nothing from one connection to the next.
func TestTCP(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- tcp.Serve(ctx, l, func(ctx context.Context) (hostdrv.Transport, error) {
			return hostdrv.Dial(ctx, "model:?links=3&page=256")
		})
	}()
	conform(t, "tcp:"+l.Addr().String(), 2) // it cannot be reset, and its time does not stand still
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRTL(t *testing.T)  { conform(t, "rtl:?links=3&frames=8", 0) }
func TestWide(t *testing.T) { conform(t, "rtl:?links=3&frames=8&width=8", 0) }
