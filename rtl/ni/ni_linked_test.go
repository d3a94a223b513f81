package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestLinked: what is of a virtual link comes to the host whole and in order, between datagrams that do not, at any width, the longest packets too and while the
// link is trapped.
func TestLinked(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		w := openWhole(t, rtl.Params{Routes: true, Width: width})
		w.must(w.Until(20_000, "the link", func() bool { return w.peer(1).Link.Status().Up }))
		var have, want []string
		w.Nodes[0].Host.Routed = func(r linkproto.Route, raw []byte) { have = append(have, fmt.Sprintf("%x", raw)) }
		trapped := false
		w.Nodes[0].Host.Received = func(p linkproto.Packet) { trapped = trapped || p.Type == linkproto.TypeTrap }
		send := func(p []byte) {
			w.must(w.Until(20_000, "room for a packet", func() bool { return w.peer(1).Link.Send(p) == nil }))
		}
		longest := linkproto.MaxPacket(w.Params.PageBytes)
		for i := range 30 {
			if i == 10 {
				send(check.Must((&linkproto.Packet{Type: linkproto.TypeConnect, Port: 1}).Append(nil))(t))
				w.must(w.Until(20_000, "TRAP", func() bool { return trapped }))
			}
			datagram := linkproto.Route{Dest: self, Src: 9, State: linkproto.RouteDatagram, Packet: check.Must((&linkproto.Packet{Type: linkproto.TypeWrite}).Append(nil))(t)}
			send(check.Must(datagram.Append(nil))(t)) // of nothing
			r := linkproto.Route{Dest: self, Src: 9, State: uint8(w.rng.IntN(linkproto.RouteDatagram)), VL: uint16(w.rng.Uint32()), Seq: uint8(i)}
			r.Packet = w.rng.Bytes(testbench.Pick(w.rng, 0, 1, w.rng.IntN(100), longest))
			raw := check.Must(r.Append(nil))(t)
			copy(raw[len(raw)-linkproto.CRCBytes:], w.rng.Bytes(linkproto.CRCBytes))
			send(raw)
			raw[0] |= 1 << linkproto.TypeBits
			want = append(want, fmt.Sprintf("%x", raw))
		}
		w.must(w.Until(100_000, "the packets", func() bool { return len(have) >= len(want) }))
		w.must(w.Run(2000))
		check.Equal(t, "what the host got", fmt.Sprint(have), fmt.Sprint(want))
		check.Equal(t, "bad packets", w.counters(1)[linkproto.CntBadPacket], 0)
		check.Equal(t, "TRAPPED", linkproto.StatusTrapped.Of(w.register(linkproto.LinkStatusReg(1))), 1)
	})
}
