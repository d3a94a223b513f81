package model_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// The packet in a datagram for this node is carried out; any other ROUTE is dropped, and counts as a bad packet.
func TestRoutes(t *testing.T) {
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 512, RxBytes: 1024, Routes: true})
	b.grant(0, 1)
	check.Equal(t, "feature ROUTES", linkproto.FeatureRoutes.Of(b.register(linkproto.RegFeatures)), 1)
	write := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Addr: 4, Data: []byte{1, 2}}).Append(nil))(t)
	bad := uint32(0)
	for _, test := range []struct {
		name   string
		change func(*linkproto.Route)
		damage func([]byte)
		want   model.Outcome
	}{
		{"a datagram", nil, nil, model.Written},
		{"no hops left", func(r *linkproto.Route) { r.Hops = 0 }, nil, model.Written},
		{"any class", func(r *linkproto.Route) { r.Class = 2 }, nil, model.Written},
		{"another node's", func(r *linkproto.Route) { r.Dest = node + 256 }, nil, model.Malformed},
		{"of a virtual link", func(r *linkproto.Route) { r.State = linkproto.RouteDatagram ^ 1 }, nil, model.Malformed},
		{"with a virtual link", func(r *linkproto.Route) { r.VL = 256 }, nil, model.Malformed},
		{"with next", func(r *linkproto.Route) { r.Next = 1 }, nil, model.Malformed},
		{"with a number", func(r *linkproto.Route) { r.Seq = 1 }, nil, model.Malformed},
		{"around nothing", func(r *linkproto.Route) { r.Packet = nil }, nil, model.Malformed},
		{"around a packet of a wrong length", func(r *linkproto.Route) { r.Packet = r.Packet[:len(r.Packet)-1] }, nil, model.Malformed},
		{"around another ROUTE", func(r *linkproto.Route) { r.Packet = check.Must(r.Append(nil))(t) }, nil, model.Malformed},
		{"damaged by a router", nil, func(raw []byte) { raw[linkproto.RouteFields] ^= 1 }, model.Malformed},
		{"with via", nil, func(raw []byte) { raw[0] |= 1 << linkproto.TypeBits }, model.Malformed},
	} {
		r := linkproto.Route{Dest: node, Src: 5, Hops: 3, State: linkproto.RouteDatagram, Packet: write}
		if test.change != nil {
			test.change(&r)
		}
		raw := check.Must(r.Append(nil))(t)
		if test.damage != nil {
			test.damage(raw)
		}
		check.Fatal(t, b.ends[1].Send(raw))
		b.run(500)
		if last := b.seen[len(b.seen)-1]; last.Port != 1 || last.Outcome != test.want {
			t.Errorf("%s: %v, want %v", test.name, last.Outcome, test.want)
		}
		if test.want == model.Malformed {
			bad++
		}
		check.Equal(t, "bad packets behind one "+test.name, b.register(linkproto.CounterReg(1, linkproto.CntBadPacket)), bad)
	}
	check.Equal(t, "byte written", b.buffer(5, 1)[0], 2)
	b.send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 5, Data: []byte{9}}) // as on a cable
	b.run(500)
	check.Equal(t, "byte written without a ROUTE", b.buffer(5, 1)[0], 9)
}

// A host that never says RESUME does not hold up the network before its link: after a while ROUTEs are dropped, and counted; answers are not, and what is
// no ROUTE waits. When the host goes on, so does all.
func TestPatience(t *testing.T) {
	const patience = 20_000
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 512, RxBytes: 512, Routes: true, Patience: patience})
	b.grant(0, 1)
	r := linkproto.Route{Dest: node, State: linkproto.RouteDatagram}
	route := func(p linkproto.Packet) {
		t.Helper()
		r.Packet = check.Must(p.Append(nil))(t)
		raw := check.Must(r.Append(nil))(t)
		for b.ends[1].Send(raw) != nil {
			b.run(5000)
		}
	}
	denied := func() uint32 { return b.register(linkproto.CounterReg(1, linkproto.CntDenied)) }
	route(linkproto.Packet{Type: linkproto.TypeConnect, Port: 1})
	b.next(0)
	write := linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 60)}
	for range 5 {
		route(write)
	}
	b.run(patience / 2)
	check.Equal(t, "packets dropped early", denied(), 0)
	for range 20 {
		route(write)
	}
	route(linkproto.Packet{Type: linkproto.TypeDone, Tag: 3})
	b.run(1000)
	if raw, ok := b.ends[0].Receive(); !ok || linkproto.Type(raw[0]&(1<<linkproto.TypeBits-1)) != linkproto.TypeRoute {
		t.Errorf("the host is told % x, want the answer", raw)
	}
	b.send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 5, Data: []byte{9}})
	b.run(1000)
	late := denied()
	if late < 20 || late > 25 {
		t.Errorf("%d packets of 25 have been dropped", late)
	}
	b.status(linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: 1}, linkproto.StatusOK)
	b.run(1000)
	check.Equal(t, "byte written without a ROUTE", b.buffer(5, 1)[0], 9)
	write.Data[5] = 7
	route(write)
	b.run(1000)
	check.Equal(t, "byte written by a ROUTE", b.buffer(5, 1)[0], 7)
	check.Equal(t, "packets dropped since", denied(), late)
}
