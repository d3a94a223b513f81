package hostdrv_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestRequestAfterDelete loses the acknowledgement of a request, and what ends it, but not the request: it is said again when it is over, and must
// not seem another one.
func TestRequestAfterDelete(t *testing.T) {
	for name, end := range map[string]func(*hostdrv.Request) error{
		"refused": func(r *hostdrv.Request) error { return r.Refuse("no") },
		"accepted and deleted": func(r *hostdrv.Request) error {
			p, err := r.Accept()
			return errors.Join(err, p.Delete())
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeaf(t, simulated(t, cabled), nil)
			d.carries(d.a, d.b)
			d.must(d.sync(d.a), d.sync(d.b))
			back := d.network.wires[1]
			d.network.plug(t, false, back)
			done := d.connect(d.a, d.port(d.a, hostdrv.Send), "")
			r, err := d.b.Accept(d.ctx)
			d.must(err, end(r))
			connects := d.b.Stats().Connects
			over, stop := context.WithCancel(d.ctx)
			second := make(chan error, 1)
			go func() { // from now on: it would be withdrawn soon
				_, err := d.b.Accept(over)
				second <- err
			}()
			for d.a.Stats().Resent == 0 {
				check.Must(d.a.NI().LinkStatus(d.ctx, 1))(t) // time passes
			}
			d.network.plug(t, true, back)
			err = <-done
			if e, is := errors.AsType[*hostdrv.RefusedPortError](err); name == "refused" && (!is || e.Reason != "no") {
				t.Errorf("a request that was refused ended with %v", err)
			}
			d.must(d.sync(d.a), d.sync(d.b))
			limit, cancel := d.b.WithTimeout(d.ctx, 1e6) // 1 ms
			defer cancel()
			_, third := d.b.Accept(limit) // time passes
			stop()
			if err := <-second; !errors.Is(err, context.Canceled) || !errors.Is(third, context.DeadlineExceeded) {
				t.Errorf("a request came twice: %v, %v", err, third)
			}
			if heard := d.b.Stats().Connects - connects; heard < 2 {
				t.Errorf("%d messages came behind the request: it was not said again, or its end not confirmed", heard)
			}
		})
	}
}

// TestManyEndedPorts refuses the requests of a peer that never says that it knows: the node remembers so many and no more. Of one that says so it takes
// more.
func TestManyEndedPorts(t *testing.T) {
	for confirms, want := range map[bool]string{false: "too many ports that the peer asked for have ended", true: "no"} {
		t.Run(fmt.Sprint("confirms: ", confirms), func(t *testing.T) {
			w, ctx := models(t, crossed), t.Context()
			node := check.Must(hostdrv.Start(ctx, drive(t, w, 0, &drivertest.Cable{}), hostdrv.NodeOptions{}))(t)
			p := peer{T: t, ni: drive(t, w, 1, &drivertest.Cable{})}
			p.events = check.Must(p.ni.Events())(t)
			p.says(0, linkproto.NodeMessage{Kind: linkproto.NodeHello, Session: 5, PageBytes: uint16(small.PageBytes), Frames: 2})
			const remembered = 1 << 14
			for id := uint32(1); ; id += 2 {
				p.says(id, linkproto.NodeMessage{Kind: linkproto.NodeOpen})
				if confirms || id < 2*remembered {
					r := check.Must(node.Accept(ctx))(t)
					check.Fatal(t, r.Refuse("no"))
				}
				about, m := p.hears()
				for m.Kind == linkproto.NodeHello {
					about, m = p.hears()
				}
				if about != id || m.Kind != linkproto.NodeRefuse {
					t.Fatalf("request %d: it says %v of %d", id, m.Kind, about)
				}
				if id > 2*remembered {
					if !strings.HasPrefix(string(m.Text), want) {
						t.Errorf("the last request was refused: %q, want %q", m.Text, want)
					}
					return
				}
				if confirms {
					p.says(id, linkproto.NodeMessage{Kind: linkproto.NodeClose})
				}
			}
		})
	}
}
