package switches

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/ni"
)

// A network interface with a router is played like a switch, but that its host manages it and sends packets too, and that what is for its number is
// carried out or comes to the host.

const frames = 2

// params are those of the network interface.
func (p Params) params() rtl.Params {
	return rtl.Params{
		Router: p.Ports, Barriers: p.Barriers, Frames: frames, PageBytes: p.PageBytes, ReplayBytes: 2048, RxBytes: rxBytes, Headroom: headroom, AckDelay: ackDelay,
		WordTimer: wordTimer, Retry: retry, Width: max(p.Width, 1),
	}.WithDefaults()
}

// modelNI is the world's network interface in Go.
func (w *World) modelNI(rng *testbench.Rand) {
	p := w.Params.params()
	m := try.Get(model.New(model.Config{
		Router: p.Router, Barriers: p.Barriers, Frames: p.Frames, PageBytes: p.PageBytes, ReplayBytes: p.ReplayBytes, RxBytes: p.RxBytes, Headroom: p.Headroom,
		AckDelay: p.AckDelay, WordTimer: p.WordTimer, Retry: p.Retry, Epoch: uint8(rng.Between(1, 255)),
		Observe: func(o model.Observation) {
			if w.dealt != nil {
				w.dealt(o)
			}
		},
	}))
	w.rest = func() bool { return !m.Busy() }
	w.host = try.Get(ni.JoinHost(m.Port(0), p, 7))
	for port := 1; port <= p.Router; port++ {
		w.ports = append(w.ports, try.Get(ni.JoinPort(m.Port(port), w.Params.end(port, rng))))
	}
}

// askHost asks the network interface from its host, and waits for the answer.
func (a *player) askHost(p linkproto.Packet) (answer linkproto.Packet) {
	answered := false
	take := func(q linkproto.Packet) {
		answer, answered = q, true
		answer.Data = bytes.Clone(q.Data)
	}
	a.until(50_000, "room for a request", func() bool { return !errors.Is(a.host.Request(p, take), ni.ErrBusy) })
	a.until(50_000, fmt.Sprintf("the answer to %v of %v", p.Type, p.Reg), func() bool { return answered })
	return answer
}

// hostSends sends what there is room for, and returns the rest.
func (a *player) hostSends(packets [][]byte) [][]byte {
	credit := a.host.Credit(1)
	for len(packets) > 0 && credit.HasRoom(len(packets[0])) {
		raw := bytes.Clone(packets[0])
		raw[0] |= 1 << linkproto.TypeBits
		if a.host.SendRaw(raw) != nil {
			break
		}
		credit.Sent(len(raw))
		packets = packets[1:]
	}
	return packets
}

// told writes down a ROUTE that has come to the host. What has no port in VL was sent from a number that is only one port's.
func (a *player) told(r linkproto.Route, raw []byte) {
	from := fmt.Sprintf("port %d", r.VL&31)
	if r.VL == 0 {
		from = fmt.Sprintf("node %d", r.Src)
	}
	a.line(fmt.Sprintf("from %s to the host", from), "%x", raw)
	a.out.Packets++
}

// buffer writes down the receive buffer.
func (a *player) buffer() {
	for frame := range frames {
		page := a.askHost(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(frame * a.Params.PageBytes), Count: uint16(a.Params.PageBytes)})
		a.line("receive buffer", "%x", page.Data)
	}
	a.line("network", "denied %d", a.register(linkproto.CounterReg(1, linkproto.CntDenied)))
}

// write is a remote write in a datagram for the network interface, in most cases into the eight bytes that are the port's in each frame; the last frame
// may not be written.
func (d *drawer) write(port int) []byte {
	at := d.IntN(frames)*d.PageBytes + 8*port + d.IntN(4)
	p := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(at), Data: d.Bytes(d.IntN(5))}
	if d.IntN(8) == 0 {
		p.Addr = uint32(testbench.Pick(d.Rand, frames*d.PageBytes, d.PageBytes-1, 1<<20))
		p.Data = d.Bytes(2)
	}
	r := linkproto.Route{Dest: self, Src: 100, Hops: uint8(d.IntN(3)), State: linkproto.RouteDatagram, Packet: try.Get(p.Append(nil))}
	if port == 0 {
		r.Src = self
	}
	return try.Get(r.Append(nil))
}

// linked is a ROUTE of a virtual link for the network interface, in most cases with a CRC that is no datagram's.
func (d *drawer) linked(port int) []byte {
	raw := d.finish(port, linkproto.Route{Dest: self})
	raw[linkproto.RoutePathAt+3] = uint8(d.IntN(linkproto.RouteDatagram))
	if end := len(raw) - linkproto.CRCBytes; d.IntN(4) == 0 {
		raw = binary.LittleEndian.AppendUint32(raw[:end], linkproto.RouteCRC(raw[:end], 0))
	}
	return raw
}

// ofHost is a packet of the host, now and then in another's name.
func (d *drawer) ofHost() []byte {
	if d.Bool() {
		return d.write(0)
	}
	raw := testbench.Pick(d.Rand, d.routed, d.routed, d.multicast, d.multicast, d.linked)(0)
	var r linkproto.Route
	wrong := r.Decode(raw)
	r.Src = self
	if wrong == nil && int(r.Dest) < unset && d.goes(int(r.Dest)) && r.Hops > 0 && d.IntN(6) == 0 {
		r.Src = self ^ 1<<d.IntN(16)
	}
	return try.Get(r.Append(nil))
}
