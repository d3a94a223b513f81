package rtlsim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

// TestWatch compares what is seen of links from outside with what the NI's registers say, after a reset that has to be seen too, by both kinds of
// host port.
func TestWatch(t *testing.T) {
	for _, name := range []string{"rtl:?links=2&frames=8&page=128&replay=512&rx=512", "rtl:?frames=1&page=1024&replay=2048&rx=2048&uart=5"} {
		transport := check.Must(hostdrv.Dial(t.Context(), name))(t)
		target := transport.(Target)
		check.Fatal(t, target.Watch())
		if l := target.Probe(); l.Host || l.Link || l.Alive || l.Clocks != 0 || l.Links[0] != (hostdrv.LinkView{}) {
			t.Errorf("%s: before anything: %+v", name, l)
		}
		look := func() hostdrv.StatusProbe {
			x := hostdrv.Exchange{Wait: 2000}
			for ticks := 0; ticks < 2000; ticks += x.Ticks {
				check.Fatal(t, target.Exchange(&x))
			}
			return target.Probe()
		}
		first := look()
		check.Fatal(t, target.Reset())
		second := look()
		if a, b := first.Links[0], second.Links[0]; a.Up || b.Up || a.Life.Epoch() == 0 || b.Life.Epoch() == a.Life.Epoch() || !second.Link || second.Host || second.Clocks <= first.Clocks {
			t.Errorf("%s: %+v, and after a reset %+v", name, first, second)
		}
		n := check.Must(hostdrv.New(t.Context(), target, hostdrv.Options{Hash: rtl.Hash(), Seed: 1}))(t)
		check.Fatal(t, n.Sleep(t.Context(), time.Duration(2000/transport.Timing().TicksPerSecond*float64(time.Second)))) // with a nonce, links come up
		for i, have := range target.Probe().Links {
			s := check.Must(n.LinkStatus(t.Context(), i+1))(t)
			nonce := check.Must(n.ReadRegister(t.Context(), linkproto.RegNonce))(t)
			check.Equal(t, fmt.Sprintf("%s: look of link %d", name, i+1), have, hostdrv.LinkView{Up: true, Stop: s.OwnStop, Life: linkproto.LifeOf(nonce, uint8(i+1), s.Epoch)})
			check.Equal(t, fmt.Sprintf("%s: link %d up", name, i+1), s.Up, true)
		}
		if !target.Probe().Host {
			t.Errorf("%s: a host has used it, and its lamp is dark", name)
		}
		check.Error(t, n.Close())
	}
}

// TestLamps has the lamps at the clocks at which those of module board_ni change.
func TestLamps(t *testing.T) {
	var w watch
	const chunk = 1 << 12
	for at := 0; at < 1<<26+chunk; at += chunk {
		if l, want := w.now(), at>>25&1 != 0; l.Alive != want || l.Host != (at>>22 == 1 && at > 1<<22) || l.Link {
			t.Fatalf("after %d clocks: %+v", at, l)
		}
		w.passed(chunk, at == 1<<22, false)
	}
}
