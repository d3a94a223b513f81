package model_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// route sends a ROUTE with a packet inside: of the host, or by a link of the router.
func (b *bench) route(port int, r linkproto.Route, p linkproto.Packet) {
	b.t.Helper()
	r.Via, r.State, r.Packet = uint8(0), linkproto.RouteDatagram, check.Must(p.Append(nil))(b.t)
	if port == 0 {
		r.Via = 1
	}
	check.Fatal(b.t, b.ends[port].Send(check.Must(r.Append(nil))(b.t)))
	b.run(1000)
}

// routed is the ROUTE that has come out of a link.
func (b *bench) routed(port int) (r linkproto.Route, ok bool) {
	b.t.Helper()
	raw, ok := b.ends[port].Receive()
	if ok {
		check.Fatal(b.t, r.Decode(raw))
	}
	return r, ok
}

func (b *bench) write(reg linkproto.Reg, value uint32) {
	b.t.Helper()
	b.status(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 1, Reg: reg, Value: value}, linkproto.StatusOK)
}

// A network interface with a router carries out what is for its number, sends what its host sends under that, and forwards the rest.
func TestNetwork(t *testing.T) {
	b := open(t, model.Config{Router: 3, PageBytes: 64, ReplayBytes: 512, RxBytes: 512, Patience: 20_000})
	b.grant(0, 1)
	b.write(linkproto.RouteReg(5), 2)
	b.write(linkproto.RouteReg(6), 3|1<<16)
	check.Equal(t, "LINKS", b.register(linkproto.RegLinks), 1)
	check.Equal(t, "feature ROUTER", linkproto.FeatureRouter.Of(b.register(linkproto.RegFeatures)), 1)
	for port := 1; port <= 3; port++ {
		check.Equal(t, "UP", linkproto.StatusUp.Of(b.register(linkproto.PortStatusReg(port))), 1)
		check.Equal(t, "peer", linkproto.PeerNode.Of(b.register(linkproto.PortPeerReg(port))), uint32(1000+port))
	}
	check.Equal(t, "UP of the network", linkproto.StatusUp.Of(b.register(linkproto.LinkStatusReg(1))), 1)

	one := linkproto.Packet{Type: linkproto.TypeWrite, Addr: 3, Data: []byte{7}}
	b.route(2, linkproto.Route{Dest: node, Src: 5, Hops: 1}, one)
	check.Equal(t, "byte written over the network", b.buffer(3, 1)[0], 7)
	b.route(1, linkproto.Route{Dest: 5, Src: 9, Hops: 4}, one)
	if r, ok := b.routed(2); !ok || r.Dest != 5 || r.Hops != 3 {
		t.Errorf("forwarded: %v %v", ok, &r)
	}
	b.route(0, linkproto.Route{Dest: 6, Src: node, Hops: 9}, one)
	if r, ok := b.routed(3); !ok || r.Dest != 6 || r.Hops != 8 || r.Via != 0 {
		t.Errorf("of the host: %v %v", ok, &r)
	}
	b.route(0, linkproto.Route{Dest: node, Src: node}, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 4, Data: []byte{8}})
	check.Equal(t, "byte written to itself", b.buffer(4, 1)[0], 8)
	b.route(0, linkproto.Route{Dest: 6, Src: 5, Hops: 9}, one)
	check.Equal(t, "packets under another number", b.register(linkproto.RouterBad.Reg(0)), 1)
	b.route(3, linkproto.Route{Dest: 8, Src: 5, Hops: 9}, one)
	check.Equal(t, "packets without a way", b.register(linkproto.RouterLost.Reg(3)), 1)
	for c, want := range map[linkproto.Counter]uint32{linkproto.CntRxPackets: 2, linkproto.CntTxPackets: 3} {
		check.Equal(t, fmt.Sprintf("%v of the network", c), b.register(linkproto.CounterReg(1, c)), want)
		check.Equal(t, fmt.Sprintf("%v of port 0", c), b.register(linkproto.PortCounterReg(0, c)), want)
	}
	check.Equal(t, "packets freed", linkproto.StatusFreed.Of(b.register(linkproto.LinkStatusReg(1))), 3)
}

// A host that never says RESUME does not hold up what goes through: after a while what is for its node is dropped, and counts; then it goes on.
func TestNetworkPatience(t *testing.T) {
	b := open(t, model.Config{Router: 2, PageBytes: 64, ReplayBytes: 512, RxBytes: 512, Slots: 2, Patience: 20_000})
	b.write(linkproto.RouteReg(5), 2)
	b.grant(0, 1)
	b.route(1, linkproto.Route{Dest: node, Src: 5}, linkproto.Packet{Type: linkproto.TypeConnect, Port: 1})
	b.next(0)
	write := linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 60)}
	for range 8 {
		b.route(1, linkproto.Route{Dest: node, Src: 5}, write)
	}
	b.route(1, linkproto.Route{Dest: 5, Src: 6, Hops: 1}, write)
	if _, ok := b.routed(2); ok {
		t.Fatal("nothing is held up, so nothing is tried")
	}
	b.run(40_000)
	if _, ok := b.routed(2); !ok {
		t.Error("a packet for another node is held up for ever")
	}
	late := b.register(linkproto.RouterLate.Reg(0))
	if late == 0 {
		t.Error("nothing has been dropped")
	}
	b.status(linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: 1}, linkproto.StatusOK)
	b.run(1000)
	check.Equal(t, "packets carried out or dropped", b.register(linkproto.CounterReg(1, linkproto.CntRxPackets))+late, 9)
}
