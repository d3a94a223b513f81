package pipe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bridged is some NIs of one simulation, in a bubble of its own time. Those from the given one on are behind streams whose other ends say
// nothing but one symbol, and are listened to.
func bridged(t *testing.T, nis, from int) *modelsim.Network {
	t.Helper()
	w := check.Must(modelsim.New(modelsim.Config{NIs: nis, NI: model.Config{Links: 1, Frames: 4, PageBytes: 64}}))(t)
	t.Cleanup(func() { w.Close() })
	for i := from; i < nis; i++ {
		host := check.Must(w.Host(i))(t)
		near, far := net.Pipe()
		t.Cleanup(func() { far.Close() })
		check.Background(t, func(ctx context.Context) error {
			check.Fails(t, "bridge", pipe.Bridge(ctx, near, host), context.Canceled)
			return nil
		})
		go io.Copy(io.Discard, far)
		check.Must(far.Write([]byte{1}))(t)
	}
	return w
}

// TestPace lets the time of simulations go on by itself, as fast as Bridge says however many bridges there are.
func TestPace(t *testing.T) {
	for _, nis := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			w := bridged(t, nis, 0)
			time.Sleep(time.Second) // what goes on freely at first is over
			before := w.Ticks()
			time.Sleep(10 * time.Second)
			if ticks := w.Ticks() - before; ticks < 950_000 || ticks > 1_050_000 {
				t.Errorf("%d bridges: %d ticks in 10 s, want 1,000,000", nis, ticks)
			}
		})
	}
}

// slow is a target that takes a while for each tick.
type slow struct{ hostdrv.Transport }

const slowTick = 100 * time.Microsecond

func (s slow) Exchange(x *hostdrv.Exchange) error {
	err := s.Transport.Exchange(x)
	time.Sleep(time.Duration(x.Ticks) * slowTick)
	return err
}

// TestRest leaves a target that is slow to simulate alone with a stream that says nothing: soon it takes a twentieth of the time, until something comes.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := check.Must(modelsim.New(modelsim.Config{NIs: 1, NI: model.Config{Links: 1, Frames: 4, PageBytes: 64}}))(t)
		host := check.Must(w.Sole())(t)
		near, far := net.Pipe()
		ended := check.Go(func() error { return pipe.Bridge(t.Context(), near, slow{host}) })
		go io.Copy(io.Discard, far)
		busy := func(of time.Duration) float64 {
			before := w.Ticks()
			time.Sleep(of)
			return float64(time.Duration(w.Ticks()-before)*slowTick) / float64(of)
		}
		if b := busy(9 * time.Second); b < 0.8 {
			t.Errorf("at first it is busy for %.2f of the time", b)
		}
		time.Sleep(2 * time.Second)
		if b := busy(100 * time.Second); b < 0.03 || b > 0.06 {
			t.Errorf("when the stream is silent it is busy for %.3f of the time", b)
		}
		check.Must(far.Write([]byte{1}))(t)
		if b := busy(9 * time.Second); b < 0.8 {
			t.Errorf("when something has come it is busy for %.2f of the time", b)
		}
		far.Close()
		check.Error(t, <-ended)
	})
}

// TestPaceHoldsNobodyUp drives an NI of a simulation at full speed while others are bridged to hosts that are slow to answer.
func TestPaceHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bridged(t, 3, 1)
		host := check.Must(w.Host(0))(t)
		start, before := time.Now(), w.Ticks()
		n := check.Must(hostdrv.New(t.Context(), host, hostdrv.Options{}))(t)
		t.Cleanup(func() { n.Close() })
		for range 1000 {
			check.Must(n.ReadRegister(t.Context(), 0))(t)
		}
		ticks := w.Ticks() - before
		if passed := time.Since(start); passed > 0 || ticks < 50_000 {
			t.Errorf("%d ticks took %v of waiting", ticks, passed)
		}
	})
}

// TestFarewell: what a driver has read is acknowledged when it closes, though acknowledgements wait for something to go with.
func TestFarewell(t *testing.T) {
	w := check.Must(modelsim.New(modelsim.Config{NI: model.Config{Links: 1, Frames: 4, PageBytes: 64}}))(t)
	defer w.Close()
	for range 5 {
		host := check.Must(w.Host(0))(t)
		near, far := net.Pipe()
		ended := check.Go(func() error { return pipe.Bridge(t.Context(), near, host) })
		n, err := hostdrv.New(t.Context(), pipe.New(far, hostdrv.Timing{TicksPerSecond: 1e5, Burst: 4096, LinkTimeout: 1 << 20, AckCoalesce: pipe.AckCoalesce}), hostdrv.Options{})
		check.Fatal(t, err)
		if lost, err := n.ReadRegister(t.Context(), linkproto.CounterReg(0, linkproto.CntLostPackets)); err != nil || lost > 0 {
			t.Errorf("%d packets to the last driver were lost, %v", lost, err)
		}
		check.Fatal(t, errors.Join(n.Close(), <-ended))
	}
}
