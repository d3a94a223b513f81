package net_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestDirect: module net_direct brings a packet from one line to the other, and each line and status stands for the port of its place.
func TestDirect(t *testing.T) {
	var p struct {
		Nonce          *uint32 `port:"*"`
		LineTx, LineRx *uint32 `port:"*"`
		Status         *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "net_direct", params{"PORTS": 2, "PAGE_BYTES": 64, "REPLAY_BYTES": 512, "RX_BYTES": 1024, "NODES": 64}, &p)
	r := b.Rand("nonces")
	*p.Nonce = ni.Nonce(r)
	var ends [2]*flowctl.Endpoint
	for i := range ends {
		ends[i] = check.Must(flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxRoute(64), Routes: true, Node: uint16(1 + i), Nonce: ni.Nonce(r), Port: 1}))(t)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for clocks := 0; !done(); clocks++ {
			if clocks > 10_000 {
				t.Fatal("still waiting for ", what)
			}
			*p.LineRx = uint32(ends[1].Next())<<9 | uint32(ends[0].Next())
			b.Step(1)
			for i, e := range ends {
				e.Feed([]linkproto.Symbol{linkproto.Symbol(*p.LineTx >> (9 * i) & 0x1FF)})
				e.Tick(1)
			}
		}
	}
	until("the links", func() bool { return ends[0].Status().Up && ends[1].Status().Up })
	receive := func(end int) (came linkproto.Route) {
		t.Helper()
		until("a packet", func() bool {
			packet, ok := ends[end].Receive()
			if ok {
				check.Fatal(t, came.Decode(packet))
			}
			return ok
		})
		return came
	}
	send := func(dest uint16, hops uint8, packet []byte) (sent linkproto.Route) {
		sent = linkproto.Route{Dest: dest, Src: 1, Hops: hops, State: linkproto.RouteDatagram, Packet: packet}
		check.Fatal(t, ends[0].Send(check.Must(sent.Append(nil))(t)))
		return sent
	}
	ask := func(p linkproto.Packet) (answer linkproto.Packet) {
		t.Helper()
		send(own, 0, check.Must(p.Append(nil))(t))
		came := receive(0)
		check.Equal(t, "who answers", came.Src, own)
		check.Fatal(t, answer.Decode(came.Packet))
		return answer
	}
	ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNodeID, Value: own})
	ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RouteReg(2), Value: linkproto.RoutePort.In(2)})
	sent := send(2, 5, []byte("\x02\x00\x00"))
	came := receive(1)
	sent.Hops--
	check.Equal(t, "packet", came, sent)
	changes := linkproto.StatusQueued.In(1) // as an answer goes
	for port := 1; port <= len(ends); port++ {
		read := ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.PortStatusReg(port)}).Value
		check.Equal(t, fmt.Sprint("status at the pins of port ", port), *p.Status>>(16*(port-1))&0xFFFF&^changes, read&0xFFFF&^changes)
	}
}

// TestDirectSerial: ports of SERIAL speak the serial PHY on one wire: two that are cabled to each other come up, beside one that does not.
func TestDirectSerial(t *testing.T) {
	var p struct {
		Nonce          *uint32 `port:"*"`
		LineTx, LineRx *uint32 `port:"*"`
		Status         *uint64 `port:"*"`
	}
	b := moduletest.Open(t, "net_direct", params{"PORTS": 3, "PAGE_BYTES": 64, "REPLAY_BYTES": 512, "RX_BYTES": 1024, "NODES": 64, "SERIAL": 5, "OVERSAMPLE": 4}, &p)
	*p.Nonce = ni.Nonce(b.Rand("nonces"))
	up := func(port int) bool { return linkproto.StatusUp.Of(uint32(*p.Status>>(16*(port-1)))) != 0 }
	for clocks := 0; !up(1) || !up(3); clocks++ {
		if clocks > 1_000_000 {
			t.Fatal("the serial links stay down")
		}
		*p.LineRx = *p.LineTx>>18&1 | uint32(linkproto.SymIdle)<<9 | *p.LineTx&1<<18
		b.Step(1)
		if *p.LineTx>>1&0xFF != 0 || *p.LineTx>>19&0xFF != 0 {
			t.Fatal("a serial port has more than one wire")
		}
	}
	if up(2) {
		t.Error("a link to nobody is up")
	}
}
