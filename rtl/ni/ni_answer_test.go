package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// niAnswer is module ni_answer between a link, its trap unit and the host.
type niAnswer struct {
	SPut, SLast, Commit, Rollback, EvLost *bool `port:"*"`
	M                                     offer `port:"*"`
	T                                     struct {
		Valid, Ready, Last *bool   `port:"*"`
		Kind, Data         *uint8  `port:"*"`
		Length             *uint16 `port:"*"`
	} `port:"*"`

	t     *testing.T
	b     *testbench.Bench
	r     *testbench.Rand
	in    *moduletest.Beats
	ready float64 // share of clocks in which the host takes a byte
	traps float64 // chance that a TRAP begins in a clock
	trap  []byte  // that is offered: its head, or its bytes
	head  bool
	shown bool        // what is next of it is on offer
	want  [2][][]byte // TRAPs and answers, each in order
	came  [2]int
	lost  int
}

const answerLink = 3

// step lets a clock pass.
func (n *niAnswer) step() {
	if n.trap == nil && n.r.Chance(n.traps) {
		n.trap, n.head = append([]byte{answerLink<<linkproto.TypeBits | byte(linkproto.TypeTrap), 0, 0}, n.r.Bytes(1+n.r.IntN(9))...), true
		binary.LittleEndian.PutUint16(n.trap[1:], uint16(len(n.trap)-linkproto.HeaderBytes))
		n.want[0] = append(n.want[0], n.trap)
	}
	*n.T.Last = false
	n.shown = n.trap != nil && (n.shown || n.r.Chance(0.7))
	if *n.T.Valid = n.shown; n.head {
		*n.T.Kind, *n.T.Length = n.trap[0], binary.LittleEndian.Uint16(n.trap[1:])
	} else if n.trap != nil {
		*n.T.Data, *n.T.Last = n.trap[0], len(n.trap) == 1
	}
	*n.M.Ready = n.r.Chance(n.ready)
	settle(n.t, n.b)
	if *n.T.Valid && *n.T.Ready {
		n.shown = false
		if n.head {
			n.trap, n.head = n.trap[linkproto.HeaderBytes:], false
		} else if n.trap = n.trap[1:]; len(n.trap) == 0 {
			n.trap = nil
		}
	}
	if whole := n.M.clock(n.t); whole != nil {
		kind := 0
		if linkproto.Type(whole[0]&(1<<linkproto.TypeBits-1)) == linkproto.TypeRoute {
			kind = 1
		}
		if want := n.want[kind]; len(want) == 0 || !bytes.Equal(whole, want[0]) {
			n.t.Fatalf("the host got % x, want the first of % x", whole, want)
		}
		n.want[kind] = n.want[kind][1:]
		n.came[kind]++
	}
	n.b.Step(1)
	if *n.EvLost {
		n.lost++
	}
}

// put puts in a ROUTE, whose end says whether it is an answer.
func (n *niAnswer) put(packet []byte, answer bool) {
	for rest := packet; len(rest) > 0; {
		if *n.SPut = n.r.Chance(0.8); *n.SPut {
			size := n.in.Put(rest)
			*n.SLast = size == len(rest)
			rest = rest[size:]
		}
		n.step()
	}
	*n.SPut = false
	if n.r.Bool() {
		n.step()
	}
	*n.Commit, *n.Rollback = answer, true
	n.step()
	*n.Commit, *n.Rollback = false, false
}

// TestAnswer: answers come whole and in order, between whole TRAPs; what is none does not, nor does an answer for which there was no room, which is
// counted.
func TestAnswer(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := &niAnswer{t: t}
		n.b = moduletest.Open(t, "ni_answer", params{"LINK": answerLink, "HOLD_BYTES": 128, "WIDTH": width}, n)
		n.r, n.in = n.b.Rand("packets"), moduletest.NewBeats(t, n.b, "s", width)
		drain := func() {
			n.ready, n.traps = 1, 0
			for range 2000 {
				n.step()
			}
		}
		for round := range 1500 {
			if round%100 == 0 {
				n.ready, n.traps = testbench.Pick(n.r, 1, 0.5, 0.1), testbench.Pick(n.r, 0, 0.02, 0.3)
			}
			packet := append([]byte{byte(linkproto.TypeRoute)}, n.r.Bytes(testbench.Pick(n.r, 13, 21, 26))...)
			binary.LittleEndian.PutUint16(packet[1:], uint16(len(packet)-linkproto.HeaderBytes))
			answer := n.r.Chance(0.7)
			if answer {
				told := bytes.Clone(packet)
				told[0] |= answerLink << linkproto.TypeBits
				n.want[1] = append(n.want[1], told)
			}
			n.put(packet, answer)
			for range n.r.IntN(80) {
				n.step()
			}
			if lost := n.lost; len(n.want[1]) > 3 { // as many as have room in any case
				drain()
				check.Equal(t, "answers lost while there was room", n.lost, lost)
			}
		}
		drain()
		check.Equal(t, "packets that did not come", len(n.want[0])+len(n.want[1]), 0)
		if n.came[0] < 200 || n.came[1] < 500 {
			t.Errorf("only %v TRAPs and answers came", n.came)
		}
		// The host takes nothing.
		n.ready = 0
		packet := append([]byte{byte(linkproto.TypeRoute), 19, 0}, n.r.Bytes(19)...)
		for range 20 {
			n.put(packet, true)
		}
		n.step()
		if kept := 20 - n.lost; kept < 3 || kept > 7 {
			t.Errorf("%d of 20 answers were kept in 128 bytes", kept)
		} else {
			told := bytes.Clone(packet)
			told[0] |= answerLink << linkproto.TypeBits
			for range kept {
				n.want[1] = append(n.want[1], told)
			}
		}
		drain()
		told := bytes.Clone(packet)
		told[0] |= answerLink << linkproto.TypeBits
		n.want[1] = append(n.want[1], told)
		n.put(packet, true)
		drain()
		check.Equal(t, "answers that did not come", len(n.want[1]), 0)
	})
}

// TestAnswerBehindLost: a ROUTE for which there is room is kept, however close behind one that had none and was lost, was for another node, or was taken back.
func TestAnswerBehindLost(t *testing.T) {
	const lost, astray, void = 0, 1, 2
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		var n struct {
			SValid, SReady, SLast, SVoid, EvLost *bool `port:"*"`
			M                                    offer `port:"*"`
		}
		b := moduletest.Open(t, "testdata/ni_route_answer", params{"WIDTH": width}, &n)
		r, in := b.Rand("packets"), moduletest.NewBeats(t, b, "s", width)
		losses := 0
		var came [][]byte
		step := func() {
			settle(t, b)
			if whole := n.M.clock(t); whole != nil {
				came = append(came, whole)
			}
			b.Step(1)
			losses += count(*n.EvLost)
		}
		send := func(dest uint16, size, beats int) []byte { // so many beats of it
			packet := check.Must((&linkproto.Route{Dest: dest, Packet: r.Bytes(size - linkproto.RouteExtra)}).Append(nil))(t)
			for rest := packet; len(rest) > 0 && beats > 0; {
				size := in.Put(rest)
				*n.SValid, *n.SLast = true, size == len(rest)
				settle(t, b)
				if *n.SReady {
					rest = rest[size:]
					beats--
				}
				step()
			}
			*n.SValid = false
			packet[0] |= 1 << linkproto.TypeBits
			return packet
		}
		for kind := lost; kind <= void; kind++ {
			for size := 80; size < 80+4*width; size++ {
				for pause := range 8 {
					losses, came = 0, nil
					want := [][]byte{send(7, 37, 37), send(7, 37, 37)}
					switch kind {
					case lost:
						send(7, size, size)
					case astray:
						send(6, size, size)
					default:
						send(7, 200, size/width)
						*n.SVoid = true
						step()
						*n.SVoid = false
					}
					for range pause {
						step()
					}
					want = append(want, send(7, 37, 37))
					*n.M.Ready = true
					for range 300 {
						step()
					}
					*n.M.Ready = false
					check.Equal(t, fmt.Sprintf("kind %d, %d bytes, %d clocks behind it: lost", kind, size, pause), losses, count(kind == lost))
					check.Equal(t, fmt.Sprintf("kind %d, %d bytes, %d clocks behind it", kind, size, pause), came, want)
				}
			}
		}
	})
}
