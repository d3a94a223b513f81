package net_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

const (
	outputs = 5
	slots   = 4
	peer    = 77
)

// netInput is module net_input between a link, a table and a crossbar, all of which take their time.
type netInput struct {
	Strict, SValid, SReady, SLast, SVoid, Look, Looked, Start, Cast, Done, MValid, MReady, MLast, MCancel, EvBad, EvLost, EvHops *bool   `port:"*"`
	Ways, Want, Many, Outs, To                                                                                                   *uint8  `port:"*"`
	Peer, Dest                                                                                                                   *uint16 `port:"*"`

	t       *testing.T
	b       *testbench.Bench
	r       *testbench.Rand
	in, out *moduletest.Beats

	asked   bool // for the way to asking
	asking  uint16
	busy    bool
	leaving uint8                // outputs of the packet that leaves
	cast    bool                 // it is for a group
	have    []byte               // of it
	queues  [2][outputs][][]byte // what is to leave, in order; of groups the second
	forks   int                  // packets that left by several outputs at once
	turns   [outputs]int         // how often one for a node waited while one for a group left, by the output for which both waited
	owed    uint8                // outputs that the next packet for a group still waits for
	begun   uint8                // outputs by which that packet has begun
	nodes   [outputs]int         // packets for nodes that have begun there meanwhile
	left    int                  // packets that have
	cut     int                  // and those that were void
	events  [3]int               // bad, lost, hops

	slow float64 // chance that what could move waits
}

func openInput(t *testing.T, width int) *netInput {
	n := &netInput{t: t, slow: 0.3}
	n.b = moduletest.Open(t, "net_input", params{"N": outputs, "SLOTS": slots, "SLOT_BYTES": 128, "WIDTH": width}, n)
	n.r, n.in, n.out = n.b.Rand("packets"), moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
	*n.Peer = peer
	return n
}

// ways are those to a destination: the low bits of its number.
func ways(dest uint16) uint8 { return uint8(dest & (1<<outputs - 1)) }

// step lets a clock pass, and the table and the crossbar work.
func (n *netInput) step() {
	*n.Looked, *n.Ways = n.asked, uint8(n.r.Uint32()&(1<<outputs-1))
	if n.asked {
		*n.Ways = ways(n.asking)
	}
	*n.Start = !n.busy && *n.Want != 0 && !n.r.Chance(n.slow)
	for *n.To = uint8(n.r.IntN(outputs)); *n.Start && *n.Want>>*n.To&1 == 0; {
		*n.To = uint8(n.r.IntN(outputs))
	}
	if *n.Many&^*n.Want != 0 {
		n.t.Fatalf("wants outputs %b, and of them %b for a group", *n.Want, *n.Many)
	}
	if *n.Outs, *n.Cast = 1<<*n.To, *n.Many>>*n.To&1 != 0; *n.Cast {
		*n.Outs |= *n.Many & uint8(n.r.Uint32())
	}
	*n.MReady = !n.r.Chance(n.slow)
	check.Fatal(n.t, n.b.Model().Eval())
	n.asked, n.asking = *n.Look && !n.r.Chance(n.slow), *n.Dest
	n.take()
	n.owed |= *n.Many
	if *n.Start {
		n.busy, n.leaving, n.cast, n.have = true, *n.Outs, *n.Cast, nil
		n.begin()
	}
	n.b.Step(1)
	for i, ev := range []*bool{n.EvBad, n.EvLost, n.EvHops} {
		if *ev {
			n.events[i]++
		}
	}
}

// begin fails the test when a second packet for a node begins by an output that a packet for a group waits for.
func (n *netInput) begin() {
	if to := *n.To; !*n.Cast {
		if at(n.owed, int(to)) {
			n.nodes[to]++
		}
		if n.nodes[to] > 1 {
			n.t.Fatalf("a packet for a group waits while %d for nodes leave by output %d", n.nodes[to], to)
		}
		return
	}
	for o := range outputs {
		if at(*n.Outs, o) {
			n.nodes[o] = 0
		}
	}
	n.begun |= *n.Outs
	if n.owed = ways(binary.LittleEndian.Uint16(n.queues[1][*n.To][0][linkproto.HeaderBytes:])) &^ n.begun; n.owed == 0 {
		n.begun = 0
	}
}

// take looks at what leaves.
func (n *netInput) take() {
	if *n.MValid && *n.MReady {
		n.have = append(n.have, n.out.Get()...)
	}
	if *n.MCancel && *n.MValid {
		n.t.Fatal("a packet is cancelled and goes on")
	}
	if !*n.Done {
		return
	}
	if !n.busy {
		n.t.Fatal("done, and nothing had begun")
	}
	n.busy = false
	if *n.MCancel {
		n.cut++
		return
	}
	if n.leaving&(n.leaving-1) != 0 {
		n.forks++
	}
	kind := 0
	if n.cast {
		kind = 1
	}
	for o := range outputs {
		if n.leaving>>o&1 == 0 {
			continue
		}
		queue := &n.queues[kind][o]
		if len(*queue) == 0 || !bytes.Equal(n.have, (*queue)[0]) {
			n.t.Fatalf("output %d gave % x, want the first of % x", o, n.have, *queue)
		}
		*queue = (*queue)[1:]
		n.left++
		if n.turns[o]++; !n.cast || len(n.queues[0][o]) == 0 {
			n.turns[o] = 0
		}
		if n.turns[o] > 2 {
			n.t.Fatalf("a packet for output %d waits while %d for groups leave by it", o, n.turns[o])
		}
	}
}

// send sends a packet; if void is above 0, only so many beats of it, which are then taken back.
func (n *netInput) send(packet []byte, void int) {
	for rest := packet; len(rest) > 0; {
		*n.SValid = !n.r.Chance(n.slow)
		size := n.in.Put(rest)
		*n.SLast = size == len(rest)
		took := *n.SValid && *n.SReady
		n.step()
		if !took {
			continue
		}
		rest = rest[size:]
		if void--; void == 0 {
			*n.SValid, *n.SVoid = false, true
			n.step()
			*n.SVoid = false
			return
		}
	}
	*n.SValid = false
}

// TestInput: packets leave by the outputs that the table says, whole and in order; what is wrong is dropped and counted, and of what is taken
// back nothing is said to be whole.
func TestInput(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := openInput(t, width)
		var want [3]int
		void, good := 0, 0
		for serial := range 3000 {
			if serial%200 == 0 {
				n.slow = testbench.Pick(n.r, 0, 0.3, 0.8)
			}
			route := linkproto.Route{Dest: uint16(1+n.r.IntN(1000))<<outputs&0xEFFF | 1<<n.r.IntN(outputs), Src: peer, Hops: uint8(1 + n.r.IntN(63)),
				State: linkproto.RouteDatagram, Packet: n.r.Bytes(n.r.IntN(2) * n.r.IntN(100))}
			*n.Strict = n.r.Bool()
			kind := n.r.Weighted(60, 10, 5, 5, 5, 5, 5, 5)
			switch kind {
			case 1: // multicast
				route.Dest = linkproto.MulticastBase | uint16(1+n.r.IntN(1<<outputs-1))
			case 2:
				route.Dest &^= 1<<outputs - 1
			case 3:
				route.Hops = 0
			case 4:
				*n.Strict, route.Src = true, peer^1<<n.r.IntN(16)
			}
			packet := check.Must(route.Append(nil))(t)
			switch kind {
			case 5: // another type
				packet[0] = byte(1 + n.r.IntN(5))
			case 6: // too short
				packet = packet[:3+n.r.IntN(linkproto.RouteExtra-3)]
			}
			if kind >= 4 && kind <= 6 && n.r.Bool() { // and without a way or without hops
				if lacks := testbench.Pick(n.r, linkproto.HeaderBytes, linkproto.RoutePathAt); lacks < len(packet) {
					packet[lacks] = 0
				}
			}
			beats := (len(packet) + width - 1) / width
			if kind == 7 || n.r.Chance(0.1) {
				if beats > 1 {
					n.send(packet, 1+n.r.IntN(beats-1))
					void++
					continue
				}
			}
			to := ways(route.Dest)
			switch {
			case kind >= 4 && kind <= 6:
				want[0]++
			case kind == 2:
				want[1]++
			case kind == 3 && to != 1:
				want[2]++
			default:
				left := bytes.Clone(packet)
				if route.Hops > 0 {
					left[linkproto.RoutePathAt]--
				}
				queues := &n.queues[0]
				if kind == 1 {
					queues = &n.queues[1]
				}
				for o := range outputs {
					if to>>o&1 != 0 {
						queues[o] = append(queues[o], left)
						good++
					}
				}
			}
			n.send(packet, 0)
		}
		for range 20000 {
			n.step()
		}
		check.Equal(t, "packets that left", n.left, good)
		check.Equal(t, "dropped as bad, without a way, without hops", n.events, want)
		if n.forks < 100 {
			t.Errorf("only %d packets left by several outputs at once", n.forks)
		}
		if n.cut == 0 || n.cut > void+want[0]+want[2] {
			t.Errorf("%d packets were cancelled, of %d that were void", n.cut, void)
		}
		n.fill()
	})
}

// fill holds that all slots are free again: so many packets find room, and no more.
func (n *netInput) fill() {
	route := linkproto.Route{Dest: 1 << 1, Src: peer, Hops: 1, Packet: make([]byte, 8)}
	packet := check.Must(route.Append(nil))(n.t)
	n.slow = 1 // nothing leaves
	free := 0
	for range 1000 {
		n.b.Step(1)
		if !*n.SReady {
			break
		}
		for rest := packet; len(rest) > 0; {
			*n.SValid = true
			size := n.in.Put(rest)
			*n.SLast = size == len(rest)
			*n.Looked, *n.Ways, *n.Start = true, ways(route.Dest), false
			if *n.SReady {
				rest = rest[size:]
			}
			n.b.Step(1)
		}
		*n.SValid = false
		free++
		n.b.Step(3)
	}
	check.Equal(n.t, "packets that found room", free, slots)
}
