package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// switchBench is a switch with an endpoint at each port.
type switchBench struct {
	t    *testing.T
	s    *model.Switch
	ends []*flowctl.Endpoint // by port; nil at 0
	cut  int                 // port whose cable is out
}

func openSwitch(t *testing.T) *switchBench {
	b := &switchBench{t: t, s: check.Must(model.NewSwitch(model.Config{Router: 4, PageBytes: 64, Slots: 2, Nodes: 64}))(t), ends: []*flowctl.Endpoint{nil}}
	b.s.SetNonce(99)
	for port := uint32(1); port <= 4; port++ {
		c := flowctl.Config{MaxPacket: linkproto.MaxRoute(64), Routes: true, Node: uint16(100 + port), Nonce: port, Port: 1}
		b.ends = append(b.ends, check.Must(flowctl.New(c))(t))
	}
	b.run(3000)
	return b
}

func (b *switchBench) run(n int) {
	line := make([]linkproto.Symbol, 16)
	for ; n > 0; n -= len(line) {
		for i, end := range b.ends[1:] {
			port := b.s.Port(i + 1)
			out, in := line[:end.Emit(line)], make([]linkproto.Symbol, len(line))
			if b.cut != i+1 {
				port.Feed(out)
				end.Feed(in[:port.Emit(in)])
			}
			end.Tick(len(line))
			port.Tick(len(line))
		}
	}
}

// send sends a packet by a port, and returns by which ports what comes out.
func (b *switchBench) send(port int, r linkproto.Route) map[int]linkproto.Route {
	b.t.Helper()
	check.Fatal(b.t, b.ends[port].Send(check.Must(r.Append(nil))(b.t)))
	b.run(2000)
	came := map[int]linkproto.Route{}
	for i, end := range b.ends[1:] {
		for raw, ok := end.Receive(); ok; raw, ok = end.Receive() {
			var out linkproto.Route
			check.Fatal(b.t, out.Decode(bytes.Clone(raw)))
			came[i+1] = out
		}
	}
	return came
}

// ask asks the switch by port 1.
func (b *switchBench) ask(dest uint16, p linkproto.Packet) (answer linkproto.Packet) {
	b.t.Helper()
	came := b.send(1, linkproto.Route{Dest: dest, Src: 50, State: linkproto.RouteDatagram, Packet: check.Must(p.Append(nil))(b.t)})
	if len(came) != 1 || came[1].Dest != 50 || came[1].Hops != linkproto.MaxHops-1 {
		b.t.Fatalf("%v is answered by %v", p.Type, came)
	}
	check.Fatal(b.t, answer.Decode(came[1].Packet))
	check.Equal(b.t, "tag of the answer", answer.Tag, p.Tag)
	return answer
}

func (b *switchBench) write(reg linkproto.Reg, value uint32, want linkproto.Status) {
	b.t.Helper()
	answer := b.ask(9, linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 3, Reg: reg, Value: value})
	check.Equal(b.t, fmt.Sprintf("write of %v", reg), answer.Status, want)
}

func (b *switchBench) read(reg linkproto.Reg) uint32 {
	b.t.Helper()
	answer := b.ask(9, linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 4, Reg: reg})
	if answer.Type != linkproto.TypeRegData {
		b.t.Fatalf("register %v: %v", reg, answer.Status)
	}
	return answer.Value
}

// TestSwitch: a switch that has no number takes packets for its own; then it forwards by its table, and counts what it drops.
func TestSwitch(t *testing.T) {
	b := openSwitch(t)
	b.write(linkproto.RouteReg(2), 2, linkproto.StatusBadAddress) // without a number
	b.write(linkproto.RegNodeID, 9, linkproto.StatusOK)
	b.write(linkproto.RouteReg(2), 2|3<<16, linkproto.StatusOK)
	b.write(linkproto.RouteReg(4), 4|9<<16, linkproto.StatusOK)
	b.write(linkproto.GroupReg(1), 0b111011, linkproto.StatusOK)
	b.write(linkproto.RouteReg(64), 4, linkproto.StatusBadAddress)
	b.write(linkproto.PortStatusReg(1), 0, linkproto.StatusBadAddress)
	check.Equal(t, "entry with a port that does not exist", b.read(linkproto.RouteReg(4)), 4)
	check.Equal(t, "mask", b.read(linkproto.GroupReg(1)), 0b11011)
	check.Equal(t, "PORT_PEER", linkproto.PeerNode.Of(b.read(linkproto.PortPeerReg(3))), 103)
	check.Equal(t, "another type", b.ask(9, linkproto.Packet{Type: linkproto.TypeBufRead, Tag: 7}).Status, linkproto.StatusBadType)

	packet := linkproto.Route{Dest: 2, Src: 77, Hops: 5, Class: 2, VL: 3, State: 8, Next: 7, Seq: 6, Packet: []byte("abc")}
	for _, test := range []struct {
		name   string
		change func(*linkproto.Route)
		from   int
		ports  []int
		drop   linkproto.RouterCounter
	}{
		{"by its port", func(*linkproto.Route) {}, 1, []int{2}, 0},
		{"back where it came from", func(*linkproto.Route) {}, 2, []int{2}, 0},
		{"without hops left", func(r *linkproto.Route) { r.Hops = 0 }, 1, nil, linkproto.RouterHops},
		{"to nobody", func(r *linkproto.Route) { r.Dest = 3 }, 1, nil, linkproto.RouterLost},
		{"to a number behind the table", func(r *linkproto.Route) { r.Dest = 64 }, 1, nil, linkproto.RouterLost},
		{"to a group", func(r *linkproto.Route) { r.Dest = linkproto.MulticastBase + 1 }, 2, []int{1, 3, 4}, 0},
		{"to a group with the sender", func(r *linkproto.Route) { r.Dest = linkproto.MulticastBase + 1 }, 3, []int{1, 4}, 0},
		{"to an empty group", func(r *linkproto.Route) { r.Dest = linkproto.MulticastBase + 2 }, 3, nil, linkproto.RouterLost},
		{"around nothing", func(r *linkproto.Route) { r.Packet = []byte{} }, 3, []int{2}, 0},
	} {
		before := b.read(test.drop.Reg(test.from))
		r := packet
		test.change(&r)
		came := b.send(test.from, r)
		r.Hops--
		for _, port := range test.ports {
			check.Equal(t, fmt.Sprintf("a packet %s, at port %d", test.name, port), came[port], r)
			delete(came, port)
		}
		if len(came) > 0 {
			t.Errorf("a packet %s comes out by %v", test.name, came)
		}
		if dropped := b.read(test.drop.Reg(test.from)) - before; dropped == 0 && test.ports == nil {
			t.Errorf("a packet %s does not count as %v", test.name, test.drop)
		}
	}

	b.cut = 2
	b.run(20_000)
	if came := b.send(1, packet); len(came) != 1 || came[3].Hops != 4 {
		t.Errorf("with the first port's cable cut the packet comes out by %v, want 3", came)
	}
	b.s.Reset()
	b.s.SetNonce(98)
	b.cut = 0
	b.run(30_000)
	check.Equal(t, "NODE_ID after reset", b.read(linkproto.RegNodeID), 0)
}

func TestSwitchConfig(t *testing.T) {
	for _, ports := range []int{0, 17} {
		if _, err := model.NewSwitch(model.Config{Router: ports}); !errors.Is(err, model.ErrConfig) {
			t.Errorf("a switch of %d ports: %v", ports, err)
		}
	}
}
