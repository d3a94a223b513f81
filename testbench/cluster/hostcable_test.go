package cluster_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// loose is a host's cable that can be pulled out.
type loose struct {
	hostdrv.Transport
	out atomic.Bool
}

func (l *loose) Exchange(x *hostdrv.Exchange) error {
	if !l.out.Load() {
		return l.Transport.Exchange(x)
	}
	lost := hostdrv.Exchange{Wait: x.Wait}
	err := l.Transport.Exchange(&lost)
	x.Taken, x.In, x.Ticks, x.Away = true, nil, lost.Ticks, lost.Away
	return err
}

// TestVirtualLinksHostCable pulls a host's cable for as long as it takes to lose packets. What virtual links of the network interface told the host meanwhile is
// lost, so its ports end at both nodes, and new ones work.
func TestVirtualLinksHostCable(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL} {
		t.Run(rung, func(t *testing.T) { hostCable(t, rung) })
	}
}

// looseHost opens two network interfaces with virtual links on a switch, and the drivers of their hosts, of which the second one's cable can be pulled.
func looseHost(t *testing.T, rung string) (w *cluster.World, nis []*hostdrv.NI, cable *loose) {
	c := check.Must(cluster.Open(t.Context(), cluster.Config{
		Topology: check.Must(topology.Generate("star", []int{2}, 1))(t), Seed: 1, Rung: rung, Virtual: 3,
	}))(t)
	w = c.Programs()
	t.Cleanup(func() { check.Error(t, w.Close()) })
	cable = &loose{}
	for i := range c.NIs {
		var host hostdrv.Transport = check.Must(w.Host(i))(t)
		if i == 1 {
			cable.Transport = host
			host = cable
		}
		n := check.Must(hostdrv.New(t.Context(), host, hostdrv.Options{Seed: uint64(i + 1)}))(t)
		t.Cleanup(func() { check.Error(t, n.Close()) })
		nis = append(nis, n)
	}
	return w, nis, cable
}

func hostCable(t *testing.T, rung string) {
	w, nis, cable := looseHost(t, rung)
	list := nodes(t, w, nis)
	ctx := t.Context()
	link := check.Must(list[0].LinkTo(number(w, 1)))(t)
	for round := range 2 {
		send, receive := drivertest.Channel(t, list[0], list[1], link, "")
		check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{byte(1 + round)}, 0), send.Sync(ctx)))
		check.Fatal(t, receive.Wait(ctx, func(page []byte) bool { return page[0] == byte(1+round) }))
		cable.out.Store(true)
		check.Fatal(t, send.WritePage(ctx, []byte{9}, 1))
		check.Fatal(t, list[0].NI().Sleep(ctx, 3*time.Millisecond))
		cable.out.Store(false)
		ended := func(p *hostdrv.Port) bool {
			select {
			case <-p.Done():
				return true
			default:
				return false
			}
		}
		for n := 0; !ended(send.Port()) || !ended(receive.Port()); n++ {
			check.Fatal(t, errors.Join(list[0].NI().Sleep(ctx, time.Millisecond), list[1].NI().Sleep(ctx, time.Millisecond)))
			if n > 100 {
				t.Fatalf("round %d: ended %v %v", round, ended(send.Port()), ended(receive.Port()))
			}
		}
	}
}
