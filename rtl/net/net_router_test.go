package net_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// netRouter is module net_router of four links, with stand-ins for link_rx and link_replay at each port.
type netRouter struct {
	SValid, SReady, SLast, SVoid, MValid, MReady, MLast, MCancel *uint8  `port:"*"`
	Alive, Strict, HasRoom, Gap, Admit                           *uint8  `port:"*"`
	EvBad, EvLost, EvHops, EvLate                                *uint8  `port:"*"`
	WrEn, WrGroup, Clearing                                      *bool   `port:"*"`
	Self, WrAddr                                                 *uint16 `port:"*"`
	WrData                                                       *uint32 `port:"*"`

	t       *testing.T
	b       *testbench.Bench
	r       *testbench.Rand
	width   int
	sources [outputs]source
	sinks   [outputs]sink
	events  [4]int
	eager   bool  // nobody waits who could go on
	held    uint8 // ports that have no room
}

// source sends packets as link_rx does.
type source struct {
	beats *moduletest.Beats
	rest  []byte
	void  int // beats until the packet is taken back; 0: it is not
}

// sink takes packets as link_replay does.
type sink struct {
	beats  *moduletest.Beats
	have   []byte
	room   bool
	queues [2 * outputs][][]byte // what is to come, by source; behind, what is for groups
}

// nodeAt is the node behind a port.
func nodeAt(port int) uint16 { return uint16(9 + port) }

func openRouter(t *testing.T, width int) *netRouter {
	n := &netRouter{t: t, width: width}
	n.b = moduletest.Open(t, "net_router", params{"PORTS": outputs - 1, "SLOTS": slots, "SLOT_BYTES": 128, "WIDTH": width, "NODES": 64, "GROUPS": 4}, n)
	n.r = n.b.Rand("packets")
	for i := range outputs {
		n.sources[i].beats = moduletest.NewBeatsAt(t, n.b, "s", width, i)
		n.sinks[i].beats = moduletest.NewBeatsAt(t, n.b, "m", width, i)
		check.Fatal(t, n.b.Model().Poke(fmt.Sprintf("peer[%d:%d]", 16*i+15, 16*i), uint64(nodeAt(i))))
	}
	*n.Self, *n.Alive = nodeAt(0), 1<<outputs-1
	for *n.Clearing {
		n.b.Step(1)
	}
	for p := 1; p < outputs; p++ {
		n.entry(false, int(nodeAt(p)), uint32(p))
	}
	return n
}

func (n *netRouter) entry(group bool, at int, value uint32) {
	*n.WrEn, *n.WrGroup, *n.WrAddr, *n.WrData = true, group, uint16(at), value
	n.b.Step(1)
	*n.WrEn = false
}

// at is the bit of a port.
func at(mask uint8, port int) bool { return mask>>port&1 != 0 }

func setBit(mask *uint8, port int, to bool) {
	*mask &^= 1 << port
	if to {
		*mask |= 1 << port
	}
}

// step lets a clock pass.
func (n *netRouter) step() {
	*n.SVoid = 0
	var size [outputs]int
	for i := range n.sources {
		s := &n.sources[i]
		if s.void < 0 { // what has come of it is taken back
			setBit(n.SVoid, i, true)
			s.rest, s.void = nil, 0
		}
		setBit(n.SValid, i, len(s.rest) > 0 && (n.eager || !n.r.Chance(0.2)))
		size[i] = s.beats.Put(s.rest)
		setBit(n.SLast, i, size[i] == len(s.rest))
	}
	if *n.MReady = uint8(n.r.Uint32()); n.eager {
		*n.MReady = 1<<outputs - 1
	}
	for o := range n.sinks {
		s := &n.sinks[o]
		s.room = !at(n.held, o) && (s.room || n.eager || n.r.Chance(0.2))
		setBit(n.HasRoom, o, s.room)
	}
	check.Fatal(n.t, n.b.Model().Eval())
	for i := range n.sources {
		if s := &n.sources[i]; at(*n.SValid&*n.SReady, i) {
			s.rest = s.rest[size[i]:]
			if s.void > 0 {
				if s.void--; s.void == 0 {
					s.void = -1
				}
			}
		}
	}
	for o := range n.sinks {
		n.sinks[o].take(n, o)
	}
	n.b.Step(1)
	for i, ev := range []*uint8{n.EvBad, n.EvLost, n.EvHops, n.EvLate} {
		for p := range outputs {
			if at(*ev, p) {
				n.events[i]++
			}
		}
	}
}

func (s *sink) take(n *netRouter, o int) {
	if at(*n.MCancel, o) {
		if at(*n.MValid, o) || len(s.have) == 0 {
			n.t.Fatalf("port %d cancels a packet that has not begun, or goes on", o)
		}
		s.have = nil
	}
	if !at(*n.MValid&*n.MReady, o) {
		return
	}
	if len(s.have) == 0 {
		s.room = false
	}
	s.have = append(s.have, s.beats.Get()...)
	if !at(*n.MLast, o) {
		return
	}
	from := slices.IndexFunc(s.queues[:], func(q [][]byte) bool { return len(q) > 0 && bytes.Equal(q[0], s.have) })
	if from < 0 {
		n.t.Fatalf("port %d got % x, which is not next from any port", o, s.have)
	}
	s.queues[from] = s.queues[from][1:]
	s.have = nil
}

// expected is how many packets are still to come.
func (n *netRouter) expected() (count int) {
	for o := range n.sinks {
		for _, q := range n.sinks[o].queues {
			count += len(q)
		}
	}
	return count
}

// send draws a packet for a source, and notes where it is to come.
func (n *netRouter) send(from int, count *[4]int) {
	port := n.r.IntN(outputs)
	r := linkproto.Route{Dest: nodeAt(port), Src: nodeAt(from), Hops: uint8(1 + n.r.IntN(63)), State: linkproto.RouteDatagram, Packet: n.r.Bytes(3 + n.r.IntN(100))}
	to := uint8(1) << port
	kind, queue := n.r.Weighted(20, 3, 1, 1, 1), from
	switch kind {
	case 1:
		group := n.r.IntN(4)
		r.Dest, to, queue = linkproto.MulticastBase|uint16(group), groupMask(group)&^(1<<from), outputs+from
	case 2:
		r.Dest, to = testbench.Pick(n.r, uint16(20), 64+11, 0x0FFF, linkproto.MulticastBase+4), 0
	case 3:
		r.Hops = 0
	case 4:
		r.Src++
	}
	packet := check.Must(r.Append(nil))(n.t)
	s := &n.sources[from]
	s.rest = packet
	if beats := (len(packet) + n.width - 1) / n.width; n.r.Chance(0.1) {
		s.void = 1 + n.r.IntN(beats-1)
		return
	}
	switch {
	case kind == 4 && at(*n.Strict, from):
		count[0]++
		return
	case to == 0:
		count[1]++
		return
	case r.Hops == 0 && to != 1:
		count[2]++
		return
	}
	left := bytes.Clone(packet)
	if r.Hops > 0 {
		left[linkproto.RoutePathAt]--
	}
	for o := range outputs {
		if at(to, o) {
			n.sinks[o].queues[queue] = append(n.sinks[o].queues[queue], left)
		}
	}
}

// groupMask is the entry of a multicast group.
func groupMask(group int) uint8 { return uint8(0b10110 + 3*group) }

// TestRouter: packets between all ports come once, whole and in order, those of groups at all members' but the sender's; whatever is wrong is
// counted, and goes nowhere.
func TestRouter(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := openRouter(t, width)
		for g := range 4 {
			n.entry(true, g, uint32(groupMask(g)))
		}
		*n.Strict = 0b01010
		var want [4]int
		sent := 0
		for range 60_000 {
			for i := range n.sources {
				if len(n.sources[i].rest) == 0 && n.sources[i].void == 0 && n.r.Chance(0.1) {
					n.send(i, &want)
					sent++
				}
			}
			n.step()
		}
		for range 20_000 {
			n.step()
		}
		check.Equal(t, "packets that did not come", n.expected(), 0)
		check.Equal(t, "bad, lost, without hops, late", n.events, want)
		if sent < 1500 {
			t.Errorf("only %d packets were sent", sent)
		}
	})
}

// TestFork: packets for a group leave by all free ports at once, as fast as they come, and one that has no room gets them when it has.
func TestFork(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		const packets, late = 20, 4
		n := openRouter(t, width)
		n.eager = true
		n.entry(true, 0, 0b11110)
		whole := check.Must((&linkproto.Route{Dest: linkproto.MulticastBase, Src: nodeAt(1), Hops: 9, Packet: make([]byte, 80)}).Append(nil))(t)
		beats := (len(whole) + width - 1) / width
		put := func(serial int) {
			packet := bytes.Clone(whole)
			packet[len(packet)-1] = byte(serial)
			n.sources[1].rest = packet
			left := bytes.Clone(packet)
			left[linkproto.RoutePathAt]--
			for o := 2; o < outputs; o++ {
				n.sinks[o].queues[outputs+1] = append(n.sinks[o].queues[outputs+1], left)
			}
		}
		send := func(count int) (clocks int) {
			for sent := 0; sent < count || n.expected() > 0; clocks++ {
				if len(n.sources[1].rest) == 0 && sent < count {
					put(sent)
					sent++
				}
				if clocks > 10_000 {
					t.Fatalf("%d packets did not come", n.expected())
				}
				n.step()
			}
			return clocks
		}
		if clocks, most := send(packets), (packets+1)*(beats+6)+20; clocks > most {
			t.Errorf("%d packets of %d beats took %d clocks to three ports, want at most %d", packets, beats, clocks, most)
		}
		n.held, n.sinks[late].room = 1<<late, false
		for clocks := 0; n.expected() == 0 || clocks < 3*beats+30; clocks++ {
			if n.expected() == 0 {
				put(0)
			}
			n.step()
		}
		check.Equal(t, "packets that have not come while a port has no room", n.expected(), 1)
		n.held = 0
		send(0)
	})
}
