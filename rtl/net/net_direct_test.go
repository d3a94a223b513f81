package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestDirect: module net_direct brings a packet from one line to the other, and each line stands for the port of its place.
func TestDirect(t *testing.T) {
	var p struct {
		WrEn, Clearing *bool   `port:"*"`
		Node, WrAddr   *uint16 `port:"*"`
		Nonce, WrData  *uint32 `port:"*"`
		LineTx, LineRx *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "net_direct", params{"PORTS": 2, "PAGE_BYTES": 64, "REPLAY_BYTES": 512, "RX_BYTES": 1024, "NODES": 64}, &p)
	r := b.Rand("nonces")
	*p.Node, *p.Nonce = 9, ni.Nonce(r)
	for *p.Clearing {
		b.Step(1)
	}
	var ends [2]*flowctl.Endpoint
	for i := range ends {
		*p.WrEn, *p.WrAddr, *p.WrData = true, uint16(1+i), uint32(1+i)
		b.Step(1)
		ends[i] = check.Must(flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxRoute(64), Routes: true, Node: uint16(1 + i), Nonce: ni.Nonce(r), Port: 1}))(t)
	}
	*p.WrEn = false
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
	sent := linkproto.Route{Dest: 2, Src: 1, Hops: 5, State: linkproto.RouteDatagram, Packet: []byte("\x02\x00\x00")}
	check.Fatal(t, ends[0].Send(check.Must(sent.Append(nil))(t)))
	var came linkproto.Route
	until("the packet", func() bool {
		packet, ok := ends[1].Receive()
		if ok {
			check.Fatal(t, came.Decode(packet))
		}
		return ok
	})
	sent.Hops--
	check.Equal(t, "packet", came, sent)
}
