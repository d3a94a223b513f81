package model_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// The packet in a datagram for this node is carried out, and a ROUTE of a virtual link is for the host; any other is dropped, and counts as a bad packet.
func TestRoutes(t *testing.T) {
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 512, RxBytes: 1024, Routes: true})
	b.grant(0, 1)
	check.Equal(t, "feature ROUTES", linkproto.FeatureRoutes.Of(b.register(linkproto.RegFeatures)), 1)
	write := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Addr: 4, Data: []byte{1, 2}}).Append(nil))(t)
	message := check.Must((&linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: 0x0800, Rest: 2, Data: []byte{1, 2}}).Append(nil))(t)
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
		{"a multicast group's", func(r *linkproto.Route) { r.Dest = linkproto.MulticastBase + 9 }, nil, model.Written},
		{"a multicast group's MESSAGE", func(r *linkproto.Route) { r.Dest, r.Packet = linkproto.MulticastBase, message }, nil, model.Told},
		{"of a virtual link to a multicast group", func(r *linkproto.Route) { r.Dest, r.State = linkproto.MulticastBase, 0 }, nil, model.Malformed},
		{"of a node just below multicast groups", func(r *linkproto.Route) { r.Dest = linkproto.MulticastBase - 1 }, nil, model.Malformed},
		{"another node's", func(r *linkproto.Route) { r.Dest = node + 256 }, nil, model.Malformed},
		{"of a virtual link", func(r *linkproto.Route) { r.State = linkproto.RouteDatagram ^ 1 }, nil, model.Told},
		{"of a virtual link, with anything in it", func(r *linkproto.Route) { r.State, r.VL, r.Next, r.Seq, r.Packet = 1, 0xFFFF, 9, 9, []byte{7} }, nil, model.Told},
		{"of a virtual link, without a packet", func(r *linkproto.Route) { r.State, r.Packet = 0, nil }, nil, model.Told},
		{"of a virtual link, with a CRC of its own", func(r *linkproto.Route) { r.State = 0 }, func(raw []byte) { raw[len(raw)-1] ^= 1 }, model.Told},
		{"of a virtual link of another node", func(r *linkproto.Route) { r.State, r.Dest = 0, node+1 }, nil, model.Malformed},
		{"a MESSAGE", func(r *linkproto.Route) { r.Packet = message }, nil, model.Told},
		{"a damaged MESSAGE", func(r *linkproto.Route) { r.Packet = message }, func(raw []byte) { raw[20] ^= 1 }, model.Malformed},
		{"another node's MESSAGE", func(r *linkproto.Route) { r.Packet, r.Dest = message, node+1 }, nil, model.Malformed},
		{"a datagram with a virtual link", func(r *linkproto.Route) { r.VL = 256 }, nil, model.Malformed},
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
		switch test.want {
		case model.Malformed:
			bad++
		case model.Told:
			raw[0] |= 1 << linkproto.TypeBits
			if told, _ := b.ends[0].Receive(); !bytes.Equal(told, raw) {
				t.Errorf("%s: the host got % x, want % x", test.name, told, raw)
			}
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

// ROUTEs of virtual links come to the host whole and in order, while a trap stands too. As many wait for it as the receive queue has bytes; what has no room
// is dropped, and counts as a bad packet.
func TestLinked(t *testing.T) {
	const received = 2048
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 512, RxBytes: received, Routes: true})
	b.send(1, linkproto.Packet{Type: linkproto.TypeConnect, Port: 5})
	if p := b.next(0); p.Type != linkproto.TypeTrap {
		t.Fatalf("a %v comes, want TRAP", p.Type)
	}
	var sent [][]byte
	send := func() {
		raw := check.Must((&linkproto.Route{Dest: node, Src: 5, State: 2, Seq: uint8(len(sent)), Packet: make([]byte, 40)}).Append(nil))(t)
		raw[len(raw)-1] ^= uint8(len(sent))
		check.Fatal(t, b.ends[1].Send(raw))
		sent = append(sent, raw)
		b.run(500)
	}
	take := func(n int) {
		for i, want := range sent[:n] {
			have, ok := b.ends[0].Receive()
			want[0] |= 1 << linkproto.TypeBits
			if !ok || !bytes.Equal(have, want) {
				t.Fatalf("ROUTE %d of the host is % x, want % x", i, have, want)
			}
			b.run(500)
		}
		if have, ok := b.ends[0].Receive(); ok {
			t.Fatalf("the host got % x besides", have)
		}
		sent = sent[n:]
	}
	for range 5 {
		send()
	}
	take(5)
	check.Equal(t, "bad packets", b.register(linkproto.CounterReg(1, linkproto.CntBadPacket)), 0)
	for range 400 { // nobody takes them
		send()
	}
	kept := 0
	for raw, ok := b.ends[0].Receive(); ok; raw, ok = b.ends[0].Receive() {
		if want := sent[kept]; !bytes.Equal(raw[1:], want[1:]) {
			t.Fatalf("ROUTE %d of the host is % x, want % x", kept, raw, want)
		}
		kept++
		b.run(500)
	}
	lost := b.register(linkproto.CounterReg(1, linkproto.CntBadPacket))
	if kept+int(lost) != len(sent) || kept < received/len(sent[0]) || lost == 0 {
		t.Errorf("of %d ROUTEs %d came to the host, and %d were dropped", len(sent), kept, lost)
	}
}
