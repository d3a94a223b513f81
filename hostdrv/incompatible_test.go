package hostdrv_test

import (
	"errors"
	"fmt"
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
	waits := make(chan error, 1)
	go func() { waits <- port.Connect(t.Context(), nil) }() // before or after the first hello
	greet(func(m *linkproto.NodeMessage) { m.Version = linkproto.NodeVersion + 1 })
	misfit(<-waits, "version", fmt.Sprint(linkproto.NodeVersion+1), fmt.Sprint(linkproto.NodeVersion))
	p.says(1, linkproto.NodeMessage{Kind: linkproto.NodeOpen}) // which a node of another version may mean otherwise
	greet(func(m *linkproto.NodeMessage) { m.PageBytes *= 2 })
	misfit(port.Connect(t.Context(), nil), "page_bytes", "256", "128")
	greet(func(m *linkproto.NodeMessage) {})
	go func() { waits <- port.Connect(t.Context(), []byte("now")) }()
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
