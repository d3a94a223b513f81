package hostdrv_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/modelsim"
	"github.com/stafflink/lmmc/linkproto"
)

// deaf is two NIs joined by a cable. The host of the second can be made not to hear it for so long that their link starts again: a
// TRAP that was told meanwhile is lost, and told again without what the CONNECT said.
type deaf struct {
	*testing.T
	ctx     context.Context // ends long after everything should be over
	network *network
	a, b    *hostdrv.Node
	cable   cable
	started uint64 // nodes
}

// node starts one on an NI.
func (d *deaf) node(index int, c *cable) *hostdrv.Node {
	d.Helper()
	d.started++
	node, err := hostdrv.Start(d.Context(), drive(d.T, d.network, index, c), hostdrv.NodeOptions{Seed: d.started})
	if err != nil {
		d.Fatal(err)
	}
	return node
}

// deafen begins when both have said what they had to say.
func (d *deaf) deafen() {
	d.Helper()
	d.must(d.a.NI().Sync(d.ctx, 1), d.b.NI().Sync(d.ctx, 1))
	d.cable.cutAfter(0, 2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit, false, true)
}

func (d *deaf) must(errs ...error) {
	d.Helper()
	if err := errors.Join(errs...); err != nil {
		d.Fatal(err)
	}
}

// port is a new one.
func (d *deaf) port(n *hostdrv.Node, direction hostdrv.Direction) *hostdrv.Port {
	d.Helper()
	p, err := n.CreatePort(1, direction)
	d.must(err)
	return p
}

// connect connects one and returns how that ends.
func (d *deaf) connect(p *hostdrv.Port, params string) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- p.Connect(d.ctx, []byte(params)) }()
	return ended
}

// request is the next one to a node, which is to be the only one.
func (d *deaf) request(n *hostdrv.Node) *hostdrv.Request {
	d.Helper()
	r, err := n.Accept(d.ctx)
	d.must(err)
	limit, cancel := n.WithTimeout(d.ctx, 1e6) // 1 ms
	defer cancel()
	if again, err := n.Accept(limit); !errors.Is(err, context.DeadlineExceeded) {
		d.Fatalf("a request came twice: %+v, %v", again, err)
	}
	return r
}

// carries holds that a channel carries bytes from a node to the other.
func (d *deaf) carries(from, to *hostdrv.Node) {
	d.Helper()
	send, receive := channel(d.T, from, to, 1, "")
	d.must(send.StoreUint32(d.ctx, 0, 77), receive.Wait(d.ctx, func(page []byte) bool { return page[0] == 77 }))
}

func (d *deaf) refused(err error) {
	d.Helper()
	if e := new(hostdrv.RefusedPortError); !errors.As(err, &e) {
		d.Errorf("a request that was refused ended with %v", err)
	}
}

// TestConnectToldAgain loses a TRAP at each thing that nodes say to each other, where the one that says it is a. All goes on as if b had heard.
func TestConnectToldAgain(t *testing.T) {
	cases := map[string]func(d *deaf){
		"hello": func(d *deaf) {
			d.carries(d.a, d.b)
			d.deafen()
			d.must(d.a.Close())
			d.a = d.node(0, &cable{}) // which learns of b only if b has heard
			d.carries(d.a, d.b)
			d.carries(d.b, d.a)
		},
		"open": func(d *deaf) {
			d.carries(d.a, d.b)
			d.deafen()
			done := d.connect(d.port(d.a, hostdrv.Send), "what for")
			r := d.request(d.b)
			if string(r.Params()) != "what for" {
				d.Errorf("the request says %q", r.Params())
			}
			_, err := r.Accept()
			d.must(err, <-done)
		},
		"accept": func(d *deaf) {
			done := d.connect(d.port(d.b, hostdrv.Receive), "")
			r := d.request(d.a)
			d.deafen()
			_, err := r.Accept()
			d.must(err, <-done)
		},
		"refuse": func(d *deaf) {
			done := d.connect(d.port(d.b, hostdrv.Send), "")
			r := d.request(d.a)
			d.deafen()
			d.must(r.Refuse("no"))
			d.refused(<-done)
		},
		"close of the sender": func(d *deaf) {
			send, receive := channel(d.T, d.a, d.b, 1, "")
			d.deafen()
			d.must(send.Port().Delete())
			if err := receive.Wait(d.ctx, func([]byte) bool { return false }); !errors.Is(err, hostdrv.ErrPortClosed) {
				d.Error(err)
			}
		},
		"close of the receiver": func(d *deaf) {
			send, receive := channel(d.T, d.b, d.a, 1, "")
			d.deafen()
			d.must(receive.Port().Delete())
			var err error
			for err == nil {
				err = errors.Join(send.StoreUint32(d.ctx, 0, 1), d.b.NI().Sync(d.ctx, 1))
			}
			if !errors.Is(err, hostdrv.ErrPortClosed) {
				d.Error(err)
			}
		},
		"refuse of a number that both have": func(d *deaf) {
			send, receive := channel(d.T, d.a, d.b, 1, "")
			p := d.port(d.b, hostdrv.Send)
			if p.ID() != send.Port().ID() {
				d.Fatalf("the numbers are %d and %d", p.ID(), send.Port().ID())
			}
			done := d.connect(p, "")
			r := d.request(d.a)
			d.deafen()
			d.must(r.Refuse("no"))
			d.refused(<-done)
			d.must(send.StoreUint32(d.ctx, 0, 9), receive.Wait(d.ctx, func(page []byte) bool { return page[0] == 9 }))
		},
		"close of a number that both have": func(d *deaf) {
			send, receive := channel(d.T, d.a, d.b, 1, "")
			back, home := channel(d.T, d.b, d.a, 1, "")
			if back.Port().ID() != send.Port().ID() {
				d.Fatalf("the numbers are %d and %d", back.Port().ID(), send.Port().ID())
			}
			d.deafen()
			d.must(send.Port().Delete())
			if err := receive.Wait(d.ctx, func([]byte) bool { return false }); !errors.Is(err, hostdrv.ErrPortClosed) {
				d.Error(err)
			}
			d.must(back.StoreUint32(d.ctx, 0, 9), home.Wait(d.ctx, func(page []byte) bool { return page[0] == 9 }))
		},
		"close of a number that is to be connected": func(d *deaf) {
			send, receive := channel(d.T, d.a, d.b, 1, "")
			p := d.port(d.b, hostdrv.Send)
			d.deafen()
			d.must(send.Port().Delete())
			if err := receive.Wait(d.ctx, func([]byte) bool { return false }); !errors.Is(err, hostdrv.ErrPortClosed) {
				d.Error(err)
			}
			d.must(d.a.NI().Sync(d.ctx, 1))
			done := d.connect(p, "")
			_, err := d.request(d.a).Accept()
			d.must(err, <-done)
		},
		"close while the other's request of the same number waits": func(d *deaf) {
			send, receive := channel(d.T, d.b, d.a, 1, "")
			done := d.connect(d.port(d.a, hostdrv.Send), "")
			r := d.request(d.b)
			d.deafen()
			d.must(receive.Port().Delete())
			var err error
			for err == nil {
				err = errors.Join(send.StoreUint32(d.ctx, 0, 1), d.b.NI().Sync(d.ctx, 1))
			}
			if !errors.Is(err, hostdrv.ErrPortClosed) {
				d.Error(err)
			}
			_, err = r.Accept()
			d.must(err, <-done)
			limit, cancel := d.b.WithTimeout(d.ctx, 1e6) // 1 ms
			defer cancel()
			if again, err := d.b.Accept(limit); !errors.Is(err, context.DeadlineExceeded) {
				d.Errorf("a request came twice: %+v, %v", again, err)
			}
		},
		"close while a request of the same number waits": func(d *deaf) {
			send, receive := channel(d.T, d.a, d.b, 1, "")
			p := d.port(d.b, hostdrv.Send)
			done := d.connect(p, "")
			r := d.request(d.a)
			d.deafen()
			d.must(send.Port().Delete())
			if err := receive.Wait(d.ctx, func([]byte) bool { return false }); !errors.Is(err, hostdrv.ErrPortClosed) {
				d.Error(err)
			}
			_, err := r.Accept()
			d.must(err, <-done)
		},
	}
	onEach(t, func(t *testing.T, open func(*testing.T, plan) *network) {
		for name, run := range cases {
			t.Run(name, func(t *testing.T) {
				d := &deaf{T: t, network: open(t, plan{nis: 2, cables: []modelsim.Cable{{LinkA: 1, B: 1, LinkB: 1}}})}
				d.b = d.node(1, &d.cable)
				d.a = d.node(0, &cable{})
				var cancel context.CancelFunc
				d.ctx, cancel = d.b.NI().WithTimeout(t.Context(), 20e6) // 20 ms
				defer cancel()
				run(d)
				if s := d.b.Stats(); s.Retold == 0 || s.Malformed > 0 {
					t.Errorf("b: %+v", s)
				}
				if s := d.a.Stats(); s.Malformed > 0 {
					t.Errorf("a: %+v", s)
				}
			})
		}
	})
}
