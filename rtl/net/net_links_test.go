package net_test

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// own is the number of the node whose port 0 is tested.
const own = 9

// netLinks is module net_links, with stand-ins at port 0.
type netLinks struct {
	*netSwitch
	pins struct {
		Strict, SValid, SReady, SLast, SVoid, MValid, MReady, MLast, Cancel, HasRoom, Overdue *bool   `port:"*"`
		WrEn, Clearing                                                                        *bool   `port:"*"`
		EvBad, EvLate, EvLost, EvHops                                                         *uint8  `port:"*"`
		Node, WrAddr                                                                          *uint16 `port:"*"`
		WrData                                                                                *uint32 `port:"*"`
	}
	in, out *moduletest.Beats
	rest    []byte // of the packet that goes in
	wrong   bool   // it is not from this node
	have    []byte // of the packet that comes out
	came    map[[2]int][][]byte
	sent    map[[2]int][][]byte // by source and destination
	bad     int
	late    int
	others  int // packets that are dropped and should not be
	badSent int
}

func openPort(t *testing.T, width int) *netLinks {
	n := &netLinks{came: map[[2]int][][]byte{}, sent: map[[2]int][][]byte{}}
	n.netSwitch = openLinks(t, "net_links", params{"MAX_PACKET": linkproto.MaxRoute(64), "WIDTH": width})
	n.b.Bind(&n.pins)
	*n.pins.Node = own
	for *n.pins.Clearing {
		n.step()
	}
	for i := range ports {
		*n.pins.WrEn, *n.pins.WrAddr, *n.pins.WrData = true, uint16(1+i), linkproto.RoutePort.In(uint32(1+i))
		n.step()
	}
	*n.pins.WrEn = false
	n.up()
	n.in, n.out = moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
	*n.pins.Strict, *n.pins.HasRoom = true, true
	return n
}

// run lets all nodes send to all others for so many clocks, at that rate for each clock.
func (n *netLinks) run(clocks int, rate float64) {
	for end := n.clock + clocks; n.clock < end; {
		for i, e := range n.ends {
			if n.r.Chance(rate) && e.Queued() < 4 {
				to := n.r.IntN(ports + 1)
				p := n.packet(1+i, 1+to, 3+n.r.IntN(60))
				if to == ports {
					p = n.packet(1+i, own, 3+n.r.IntN(60))
				}
				check.Fatal(n.t, e.Send(p))
				n.note(n.sent, p)
			}
		}
		if len(n.rest) == 0 && n.r.Chance(rate) {
			from := own
			if n.wrong = n.r.Chance(0.1); n.wrong {
				from = 1 + n.r.IntN(ports)
			}
			n.rest = n.packet(from, 1+n.r.IntN(ports), 3+n.r.IntN(60))
			if !n.wrong {
				n.note(n.sent, n.rest)
			}
		}
		n.clockPort()
		for _, e := range n.ends {
			if packet, ok := e.Receive(); ok {
				n.note(n.came, packet)
			}
		}
	}
}

// note keeps what routers do not change of a packet.
func (n *netLinks) note(in map[[2]int][][]byte, packet []byte) {
	var r linkproto.Route
	check.Fatal(n.t, r.Decode(packet))
	way := [2]int{int(r.Src), int(r.Dest)}
	in[way] = append(in[way], bytes.Clone(r.Packet))
}

// clockPort lets a clock pass, and what port 0 does in it.
func (n *netLinks) clockPort() {
	p := &n.pins
	*p.SVoid = false
	size := n.in.Put(n.rest)
	*p.SValid, *p.SLast, *p.MReady = len(n.rest) > 0, size == len(n.rest), n.r.Chance(0.9)
	check.Fatal(n.t, n.b.Model().Eval())
	if *p.SValid && *p.SReady {
		n.rest = n.rest[size:]
		if *p.SLast && n.wrong {
			n.badSent++
		}
	}
	if *p.Cancel {
		n.have = nil
	}
	if *p.MValid && *p.MReady {
		n.have = append(n.have, n.out.Get()...)
		if *p.MLast {
			n.note(n.came, n.have)
			n.have = nil
		}
	}
	n.step()
	n.bad += int(*p.EvBad & 1)
	n.late += int(*p.EvLate & 1)
	n.others += bits.OnesCount8(*p.EvLost) + bits.OnesCount8(*p.EvHops) + bits.OnesCount8(*p.EvBad>>1)
}

// TestLinks: packets of this node and for it come once, whole and in order, beside those that pass; those that lie about where they are from are
// dropped. While this node has no room, what is for others passes; what is for it is dropped and counted once it is overdue, and comes again when
// there is room.
func TestLinks(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := openPort(t, width)
		n.damage = 0.0001
		n.run(40_000, 0.003)
		settle := func(what string) {
			t.Helper()
			n.run(30_000, 0)
			for way, sent := range n.sent {
				if !slices.EqualFunc(n.came[way], sent, bytes.Equal) {
					t.Errorf("%s: from %d to %d %d packets came, want %d", what, way[0], way[1], len(n.came[way]), len(sent))
				}
			}
		}
		settle("with room")
		if n.bad < 5 || n.bad != n.badSent || n.late > 0 {
			t.Errorf("%d packets counted as bad, want %d; %d late", n.bad, n.badSent, n.late)
		}

		// One packet to this node is less than the slots of an input hold.
		*n.pins.HasRoom = false
		for i, e := range n.ends {
			check.Fatal(t, e.Send(n.packet(1+i, own, 20)))
			p := n.packet(1+i, 1+(i+1)%ports, 20)
			check.Fatal(t, e.Send(p))
			n.note(n.sent, p)
		}
		settle("without room")
		*n.pins.Overdue = true
		settle("overdue")
		check.Equal(t, "packets dropped as late", n.late, ports)
		*n.pins.Overdue, *n.pins.HasRoom = false, true
		n.run(20_000, 0.003)
		settle("with room again")
		check.Equal(t, "packets dropped as late in the end", n.late, ports)
		check.Equal(t, "packets dropped without a way or hops, or as bad from links", n.others, 0)
	})
}

// TestLinksLanes: the first link's lanes are cabled to the second's; both tell over which of them frames go.
func TestLinksLanes(t *testing.T) {
	var p struct {
		Rst              *bool   `port:"*"`
		Nonce            *uint32 `port:"*"`
		Lanes            *uint16 `port:"*"`
		TxReady, RxValid *uint8  `port:"*"`
		Tick             *uint8  `port:"*"`
	}
	const timer = 512
	b := moduletest.Open(t, "net_links", params{"PORTS": 2, "LANES": 2, "WIDTH": 4, "MAX_PACKET": linkproto.MaxRoute(64), "NODES": 16, "ACK_DELAY": 128, "WORD_TIMER": timer}, &p)
	*p.Nonce, *p.TxReady, *p.RxValid, *p.Tick = 5, 15, 15, 15
	line := func(name string, lane int) string { return fmt.Sprintf("%s[%d:%d]", name, 9*lane+8, 9*lane) }
	run := func(clocks int, cut bool) {
		for range clocks {
			var sent [4]uint64
			for lane := range sent {
				sent[lane] = check.Must(b.Model().Peek(line("tx_sym", lane)))(t)
			}
			if cut {
				sent[1] = uint64(linkproto.SymIdle)
			}
			for lane := range sent {
				check.Fatal(t, b.Model().Poke(line("rx_sym", lane^2), sent[lane]))
			}
			b.Step(1)
		}
	}
	run(5000, false)
	check.Equal(t, "lanes of both links", *p.Lanes, 0x0303)
	run(8*timer, true)
	check.Equal(t, "lanes, one of them half dead", *p.Lanes, 0x0101)
}
