package ni_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// routePatience is for how long the module's queue may be full before its reader is overdue.
const routePatience = 300

// niRoute is module ni_route, between a link and who takes its packets.
type niRoute struct {
	SValid, SReady, SLast, SVoid, MValid, MReady, MLast, MSure, MVoid, EvBad *bool   `port:"*"`
	Put, Told, Untold, Room, Overdue, EvLate, Gateway                        *bool   `port:"*"`
	Node                                                                     *uint16 `port:"*"`

	t       *testing.T
	b       *testbench.Bench
	r       *testbench.Rand
	in, out *moduletest.Beats
	slow    float64
	haste   bool // the source is not as slow
	have    []byte
	want    [][]byte
	came    int
	voided  int
	bad     int
	put     []byte   // of what may be for the host
	told    [][]byte // that are to be
	stall   int      // clocks for which the reader takes nothing
	waited  int      // clocks without room
	since   int      // the reader was overdue
	last    []byte   // inside the packet that has come whole last
	late    int
	silent  bool // nothing may come out
}

func (n *niRoute) step() {
	*n.MReady = n.stall <= 0 && !n.r.Chance(n.slow)
	n.stall--
	check.Fatal(n.t, n.b.Model().Eval())
	if *n.MVoid {
		if *n.MValid {
			n.t.Fatal("a packet is taken back, and goes on")
		}
		n.have = nil
		n.voided++
	}
	if n.silent && *n.MValid {
		n.t.Fatal("something comes out, on trial at least")
	}
	if *n.MValid && *n.MReady {
		n.have = append(n.have, n.out.Get()...)
		if *n.MLast {
			if !*n.MSure {
				n.t.Fatal("a whole packet is not sure")
			}
			if len(n.want) == 0 || !bytes.Equal(n.have, n.want[0]) {
				n.t.Fatalf("got % x, want the first of % x", n.have, n.want)
			}
			n.want, n.have = n.want[1:], nil
			n.came++
		}
	}
	switch {
	case *n.Told:
		if len(n.told) == 0 || !bytes.Equal(n.put, n.told[0]) || !*n.Untold {
			n.t.Fatalf("% x is for the host, want the first of % x", n.put, n.told)
		}
		n.told, n.put = n.told[1:], nil
	case *n.Untold:
		n.put = nil
	case *n.Put:
		n.put = append(n.put, n.in.Get()...)
	}
	moved := *n.MValid && *n.MReady
	n.b.Step(1)
	if *n.EvBad {
		n.bad++
	}
	if *n.EvLate {
		at := slices.IndexFunc(n.want, func(p []byte) bool { return &p[0] == &n.last[0] })
		if at < 0 || n.since > 2*linkproto.MaxRoute(64) {
			n.t.Fatalf("a packet is dropped as late, %d clocks after the reader was overdue", n.since)
		}
		n.want = slices.Delete(n.want, at, at+1)
		n.late++
	}
	if n.waited++; *n.Room || moved {
		n.waited = 0
	}
	n.since++
	if *n.Overdue = !moved && (*n.Overdue || n.waited >= routePatience); *n.Overdue {
		n.since = 0
	}
}

// send sends a packet with another inside, or so many beats of it, which are then taken back.
func (n *niRoute) send(packet, inside []byte, beats int) {
	for rest := packet; len(rest) > 0; {
		*n.SValid = n.haste || !n.r.Chance(n.slow)
		size := n.in.Put(rest)
		*n.SLast = size == len(rest)
		check.Fatal(n.t, n.b.Model().Eval())
		took := *n.SValid && *n.SReady
		n.step()
		if !took {
			continue
		}
		if rest = rest[size:]; len(rest) == 0 {
			n.last = inside
		}
		if beats--; beats == 0 {
			*n.SValid, *n.SVoid = false, true
			n.step()
			*n.SVoid = false
			return
		}
	}
	*n.SValid = false
}

// aPacket is one that a ROUTE may carry, and that is not for the host.
func aPacket(r *testbench.Rand, most int) []byte {
	p := append([]byte{testbench.Pick[byte](r, 1, 2, 3, 5), 0, 0}, r.Bytes(r.IntN(most-2))...)
	binary.LittleEndian.PutUint16(p[1:], uint16(len(p)-linkproto.HeaderBytes))
	return p
}

// TestRoute: what a datagram for this node or a multicast group carries comes out, and packets that are no ROUTEs; a datagram with an answer or a MESSAGE and what is of a virtual link do
// not, but are for the host, whole, the latter whatever is in them, and at a gateway those for other nodes too; every other ROUTE that is not as it must be is counted, and of it nothing comes to an end.
func TestRoute(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		for _, early := range []int{0, 1} {
			const page, node = 64, 0x0A07
			n := &niRoute{t: t}
			n.b = moduletest.Open(t, "ni_route", params{"MAX_PACKET": linkproto.MaxRoute(page), "EARLY": early, "WIDTH": width}, n)
			n.r, n.in, n.out = n.b.Rand("packets"), moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
			*n.Node = node
			good, bad := 0, 0
			for serial := range 4000 {
				if serial%100 == 0 {
					n.slow, *n.Gateway = testbench.Pick(n.r, 0, 0.3, 0.7), n.r.Bool()
				}
				stuck := serial%1000 < 100 // the reader is so slow that the queue fills
				if n.haste = stuck; stuck {
					n.slow = 0.9
				}
				r := linkproto.Route{Dest: node, Src: uint16(n.r.Uint32()), Hops: uint8(n.r.IntN(64)), Class: uint8(n.r.IntN(4)), State: linkproto.RouteDatagram}
				r.Packet = aPacket(n.r, linkproto.MaxPacket(page))
				group := n.r.Chance(0.1)
				if group {
					r.Dest = linkproto.MulticastBase + uint16(n.r.IntN(1<<12))
				}
				kind := n.r.Weighted(40, 20, 2, 1, 10, 1, 1, 1, 2, 2, 1, 1)
				switch kind {
				case 2:
					r.Dest = testbench.Pick[uint16](n.r, node^1<<n.r.IntN(16), linkproto.MulticastBase-0x100+node&0xFF)
				case 3:
					r.VL = 1 << n.r.IntN(16)
				case 4: // of a virtual link
					r.State ^= uint8(1 + n.r.IntN(255))
					r.VL, r.Next, r.Seq = uint16(n.r.Uint32()), uint8(n.r.Uint32()), uint8(n.r.Uint32())
					r.Packet = n.r.Bytes(testbench.Pick(n.r, 0, 1, len(r.Packet)))
				case 5:
					r.Next = 1 << n.r.IntN(8)
				case 6:
					r.Seq = 1 << n.r.IntN(8)
				case 7: // the length inside
					r.Packet[1+n.r.IntN(2)] ^= 1 << n.r.IntN(8)
				case 8:
					r.Packet = r.Packet[:n.r.IntN(linkproto.HeaderBytes)]
				}
				answer, astray := n.r.Chance(0.1) && len(r.Packet) > 0, false
				if answer {
					r.Packet[0] = byte(testbench.Pick(n.r, linkproto.TypeRegData, linkproto.TypeDone, linkproto.TypeMessage))
				}
				packet := check.Must(r.Append(nil))(t)
				switch kind {
				case 1: // no ROUTE
					packet = r.Packet
				case 4: // with a CRC that only its hosts know
					copy(packet[len(packet)-linkproto.CRCBytes:], n.r.Bytes(n.r.IntN(2)*linkproto.CRCBytes))
					if astray = n.r.Chance(0.1); astray {
						packet[linkproto.HeaderBytes+n.r.IntN(2)] ^= 1 << n.r.IntN(8)
					}
				case 9: // damaged, but in what the link's receiver has looked at, or a router may change
					packet[testbench.Pick(n.r, 3+n.r.IntN(4), linkproto.RouteFields+3+n.r.IntN(len(packet)-linkproto.RouteFields-3))] ^= 1 << n.r.IntN(8)
				case 10: // too short for a ROUTE
					packet = packet[:linkproto.RoutePathAt+1+n.r.IntN(linkproto.RouteExtra+2-linkproto.RoutePathAt-4)]
					if n.r.Bool() && len(packet) > linkproto.RoutePathAt+3 { // whatever it is
						packet[linkproto.RoutePathAt+3] = 0
						packet = packet[:min(len(packet), linkproto.RouteExtra-linkproto.CRCBytes-1)]
					}
					binary.LittleEndian.PutUint16(packet[1:], uint16(len(packet)-linkproto.HeaderBytes+linkproto.CRCBytes))
					packet = binary.LittleEndian.AppendUint32(packet, linkproto.RouteCRC(packet, 0))
				case 11: // with via
					packet[0] |= byte(1+n.r.IntN(7)) << linkproto.TypeBits
				}
				beats := (len(packet) + width - 1) / width
				if early != 0 && beats > 1 && n.r.Chance(0.1) {
					n.send(packet, nil, n.r.Between(1, beats-1))
					continue
				}
				switch {
				case kind == 0 && answer || kind == 4 && !astray && !group,
					*n.Gateway && (kind == 2 && answer || kind == 4 && binary.LittleEndian.Uint16(packet[linkproto.HeaderBytes:]) < linkproto.MulticastBase):
					n.told = append(n.told, packet)
				case kind == 0:
					n.want = append(n.want, r.Packet)
					good++
				case kind == 1 || kind == 11:
					n.want = append(n.want, packet)
					good++
				default:
					bad++
				}
				n.send(packet, nil, 0)
				if early != 0 && (stuck || n.r.Chance(0.1)) { // the next one is taken back before any of it was taken
					*n.SVoid = true
					n.step()
					*n.SVoid = false
				}
			}
			n.slow = 0
			for range 1000 {
				n.step()
			}
			check.Equal(t, "packets that came", n.came, good)
			check.Equal(t, "packets counted as bad", n.bad, bad)
			if early != 0 && n.voided < 100 {
				t.Errorf("only %d packets were taken back", n.voided)
			}
			n.silent = true
			linked := check.Must((&linkproto.Route{Dest: node, Packet: n.r.Bytes(40)}).Append(nil))(t)
			n.told = append(n.told, linked)
			n.send(linked, nil, 0)
			for _, *n.Gateway = range []bool{false, true} { // a datagram for another node
				n.send(check.Must((&linkproto.Route{Dest: node ^ 1, State: linkproto.RouteDatagram, Packet: aPacket(n.r, 40)}).Append(nil))(t), nil, 0)
				bad++
			}
			*n.Node = 0
			for _, state := range []uint8{linkproto.RouteDatagram, 0} {
				n.send(check.Must((&linkproto.Route{State: state, Packet: []byte{2, 0, 0}}).Append(nil))(t), nil, 0)
			}
			for range 20 {
				n.step()
			}
			check.Equal(t, "ROUTEs for the host that were not told of", len(n.told), 0)
			check.Equal(t, "bad packets with two for node 0, which is none", n.bad, bad+2)
		}
	})
}

// TestRouteLate: when the reader has taken nothing for too long, ROUTEs do not wait for it any more but are dropped and counted; those for the host are
// told of, packets that are no ROUTEs wait, and what has come before stays. When it goes on, all come again.
func TestRouteLate(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		const page, node = 64, 7
		for _, early := range []int{0, 1} {
			n := &niRoute{t: t, haste: true}
			n.b = moduletest.Open(t, "ni_route", params{"MAX_PACKET": linkproto.MaxRoute(page), "EARLY": early, "WIDTH": width}, n)
			n.r, n.in, n.out = n.b.Rand("packets"), moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
			*n.Node = node
			good, told := 0, 0
			for serial := range 3000 {
				if serial%100 == 0 {
					n.stall = n.r.Between(0, 10*routePatience)
				}
				packet := aPacket(n.r, linkproto.MaxPacket(page))
				if n.r.Chance(0.02) {
					n.want = append(n.want, packet)
					good++
					n.send(packet, packet, 0)
					continue
				}
				r := linkproto.Route{Dest: node, State: linkproto.RouteDatagram, Packet: packet}
				if n.r.Chance(0.2) {
					if packet[0] = byte(testbench.Pick(n.r, linkproto.TypeDone, linkproto.TypeMessage)); n.r.Bool() {
						r.State = 0
					}
					told++
					n.told = append(n.told, check.Must(r.Append(nil))(t))
				} else {
					n.want = append(n.want, packet)
					good++
				}
				n.send(check.Must(r.Append(nil))(t), packet, 0)
			}
			n.stall = 0
			for range 1000 {
				n.step()
			}
			check.Equal(t, "packets that came or were late", n.came+n.late, good)
			check.Equal(t, "bad packets", n.bad, 0)
			check.Equal(t, "ROUTEs for the host that were not told of", len(n.told), 0)
			if n.late < 200 || n.came < 200 || told < 100 {
				t.Errorf("%d packets came, %d were late, %d for the host: too few", n.came, n.late, told)
			}
		}
	})
}

// TestRouteLong: packets of every order of length come out whole.
func TestRouteLong(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		const node = 7
		most := linkproto.MaxPacket(linkproto.MaxPageBytes)
		n := &niRoute{t: t, haste: true}
		n.b = moduletest.Open(t, "ni_route", params{"MAX_PACKET": linkproto.MaxRoute(linkproto.MaxPageBytes), "WIDTH": width}, n)
		n.r, n.in, n.out = n.b.Rand("packets"), moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
		*n.Node = node
		sizes := []int{most, n.r.Between(4097, most)}
		for size := 4; size < most; size *= 2 {
			sizes = append(sizes, size, size+n.r.IntN(size))
		}
		for _, size := range sizes {
			size = min(size, most)
			packet := append([]byte{byte(linkproto.TypeWrite), 0, 0}, n.r.Bytes(size-linkproto.HeaderBytes)...)
			binary.LittleEndian.PutUint16(packet[1:], uint16(size-linkproto.HeaderBytes))
			n.want = append(n.want, packet)
			n.send(check.Must((&linkproto.Route{Dest: node, State: linkproto.RouteDatagram, Packet: packet}).Append(nil))(t), packet, 0)
		}
		for range most + 100 {
			n.step()
		}
		check.Equal(t, "packets that came", n.came, len(sizes))
	})
}
