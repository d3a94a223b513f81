package hostdrv_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// deaf is two NIs joined by a cable.
type deaf struct {
	*testing.T
	ctx     context.Context // ends long after everything should be over
	network *network
	a, b    *hostdrv.Node
	cable   drivertest.Cable // of b's host
	lose    func(*deaf)
	started uint64 // nodes
}

// newDeaf starts both nodes.
func newDeaf(t *testing.T, w *network, lose func(*deaf)) *deaf {
	d := &deaf{T: t, lose: lose, network: w}
	d.b = d.node(1, &d.cable)
	d.a = d.node(0, &drivertest.Cable{})
	awaitUp(t, d.b.NI(), 1)
	var cancel context.CancelFunc
	d.ctx, cancel = d.b.NI().WithTimeout(t.Context(), 20e6) // 20 ms
	t.Cleanup(cancel)
	return d
}

// node starts one on an NI.
func (d *deaf) node(index int, c *drivertest.Cable) *hostdrv.Node {
	d.Helper()
	d.started++
	return check.Must(hostdrv.Start(d.Context(), drive(d.T, d.network, index, c), hostdrv.NodeOptions{Seed: d.started}))(d)
}

// hostIsDeaf keeps b's host from hearing its NI for so long that their link starts again: a TRAP that was told meanwhile is lost, and told
// again without what the CONNECT said.
func hostIsDeaf(d *deaf) {
	d.cable.CutAfter(0, 2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit, false, true)
}

// linkLoses unplugs the cable between the NIs for so long that their link starts again, and loses what was on its way.
func linkLoses(d *deaf) {
	d.network.plug(d, false, d.network.wires...)
	over, cancel := d.b.NI().WithTimeout(d.ctx, 2e6) // 2 ms, after 1 of which links start again
	plugged := make(chan struct{})
	go func() {
		defer close(plugged)
		<-over.Done()
		check.Error(d, d.network.Between(func() error { return errors.Join(d.network.wires[0].Plug(), d.network.wires[1].Plug()) }))
	}()
	d.Cleanup(func() {
		cancel()
		<-plugged
	})
}

// deafen begins when both have said what they had to say.
func (d *deaf) deafen() {
	d.Helper()
	d.must(d.sync(d.a), d.sync(d.b))
	d.lose(d)
}

// store stores a value, again if the link has lost it.
func (d *deaf) store(w *hostdrv.Window, v uint32) error {
	for {
		if err := w.StoreUint32(d.ctx, 0, v); !drivertest.IsLoss(err) {
			return err
		}
	}
}

// sync waits until all that was sent has arrived, or was lost.
func (d *deaf) sync(n *hostdrv.Node) error {
	if err := n.NI().Sync(d.ctx, 1); !drivertest.IsLoss(err) {
		return err
	}
	return nil
}

func (d *deaf) must(errs ...error) {
	d.Helper()
	check.Fatal(d, errors.Join(errs...))
}

// port is a new one.
func (d *deaf) port(n *hostdrv.Node, direction hostdrv.Direction) *hostdrv.Port {
	d.Helper()
	return check.Must(n.CreatePort(1, direction))(d)
}

// connect connects a node's port and returns how that ends, once the request is made: whoever waits before lets the time pass in which it is to get lost.
func (d *deaf) connect(n *hostdrv.Node, p *hostdrv.Port, params string) <-chan error {
	ended := check.Go(func() error { return p.Connect(d.ctx, []byte(params)) })
	asked := func(e hostdrv.PortEntry) bool {
		return e.Port == p.ID() && e.Direction == p.Direction().String() && e.State != "created"
	}
	for len(ended) == 0 && !slices.ContainsFunc(n.Tables().Ports, asked) {
		runtime.Gosched()
	}
	return ended
}

// request is the next one to a node, which is to be the only one.
func (d *deaf) request(n *hostdrv.Node) *hostdrv.Request {
	d.Helper()
	r, err := n.Accept(d.ctx)
	d.must(err)
	d.noRequest(n)
	return r
}

// noRequest holds that no request comes to a node.
func (d *deaf) noRequest(n *hostdrv.Node) {
	d.Helper()
	limit, cancel := n.WithTimeout(d.ctx, 1e6) // 1 ms
	defer cancel()
	check.Fails(d, "a second request", check.Err(n.Accept(limit)), context.DeadlineExceeded)
}

// storeUntilClosed stores until the port has ended, as its peer's Delete.
func (d *deaf) storeUntilClosed(send *hostdrv.Window) {
	d.Helper()
	var err error
	for err == nil {
		err = errors.Join(d.store(send, 1), d.sync(d.b))
	}
	check.Fails(d, "end of the port", err, hostdrv.ErrPortClosed)
}

// carries holds that a channel carries bytes from a node to the other.
func (d *deaf) carries(from, to *hostdrv.Node) {
	d.Helper()
	send, receive := drivertest.Channel(d.T, from, to, 1, "")
	d.must(d.store(send, 77), receive.Wait(d.ctx, func(page []byte) bool { return page[0] == 77 }))
}

func (d *deaf) refused(err error) {
	d.Helper()
	if _, is := errors.AsType[*hostdrv.RefusedPortError](err); !is {
		d.Errorf("a request that was refused ended with %v", err)
	}
}

// sayings are all that nodes say to each other, said by a. All goes on as if b had heard.
var sayings = map[string]func(d *deaf){
	"hello": func(d *deaf) {
		d.carries(d.a, d.b)
		d.deafen()
		d.must(d.a.Close())
		d.a = d.node(0, &drivertest.Cable{}) // which learns of b only if b has heard
		d.carries(d.a, d.b)
		d.carries(d.b, d.a)
	},
	"open": func(d *deaf) {
		d.carries(d.a, d.b)
		d.deafen()
		done := d.connect(d.a, d.port(d.a, hostdrv.Send), "what for")
		r := d.request(d.b)
		if string(r.Params()) != "what for" {
			d.Errorf("the request says %q", r.Params())
		}
		d.must(check.Err(r.Accept()), <-done)
	},
	"accept": func(d *deaf) {
		done := d.connect(d.b, d.port(d.b, hostdrv.Receive), "")
		r := d.request(d.a)
		d.deafen()
		d.must(check.Err(r.Accept()), <-done)
	},
	"refuse": func(d *deaf) {
		done := d.connect(d.b, d.port(d.b, hostdrv.Send), "")
		r := d.request(d.a)
		d.deafen()
		d.must(r.Refuse("no"))
		d.refused(<-done)
	},
	"close of the sender": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.a, d.b, 1, "")
		d.deafen()
		d.must(send.Port().Delete())
		check.Fails(d, "end of the port", receive.Wait(d.ctx, forever), hostdrv.ErrPortClosed)
	},
	"close of the receiver": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.b, d.a, 1, "")
		d.deafen()
		d.must(receive.Port().Delete())
		d.storeUntilClosed(send)
	},
	"refuse of a number that both have": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.a, d.b, 1, "")
		p := d.port(d.b, hostdrv.Send)
		if p.ID() != send.Port().ID() {
			d.Fatalf("the numbers are %d and %d", p.ID(), send.Port().ID())
		}
		done := d.connect(d.b, p, "")
		r := d.request(d.a)
		d.deafen()
		d.must(r.Refuse("no"))
		d.refused(<-done)
		d.must(d.store(send, 9), receive.Wait(d.ctx, func(page []byte) bool { return page[0] == 9 }))
	},
	"close of a number that both have": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.a, d.b, 1, "")
		back, home := drivertest.Channel(d.T, d.b, d.a, 1, "")
		if back.Port().ID() != send.Port().ID() {
			d.Fatalf("the numbers are %d and %d", back.Port().ID(), send.Port().ID())
		}
		d.deafen()
		d.must(send.Port().Delete())
		check.Fails(d, "end of the port", receive.Wait(d.ctx, forever), hostdrv.ErrPortClosed)
		d.must(d.store(back, 9), home.Wait(d.ctx, func(page []byte) bool { return page[0] == 9 }))
	},
	"close of a number that is to be connected": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.a, d.b, 1, "")
		p := d.port(d.b, hostdrv.Send)
		d.deafen()
		d.must(send.Port().Delete())
		check.Fails(d, "end of the port", receive.Wait(d.ctx, forever), hostdrv.ErrPortClosed)
		d.must(d.sync(d.a))
		done := d.connect(d.b, p, "")
		d.must(check.Err(d.request(d.a).Accept()), <-done)
	},
	"close while the other's request of the same number waits": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.b, d.a, 1, "")
		done := d.connect(d.a, d.port(d.a, hostdrv.Send), "")
		r := d.request(d.b)
		d.deafen()
		d.must(receive.Port().Delete())
		d.storeUntilClosed(send)
		d.must(check.Err(r.Accept()), <-done)
		d.noRequest(d.b)
	},
	"close while a request of the same number waits": func(d *deaf) {
		send, receive := drivertest.Channel(d.T, d.a, d.b, 1, "")
		p := d.port(d.b, hostdrv.Send)
		done := d.connect(d.b, p, "")
		r := d.request(d.a)
		d.deafen()
		d.must(send.Port().Delete())
		check.Fails(d, "end of the port", receive.Wait(d.ctx, forever), hostdrv.ErrPortClosed)
		d.must(check.Err(r.Accept()), <-done)
	},
}

// TestConnectRepeated loses the TRAPs of what is said.
func TestConnectRepeated(t *testing.T) {
	onEach(t, func(t *testing.T, open func(*testing.T, plan) *network) {
		unheard(t, open, hostIsDeaf, func(d *deaf) {
			if s := d.b.Stats(); s.Retraps == 0 {
				d.Errorf("b: %+v", s)
			}
		})
	})
}

// TestConnectLost loses the packets.
func TestConnectLost(t *testing.T) {
	unheard(t, simulated, linkLoses, func(d *deaf) {
		if c, err := d.a.NI().Counters(d.ctx, 1); err != nil || c[linkproto.CntLostPackets] == 0 {
			d.Errorf("the link has lost %d packets, %v", c[linkproto.CntLostPackets], err)
		}
	})
}

func unheard(t *testing.T, open func(*testing.T, plan) *network, lose, check func(*deaf)) {
	for name, run := range sayings {
		t.Run(name, func(t *testing.T) {
			d := newDeaf(t, open(t, cabled), lose)
			run(d)
			check(d)
			for _, n := range []*hostdrv.Node{d.a, d.b} {
				if s := n.Stats(); s.Malformed > 0 {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}
