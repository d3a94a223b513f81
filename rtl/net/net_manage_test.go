package net_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

const managePatience = 64

// netManage is module net_manage between a router and registers.
type netManage struct {
	SValid, SReady, SLast, SCancel, HasRoom, MValid, MReady, MLast *bool   `port:"*"`
	RegEn, RegWrite, RegDone, RegOk                                *bool   `port:"*"`
	EvTaken, EvAnswered, EvBad, EvLate                             *bool   `port:"*"`
	From, Back                                                     *uint8  `port:"*"`
	Node, RegAddr                                                  *uint16 `port:"*"`
	RegWdata, RegValue                                             *uint32 `port:"*"`

	t       *testing.T
	r       *testbench.Rand
	b       *testbench.Bench
	in, out *moduletest.Beats
	ready   float64 // share of clocks in which the router takes what is given to it
	answer  []byte
	wait    int // until the registers answer
	ok      bool
	value   uint32
	access  *linkproto.Packet // what came of a packet: an access, and events
	events  [4]int
}

// step lets a clock pass in which these bytes are offered, and returns how many were taken.
func (n *netManage) step(rest []byte) (taken int) {
	size := n.in.Put(rest)
	*n.SValid, *n.SLast = size > 0, size == len(rest)
	*n.MReady = n.r.Chance(n.ready)
	if *n.RegEn && n.access == nil {
		n.wait = n.r.IntN(30)
	}
	if *n.RegDone = *n.RegEn && n.wait == 0; *n.RegEn {
		p := linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.Reg(*n.RegAddr)}
		if *n.RegWrite {
			p.Type, p.Value = linkproto.TypeRegWrite, *n.RegWdata
		}
		if n.access != nil && fmt.Sprint(*n.access) != fmt.Sprint(p) {
			n.t.Fatalf("access %+v becomes %+v", *n.access, p)
		}
		n.access = &p
		n.wait--
	}
	*n.RegOk, *n.RegValue = n.ok, n.value
	check.Fatal(n.t, n.b.Model().Eval())
	if *n.MValid && *n.MReady {
		n.answer = append(n.answer, n.out.Get()...)
	}
	if *n.SValid && *n.SReady {
		taken = size
	}
	n.b.Step(1)
	for i, e := range []*bool{n.EvTaken, n.EvAnswered, n.EvBad, n.EvLate} {
		if *e {
			n.events[i]++
		}
	}
	return taken
}

// exchange gives a packet that came by a port, and waits until the next can come.
func (n *netManage) exchange(packet []byte, from int) {
	n.access, n.answer, n.events = nil, nil, [4]int{}
	n.ok, n.value = n.r.Chance(0.7), n.r.Uint32()
	if !*n.HasRoom {
		n.t.Fatal("no room for a packet")
	}
	*n.From = uint8(from)
	for rest := packet; len(rest) > 0; {
		rest = rest[n.step(rest):]
	}
	*n.From = uint8(n.r.IntN(outputs))
	for clocks := 0; !*n.HasRoom; clocks++ {
		n.step(nil)
		if clocks > 200+managePatience {
			n.t.Fatal("it does not come to an end")
		}
	}
	n.step(nil) // events come a clock later
}

// datagram draws a packet for the module, mostly a good one.
func (n *netManage) datagram() linkproto.Route {
	r := linkproto.Route{Dest: *n.Node, Src: uint16(1 + n.r.IntN(linkproto.MaxNode)), Hops: uint8(n.r.IntN(2) * n.r.IntN(64)), Class: uint8(n.r.IntN(4)), State: linkproto.RouteDatagram}
	inner := linkproto.Packet{Type: testbench.Pick(n.r, linkproto.TypeRegRead, linkproto.TypeRegWrite), Tag: uint8(n.r.Uint32()), Reg: linkproto.Reg(n.r.Uint32()), Value: n.r.Uint32()}
	if n.r.Chance(0.3) {
		inner.Reg = testbench.Pick(n.r, linkproto.RegNodeID, linkproto.RegScratch)
	}
	r.Packet = check.Must(inner.Append(nil))(n.t)
	if *n.Node == 0 && n.r.Bool() {
		r.Dest = uint16(n.r.Uint32())
	}
	switch n.r.IntN(16) {
	case 0:
		r.Dest ^= 1 << n.r.IntN(16)
	case 1:
		r.Src = testbench.Pick(n.r, 0, *n.Node, linkproto.MaxNode+1, linkproto.MulticastBase, 0xFFFF)
	case 2:
		r.VL = 1 << n.r.IntN(16)
	case 3:
		r.State ^= 1 << n.r.IntN(8)
	case 4:
		r.Next, r.Seq = testbench.Pick(n.r, uint8(1), 0), uint8(n.r.IntN(2))
	case 5, 6: // of another type
		r.Packet[0] = uint8(n.r.Uint32())
	case 7, 8: // of another length
		r.Packet = append(r.Packet[:linkproto.HeaderBytes], n.r.Bytes(n.r.IntN(40))...)
		binary.LittleEndian.PutUint16(r.Packet[1:], uint16(len(r.Packet)-linkproto.HeaderBytes))
	case 9: // which its header does not tell
		r.Packet[1+n.r.IntN(2)] ^= 1 << n.r.IntN(8)
	}
	return r
}

// want is what a datagram asks for: the access, if there is to be one, and the answer to what cannot be one, or neither.
func (n *netManage) want(r linkproto.Route) (access *linkproto.Packet, refusal *linkproto.Packet) {
	kind, length := linkproto.Type(r.Packet[0]&0x1F), int(binary.LittleEndian.Uint16(r.Packet[1:]))
	fields := r.Packet[linkproto.HeaderBytes:]
	switch {
	case *n.Node != 0 && r.Dest != *n.Node, r.Src == 0, r.Src == *n.Node, r.Src > linkproto.MaxNode, r.VL != 0, r.State != linkproto.RouteDatagram,
		r.Next != 0, r.Seq != 0, length != len(fields), kind < linkproto.TypeRegRead, kind > linkproto.TypeRetrap:
		return nil, nil
	}
	refusal = &linkproto.Packet{Type: linkproto.TypeDone, Tag: linkproto.TagNone, Status: linkproto.StatusBadType}
	if length > 0 {
		refusal.Tag = fields[0]
	}
	info := kind.Info()
	if kind != linkproto.TypeRegRead && kind != linkproto.TypeRegWrite {
		return nil, refusal
	}
	if length != info.MinLength() {
		refusal.Status = linkproto.StatusBadLength
		return nil, refusal
	}
	access = &linkproto.Packet{Type: kind, Reg: linkproto.Reg(binary.LittleEndian.Uint16(fields[1:]))}
	if kind == linkproto.TypeRegWrite {
		access.Value = binary.LittleEndian.Uint32(fields[3:])
	}
	named := access.Reg == linkproto.RegNodeID && r.Hops == 0
	if *n.Node == 0 && kind == linkproto.TypeRegWrite && !named && access.Reg != linkproto.RegScratch {
		refusal.Status = linkproto.StatusBadAddress
		return nil, refusal
	}
	refusal.Status = linkproto.StatusOK
	return access, refusal
}

// TestManage: each datagram leads to the access that it asks for and to an answer to its sender, or to a refusal; what is damaged, is for others, lies
// about its sender or is no request is counted and changes nothing. An answer for which the router has no room is dropped, and the next one is as ever.
func TestManage(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := openManage(t, width)
		var outcomes [6]int // taken back, bad, refused, read, written, late
		for range 4000 {
			if n.r.Chance(0.02) {
				*n.Node = uint16(n.r.IntN(2) * (1 + n.r.IntN(linkproto.MaxNode)))
			}
			r := n.datagram()
			packet := check.Must(r.Append(nil))(t)
			access, answer := n.want(r)
			if n.r.Chance(0.1) {
				if at := linkproto.HeaderBytes + n.r.IntN(len(packet)-linkproto.HeaderBytes); at != linkproto.RoutePathAt {
					packet[at] ^= 1 << n.r.IntN(8)
					access, answer = nil, nil
				}
			}
			if n.r.Chance(0.1) { // it is taken back, which the router says only if a beat of it has been taken
				begun, rest := false, packet
				for range n.r.IntN(len(packet)) { // a byte a clock, so that its last beat is not taken
					size := n.in.Put(rest)
					*n.SValid, *n.SLast = true, size == len(rest)
					check.Fatal(t, n.b.Model().Eval())
					if *n.SReady {
						begun, rest = true, rest[size:]
					}
					n.b.Step(1)
				}
				*n.SValid, *n.SCancel = false, begun
				n.b.Step(1)
				*n.SCancel = false
				n.b.Step(2)
				outcomes[0]++
			}
			if n.ready = 0.9; n.r.Chance(0.05) {
				n.ready = 0
			}
			from := n.r.IntN(outputs)
			n.exchange(packet, from)
			where := fmt.Sprintf("node %d, %v % x, bytes % x", *n.Node, &r, r.Packet, packet)
			check.Equal(t, "access by "+where, fmt.Sprint(n.access == nil, deref(n.access)), fmt.Sprint(access == nil, deref(access)))
			switch {
			case answer == nil:
				check.Equal(t, "events by "+where, n.events, [4]int{0, 0, 1, 0})
				outcomes[1]++
			case n.ready == 0:
				check.Equal(t, "events by "+where, n.events, [4]int{1, 0, 0, 1})
				outcomes[5]++
			default:
				check.Equal(t, "events by "+where, n.events, [4]int{1, 1, 0, 0})
				outcomes[2]++
				if access != nil && n.ok && access.Type == linkproto.TypeRegRead {
					answer.Type, answer.Reg, answer.Value = linkproto.TypeRegData, access.Reg, n.value
					outcomes[3]++
				} else if access != nil {
					outcomes[4]++
					if !n.ok {
						answer.Status = linkproto.StatusBadAddress
					}
				}
				back := linkproto.Route{Dest: r.Src, Src: *n.Node, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: check.Must(answer.Append(nil))(t)}
				check.Equal(t, "answer to "+where, fmt.Sprintf("% x", n.answer), fmt.Sprintf("% x", check.Must(back.Append(nil))(t)))
				check.Equal(t, "port of the answer to "+where, int(*n.Back), from)
			}
			if t.Failed() {
				return
			}
		}
		for i, count := range outcomes {
			if count < 50 {
				t.Errorf("%v packets were taken back, bad, refused, read, written, late: %d too few", outcomes, i)
			}
		}
	})
}

func openManage(t *testing.T, width int) *netManage {
	n := &netManage{t: t, ready: 0.9}
	n.b = moduletest.Open(t, "net_manage", params{"PORTS": outputs - 1, "WIDTH": width, "PATIENCE": managePatience}, n)
	n.r = n.b.Rand("datagrams")
	n.in, n.out = moduletest.NewBeats(t, n.b, "s", width), moduletest.NewBeats(t, n.b, "m", width)
	n.step(nil)
	return n
}

// TestManageNothing: a datagram around nothing is no request, even if its CRC looks like the header of one.
func TestManageNothing(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := openManage(t, width)
		for {
			r := linkproto.Route{Dest: uint16(n.r.Uint32()), Src: uint16(1 + n.r.IntN(linkproto.MaxNode)), State: linkproto.RouteDatagram}
			packet := check.Must(r.Append(nil))(t)
			header := packet[linkproto.RouteFields:]
			kind, length := linkproto.Type(header[0]&0x1F), binary.LittleEndian.Uint16(header[1:])
			if kind < linkproto.TypeRegRead || kind > linkproto.TypeRetrap || int16(length) != -linkproto.HeaderBytes {
				continue
			}
			n.exchange(packet, 0)
			check.Equal(t, "events", n.events, [4]int{0, 0, 1, 0})
			return
		}
	})
}

func deref(p *linkproto.Packet) (v linkproto.Packet) {
	if p != nil {
		v = *p
	}
	return v
}
