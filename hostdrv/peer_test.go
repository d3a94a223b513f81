package hostdrv_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// peer is a node whose program says what a test wants.
type peer struct {
	*testing.T
	ni     *hostdrv.NI
	events *hostdrv.Events
}

// hears returns the next message of the other node, and its port.
func (p peer) hears() (uint32, linkproto.NodeMessage) {
	p.Helper()
	for {
		e := check.Must(p.events.Next(p.Context()))(p)
		trap, ok := e.(*hostdrv.Trap)
		if !ok {
			continue
		}
		var m linkproto.NodeMessage
		check.Fatal(p, errors.Join(m.Decode(trap.Params), p.ni.Resume(p.Context(), trap.Link)))
		return trap.Port, m
	}
}

func (p peer) says(port uint32, m linkproto.NodeMessage) {
	p.Helper()
	check.Fatal(p, p.ni.Send(p.Context(), 1, linkproto.Packet{Type: linkproto.TypeConnect, Port: port, Data: m.Append(nil)}))
}

// TestIncompatiblePeer has a node of another version at the other end, then one with other pages, then one that fits, and then a newer one again: a
// Connect is told why it cannot be, field by field, and a port that stood ends.
func TestIncompatiblePeer(t *testing.T) { onEachShared(t, incompatiblePeer) }

func incompatiblePeer(t *testing.T, open func(*testing.T, plan) *network) {
	w := open(t, crossed)
	node := check.Must(hostdrv.Start(t.Context(), drive(t, w, 0, &drivertest.Cable{}), hostdrv.NodeOptions{Seed: 1}))(t)
	if w.share {
		node = share(t, node)
	}
	p := peer{T: t, ni: drive(t, w, 1, &drivertest.Cable{})}
	p.events = check.Must(p.ni.Events())(t)
	hello := linkproto.NodeMessage{Kind: linkproto.NodeHello, Flags: linkproto.NodeFlagAgain, Session: 5, PageBytes: uint16(small.PageBytes), Frames: 2}
	greet := func(change func(*linkproto.NodeMessage)) {
		t.Helper()
		m := hello
		change(&m)
		p.says(0, m)
		for {
			if _, back := p.hears(); back.Kind == linkproto.NodeHello && back.Flags == 0 { // those with Flags it has said by itself
				return
			}
		}
	}
	port, err := node.CreatePort(2, hostdrv.Send) // crossed: the peer's link 1
	check.Fatal(t, err)
	misfit := func(err error, field, have, want string) {
		t.Helper()
		var e *hostdrv.IncompatibleError
		check.Fails(t, field, err, hostdrv.ErrPeer, field, "is "+have+", want "+want)
		if !w.share && (!errors.As(err, &e) || e.Link != 2 || cmp.Diff([]hostdrv.Mismatch{{Field: field, Have: have, Want: want}}, e.Mismatches) != "") {
			t.Fatalf("%+v", e)
		}
	}
	waits := check.Go(func() error { return port.Connect(t.Context(), nil) }) // before or after the first hello
	greet(func(m *linkproto.NodeMessage) { m.Version = linkproto.NodeVersion + 1 })
	misfit(<-waits, "version", fmt.Sprint(linkproto.NodeVersion+1), fmt.Sprint(linkproto.NodeVersion))
	p.says(1, linkproto.NodeMessage{Kind: linkproto.NodeOpen}) // which a node of another version may mean otherwise
	greet(func(m *linkproto.NodeMessage) { m.PageBytes *= 2 })
	misfit(port.Connect(t.Context(), nil), "page_bytes", "256", "128")
	greet(func(m *linkproto.NodeMessage) {})
	waits = check.Go(func() error { return port.Connect(t.Context(), []byte("now")) })
	id, m := p.hears()
	if m.Kind != linkproto.NodeOpen || string(m.Text) != "now" || id != port.ID() {
		t.Fatalf("it says %v %q of port %d", m.Kind, m.Text, id)
	}
	p.says(id, linkproto.NodeMessage{Kind: linkproto.NodeAccept})
	check.Fatal(t, <-waits)
	window := check.Must(port.Window())(t)
	greet(func(m *linkproto.NodeMessage) { m.Version = linkproto.NodeVersion + 1 })
	err = window.WritePage(t.Context(), []byte{1}, 0)
	if err == nil { // a client hears of it at the next use
		err = window.Flush(t.Context())
	}
	misfit(err, "version", fmt.Sprint(linkproto.NodeVersion+1), fmt.Sprint(linkproto.NodeVersion))
	if s := node.Stats(); s.Malformed != 1 || s.Connects == 0 || len(node.Tables().Ports) != 0 {
		t.Errorf("%+v", s)
	}
}

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
			second := check.Go(func() error { return check.Err(d.b.Accept(over)) }) // from now on: it would be withdrawn soon
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
