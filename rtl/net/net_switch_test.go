package net_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

const ports = 4

// netSwitch is module net_switch or net_links of four links, with an endpoint in Go at each: nodes 1 to 4.
type netSwitch struct {
	Nonce                  *uint32 `port:"*"`
	Tick, TxReady, RxValid *uint8  `port:"*"`
	TxSym, RxSym           *uint64 `port:"*"`

	t      *testing.T
	b      *testbench.Bench
	r      *testbench.Rand
	ends   [ports]*flowctl.Endpoint
	clock  int
	tag    uint8   // of the last request
	damage float64 // share of symbols that arrive wrong
	cut    [ports]bool
}

func openSwitch(t *testing.T, width int) *netSwitch {
	s := openLinks(t, "net_switch", params{"PAGE_BYTES": 64, "WIDTH": width, "PATIENCE": 100})
	s.up()
	s.set(linkproto.RegNodeID, own)
	for i := range s.ends {
		s.set(linkproto.RouteReg(uint16(1+i)), linkproto.RoutePort.In(uint32(1+i)))
	}
	return s
}

// openLinks opens module net_switch, or net_links, with these parameters.
func openLinks(t *testing.T, top string, p params) *netSwitch {
	s := &netSwitch{t: t}
	maps.Copy(p, params{"PORTS": ports, "REPLAY_BYTES": 512, "RX_BYTES": 1024, "SLOTS": 4, "NODES": 64})
	s.b = moduletest.Open(t, top, p, s)
	s.r = s.b.Rand("traffic")
	*s.Nonce = ni.Nonce(s.r)
	*s.Tick, *s.TxReady, *s.RxValid = 15, 15, 15
	for i := range s.ends {
		s.ends[i] = check.Must(flowctl.New(flowctl.Config{
			MaxPacket: linkproto.MaxRoute(64), Routes: true, Node: uint16(1 + i), Nonce: ni.Nonce(s.r), Port: 1, ReceiveBytes: 4096,
		}))(t)
	}
	return s
}

// up waits until all links are.
func (s *netSwitch) up() {
	s.t.Helper()
	s.until("the links", func() bool {
		for _, e := range s.ends {
			if !e.Status().Up {
				return false
			}
		}
		return true
	})
}

// request gives a request to an endpoint, as if it were from that node.
func (s *netSwitch) request(end, from, to int, p linkproto.Packet) {
	s.t.Helper()
	r := linkproto.Route{Dest: uint16(to), Src: uint16(from), Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: check.Must(p.Append(nil))(s.t)}
	if p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.RegNodeID {
		r.Hops = 0
	}
	check.Fatal(s.t, s.ends[end].Send(check.Must(r.Append(nil))(s.t)))
}

// ask sends a request for the switch by an endpoint, and returns the answer that comes there. Other packets that come meanwhile are dropped.
func (s *netSwitch) ask(end int, p linkproto.Packet) (answer linkproto.Packet) {
	s.t.Helper()
	s.tag++
	p.Tag = s.tag
	s.request(end, 1+end, own, p)
	s.until("an answer", func() bool {
		packet, ok := s.ends[end].Receive()
		if !ok {
			return false
		}
		var r linkproto.Route
		check.Fatal(s.t, r.Decode(packet))
		return r.Src == own && answer.Decode(r.Packet) == nil && answer.Tag == s.tag
	})
	return answer
}

// set writes a register of the switch.
func (s *netSwitch) set(reg linkproto.Reg, value uint32) {
	s.t.Helper()
	check.Equal(s.t, "status of a write", s.ask(0, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: reg, Value: value}).Status, linkproto.StatusOK)
}

// get reads a register of the switch.
func (s *netSwitch) get(reg linkproto.Reg) uint32 {
	s.t.Helper()
	a := s.ask(0, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: reg})
	check.Equal(s.t, "answer to a read", a.Type, linkproto.TypeRegData)
	return a.Value
}

// lost is how many packets without a way are counted.
func (s *netSwitch) lost() (count uint32) {
	for p := range ports + 1 {
		count += s.get(linkproto.RouterLost.Reg(p))
	}
	return count
}

// step lets a clock pass.
func (s *netSwitch) step() {
	s.clock++
	*s.RxSym = 0
	for i, e := range s.ends {
		sym := e.Next()
		if s.cut[i] {
			sym = linkproto.SymIdle
		} else if s.r.Chance(s.damage) {
			sym ^= 1 << s.r.IntN(9)
		}
		*s.RxSym |= uint64(sym) << (9 * i)
	}
	sent := *s.TxSym
	s.b.Step(1)
	for i, e := range s.ends {
		if sym := linkproto.Symbol(sent >> (9 * i) & 0x1FF); !s.cut[i] {
			if s.r.Chance(s.damage) {
				sym ^= 1 << s.r.IntN(9)
			}
			e.Feed([]linkproto.Symbol{sym})
		}
		e.Tick(1)
	}
}

func (s *netSwitch) until(what string, done func() bool) {
	s.t.Helper()
	for limit := s.clock + 100_000; !done(); s.step() {
		if s.clock > limit {
			s.t.Fatalf("after %d clocks still waiting for %s", s.clock, what)
		}
	}
}

// packet is a ROUTE from one node to another.
func (s *netSwitch) packet(from, to, size int) []byte {
	r := linkproto.Route{Dest: uint16(to), Src: uint16(from), Hops: uint8(1 + s.r.IntN(63)), State: linkproto.RouteDatagram, Packet: s.r.Bytes(size)}
	return check.Must(r.Append(nil))(s.t)
}

// TestSwitch: whatever arrives damaged, each packet comes to its node once, whole, and in the order in which its sender has sent those to it.
func TestSwitch(t *testing.T) {
	for _, damage := range []float64{0, 0.0003} {
		moduletest.EachWidth(t, func(t *testing.T, width int) {
			t.Run(fmt.Sprint("damage ", damage), func(t *testing.T) {
				s := openSwitch(t, width)
				s.damage = damage
				var want [ports][ports][][]byte // to, from
				sent, came := 0, 0
				receive := func() {
					for i, e := range s.ends {
						packet, ok := e.Receive()
						if !ok {
							continue
						}
						var r linkproto.Route
						check.Fatal(t, r.Decode(packet))
						queue := &want[i][r.Src-1]
						if len(*queue) == 0 || !bytes.Equal(r.Packet, (*queue)[0]) {
							t.Fatalf("node %d got %v % x, want % x", 1+i, &r, r.Packet, *queue)
						}
						*queue = (*queue)[1:]
						came++
					}
				}
				for s.clock < 150_000 {
					for i, e := range s.ends {
						if e.Queued() < 4 {
							to := s.r.IntN(ports)
							p := s.packet(1+i, 1+to, 3+s.r.IntN(70))
							check.Fatal(t, e.Send(p))
							want[to][i] = append(want[to][i], p[linkproto.RouteFields:len(p)-linkproto.CRCBytes])
							sent++
						}
					}
					s.step()
					receive()
				}
				s.until("the last packets", func() bool { receive(); return came == sent })
				if sent < 2000 {
					t.Errorf("only %d packets were sent", sent)
				}
				t.Logf("%d packets in %d clocks", came, s.clock)
			})
		})
	}
}

// TestHop: a packet that finds its way free goes on before it has come, so that its length does not matter.
func TestHop(t *testing.T) {
	var hops [2]int
	for i, size := range []int{8, 64} {
		s := openSwitch(t, 1)
		check.Fatal(t, s.ends[0].Send(s.packet(1, 3, size)))
		var in, out int
		s.until("the packet", func() bool {
			if in == 0 && linkproto.Symbol(*s.RxSym&0x1FF) == linkproto.SymSOP {
				in = s.clock
			}
			if out == 0 && linkproto.Symbol(*s.TxSym>>18&0x1FF) == linkproto.SymSOP {
				out = s.clock
			}
			return out > 0
		})
		hops[i] = out - in
	}
	t.Logf("%d clocks from symbol to symbol", hops[0])
	if hops[0] != hops[1] || hops[0] > 16 {
		t.Errorf("%d and %d clocks from the first symbol to the first symbol", hops[0], hops[1])
	}
}

// TestCut: packets for a node whose cable is cut take the alternate, if there is one, and are lost and counted if not; nothing stays behind, and
// when the cable is whole again everything works as before.
func TestCut(t *testing.T) {
	s := openSwitch(t, 1)
	came := map[uint16]int{}
	receive := func() {
		for i, e := range s.ends {
			for packet, ok := e.Receive(); ok; packet, ok = e.Receive() {
				var r linkproto.Route
				check.Fatal(t, r.Decode(packet))
				came[uint16(i)<<8|r.Dest]++
			}
		}
	}
	send := func(count int) {
		for range count {
			for i, e := range s.ends {
				if e.Status().Up && e.Queued() < 4 {
					check.Fatal(t, e.Send(s.packet(1+i, 1+s.r.IntN(ports), 20)))
				}
			}
			for range 300 {
				s.step()
			}
			receive()
		}
	}
	s.set(linkproto.RouteReg(3), linkproto.RoutePort.In(3)|linkproto.RouteAlternate.In(2)) // also by node 2's cable
	send(20)
	s.cut[2], s.cut[3] = true, true
	send(200)
	if s.ends[2].Status().Up || s.ends[3].Status().Up {
		t.Fatal("a cable is cut, and its link up")
	}
	clear(came)
	lost := s.lost()
	send(50)
	if after := s.lost(); came[1<<8|3] == 0 || after == lost {
		t.Errorf("%v came, %d were lost: want packets for node 3 at node 2, and those for node 4 lost", came, after-lost)
	}
	s.cut = [ports]bool{}
	s.until("the links", func() bool { return s.ends[2].Status().Up && s.ends[3].Status().Up })
	for _, e := range s.ends {
		e.Lost()
	}
	send(20)
	clear(came)
	lost = s.lost()
	send(50)
	check.Equal(t, "lost with whole cables", s.lost(), lost)
	for i := range ports {
		if came[uint16(i)<<8|uint16(1+i)] == 0 {
			t.Errorf("nothing came to node %d again: %v", 1+i, came)
		}
	}
}
