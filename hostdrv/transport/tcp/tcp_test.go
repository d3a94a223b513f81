package tcp_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve makes a simulated NI reachable by TCP and returns its target.
func serve(t *testing.T, target string) string {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	first := check.Must(hostdrv.Dial(t.Context(), target))(t) // compiles it, while nobody waits
	check.Fatal(t, first.Close())
	check.Background(t, func(ctx context.Context) error {
		err := tcp.Serve(ctx, l, func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, target) })
		check.Fails(t, "end", err, context.Canceled)
		return nil
	})
	return "tcp:" + l.Addr().String()
}

func TestWriteAndRead(t *testing.T) {
	target := serve(t, "rtl:?frames=8&page=256")
	for range 2 { // one program after the other
		n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{}))(t)
		defer n.Close()
		ctx := t.Context()
		check.Fatal(t, n.SetFrame(ctx, 3, hostdrv.FrameEntry{Link: 1}))
		want := bytes.Repeat([]byte{0xDB, 'a', 0x1C}, 80) // escapes among it
		check.Fatal(t, n.Write(ctx, 1, 3*256, want))
		check.Fatal(t, n.Sync(ctx, 1))
		have := make([]byte, len(want))
		for !bytes.Equal(have, want) {
			check.Fatal(t, n.ReadBuffer(ctx, have, 3*256))
		}
		check.Fatal(t, n.Close())
	}
}

// TestNoDescriptors: a server that has none left for a connection goes on.
func TestNoDescriptors(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Background(t, func(ctx context.Context) error {
		err := tcp.Serve(ctx, check.Short(l, 2), func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, "model:") })
		check.Fails(t, "end", err, context.Canceled)
		return nil
	})
	n := check.Must(hostdrv.Open(t.Context(), "tcp:"+l.Addr().String(), hostdrv.Options{}))(t)
	check.Error(t, n.Close())
}

// TestRudeClient has a client break its connection off in the middle: the next one is served.
func TestRudeClient(t *testing.T) {
	target := serve(t, "model:")
	conn := check.Must(net.Dial("tcp", strings.TrimPrefix(target, "tcp:")))(t)
	check.Must(conn.Write(make([]byte, 1000)))(t)
	check.Fatal(t, errors.Join(conn.(*net.TCPConn).SetLinger(0), conn.Close())) // a reset
	n := check.Must(hostdrv.Open(t.Context(), target, hostdrv.Options{}))(t)
	check.Error(t, n.Close())
}

func TestErrors(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	mute := "tcp:" + l.Addr().String()
	for target, want := range map[string]error{
		"tcp:":                  hostdrv.ErrTarget,
		"tcp:localhost":         hostdrv.ErrTarget,
		"tcp:localhost:1?rat=3": hostdrv.ErrTarget,
		mute + "?rate=fast":     hostdrv.ErrTarget,
		mute + "?rate=10000000": hostdrv.ErrSilent, // someone listens and says nothing
	} {
		o := hostdrv.Options{LinkTimeout: 1000} // ns: the wall-clock time is in the target, not in the test
		check.Fails(t, target, check.Err(hostdrv.Open(t.Context(), target, o)), want)
	}
}

// slow is a driver's machine that has other things to do.
type slow struct{ hostdrv.Transport }

func (s slow) Exchange(x *hostdrv.Exchange) error {
	time.Sleep(10 * time.Millisecond)
	return s.Transport.Exchange(x)
}

// TestSlowDriver holds that a simulation, whose time runs faster than the driver's, does not give the driver up.
func TestSlowDriver(t *testing.T) {
	n, err := hostdrv.Open(t.Context(), serve(t, "model:"), hostdrv.Options{Wrap: func(_ string, t hostdrv.Transport) hostdrv.Transport { return slow{t} }})
	check.Fatal(t, err)
	defer n.Close()
	for i := range 20 {
		check.Fatal(t, n.WriteBuffer(t.Context(), []byte{1, 2}, i))
	}
	if restarts := n.CableCounters()[linkproto.CntRestarts]; restarts > 0 {
		t.Errorf("the link started again %d times", restarts)
	}
}
