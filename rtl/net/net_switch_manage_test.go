package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// drain runs for so many clocks and returns the datagrams that come, by endpoint.
func (s *netSwitch) drain(clocks int) (came [ports][]linkproto.Route) {
	for end := s.clock + clocks; s.clock < end; s.step() {
		for i, e := range s.ends {
			if packet, ok := e.Receive(); ok {
				var r linkproto.Route
				check.Fatal(s.t, r.Decode(packet))
				r.Packet = append([]byte(nil), r.Packet...)
				came[i] = append(came[i], r)
			}
		}
	}
	return came
}

// only is the one packet that came, at that endpoint and from the switch.
func (s *netSwitch) only(what string, came [ports][]linkproto.Route, end int, dest, src uint16) (p linkproto.Packet) {
	s.t.Helper()
	for i := range came {
		want := 0
		if i == end {
			want = 1
		}
		if len(came[i]) != want || want > 0 && (came[i][0].Dest != dest || came[i][0].Src != src) {
			s.t.Fatalf("%s: %v came at endpoint %d, want %d for %d from %d", what, came[i], i, want, dest, src)
		}
	}
	check.Fatal(s.t, p.Decode(came[end][0].Packet))
	return p
}

// TestManaged: a switch takes requests by any port. Without a number it takes all of them for its own, answers by where they came, and lets nothing but
// its number be written. With one it answers to the source, by its table; a source that cannot be is counted and has no answer, and what has no hops left
// is counted if it is for another node.
func TestManaged(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		s := openLinks(t, "net_switch", params{"PAGE_BYTES": 64, "WIDTH": width})
		s.up()
		read := linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.RegNonce}
		for i := range s.ends {
			s.request(i, 1+i, 40+i, read)
			p := s.only("a read without a number", s.drain(1000), i, uint16(1+i), 0)
			check.Equal(t, "nonce", p.Value, *s.Nonce)
		}
		s.request(1, 2, 40, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RouteReg(3), Value: 3})
		p := s.only("a write without a number", s.drain(1000), 1, 2, 0)
		check.Equal(t, "status of a write without a number", p.Status, linkproto.StatusBadAddress)
		far := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNodeID, Value: 40}
		r := linkproto.Route{Dest: 40, Src: 2, Hops: 2, State: linkproto.RouteDatagram, Packet: check.Must(far.Append(nil))(t)}
		check.Fatal(t, s.ends[1].Send(check.Must(r.Append(nil))(t)))
		p = s.only("a number for a switch behind", s.drain(1000), 1, 2, 0)
		check.Equal(t, "status of a number for a switch behind", p.Status, linkproto.StatusBadAddress)
		s.set(linkproto.RegNodeID, own)
		s.request(3, 33, own, read)
		s.only("a read by a node without an entry", s.drain(1000), 3, 33, own)
		s.set(linkproto.RouteReg(3), linkproto.RoutePort.In(3))
		check.Equal(t, "entry", s.get(linkproto.RouteReg(3)), 3)

		s.request(0, 3, own, read)
		s.only("a read in the name of another", s.drain(1000), 2, 3, own)
		bad := s.get(linkproto.PortCounterReg(0, linkproto.CntBadPacket))
		for _, src := range []int{0, own, linkproto.MulticastBase, linkproto.MaxNode + 1} {
			s.request(1, src, own, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RouteReg(3), Value: 2})
		}
		for i, came := range s.drain(2000) {
			check.Equal(t, "answers to nobody", len(came), 0)
			check.Equal(t, "peer", s.get(linkproto.PortPeerReg(1+i)), linkproto.PeerKnown.In(1)|linkproto.PeerNode.In(uint32(1+i)))
		}
		check.Equal(t, "counted", s.get(linkproto.PortCounterReg(0, linkproto.CntBadPacket)), bad+4)
		check.Equal(t, "entry", s.get(linkproto.RouteReg(3)), 3)

		for dest, want := range map[uint16]int{own: 1, 3: 0} {
			r := linkproto.Route{Dest: dest, Src: 2, State: linkproto.RouteDatagram, Packet: check.Must(read.Append(nil))(t)}
			check.Fatal(t, s.ends[1].Send(check.Must(r.Append(nil))(t)))
			came := s.drain(1000)
			check.Equal(t, "packets without hops that came", [2]int{len(came[1]), len(came[2])}, [2]int{want, 0})
		}
		check.Equal(t, "counted without hops", s.get(linkproto.RouterHops.Reg(2)), 1)
		check.Equal(t, "status of port 0", s.get(linkproto.PortStatusReg(0)), linkproto.StatusUp.In(1))
	})
}

// TestFlood: a host that floods the switch with writes of its table holds up neither packets between others nor their requests; nor does one that takes
// no answers, but for requests, which the switch then answers to nobody until that host goes on.
func TestFlood(t *testing.T) {
	s := openSwitch(t, 1)
	flood, asked := 0, 0
	var sent, came [ports]int // packets from an endpoint to the next but the first
	answers := [ports]int{}
	behind := func() bool { // more than those on their way
		for i := range sent {
			if came[i] < sent[i]-1 {
				return true
			}
		}
		return false
	}
	run := func(clocks int, reads bool) {
		for end := s.clock + clocks; s.clock < end; s.step() {
			if s.ends[0].Queued() < 8 {
				s.request(0, 1, own, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RouteReg(uint16(1 + flood%50)), Value: uint32(1+flood%50) & 7})
				flood++
			}
			for i := 1; i < ports; i++ {
				if s.clock%512 == 32*i {
					check.Fatal(t, s.ends[i].Send(s.packet(1+i, 2+i%(ports-1), 40)))
					sent[i]++
				}
			}
			if s.clock%2048 == 0 {
				s.request(1, 2, own, linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.RouterLost.Reg(2)})
				asked++
			}
			for i, e := range s.ends {
				packet, ok := []byte(nil), false
				if reads || i > 0 {
					packet, ok = e.Receive()
				}
				if !ok {
					continue
				}
				var r linkproto.Route
				check.Fatal(t, r.Decode(packet))
				check.Equal(t, "destination", int(r.Dest), 1+i)
				if r.Src == own {
					answers[i]++
				} else {
					came[r.Src-1]++
				}
			}
		}
	}
	run(40_000, true)
	if answers[0] < 300 || answers[1] < asked-1 || behind() {
		t.Errorf("%d of %d writes and %d of %d reads were answered; %v of %v packets came", answers[0], flood, answers[1], asked, came, sent)
	}
	asked, answers = 0, [ports]int{}
	run(100_000, false)
	if answers[1] == asked {
		t.Error("the host that does not read does not hold up answers")
	}
	if behind() {
		t.Errorf("behind a host that does not read %v of %v packets came", came, sent)
	}
	run(20_000, true)
	asked, answers = 0, [ports]int{}
	run(20_000, true)
	if answers[1] < asked-1 {
		t.Errorf("%d of %d reads were answered when all hosts read again", answers[1], asked)
	}
	if s.get(linkproto.PortCounterReg(0, linkproto.CntLostPackets)) == 0 {
		t.Error("no answer is counted that was dropped")
	}
}

// TestSwitchCounts: on clean cables a switch counts packets of each port, requests and answers at port 0, and nothing else.
func TestSwitchCounts(t *testing.T) {
	s := openSwitch(t, 1)
	for i, e := range s.ends {
		for range i + 1 {
			check.Fatal(t, e.Send(s.packet(1+i, 1+(i+1)%ports, 40)))
		}
	}
	s.drain(2000)
	for port := range ports + 1 {
		for c := range linkproto.Counter(linkproto.NumCounters) {
			have := s.get(linkproto.PortCounterReg(port, c))
			if packets := c == linkproto.CntRxPackets || c == linkproto.CntTxPackets; packets == (have == 0) {
				t.Errorf("%v of port %d is %d", c, port, have)
			}
		}
	}
	for port, e := range s.ends[1:] { // requests go by the first
		check.Equal(t, "packets that came", s.get(linkproto.PortCounterReg(2+port, linkproto.CntRxPackets)), e.Counter(linkproto.CntTxPackets))
		check.Equal(t, "packets that left", s.get(linkproto.PortCounterReg(2+port, linkproto.CntTxPackets)), e.Counter(linkproto.CntRxPackets))
	}
	for _, c := range []linkproto.Counter{linkproto.CntRxPackets, linkproto.CntTxPackets} {
		before := s.get(linkproto.PortCounterReg(0, c))
		check.Equal(t, "one more", s.get(linkproto.PortCounterReg(0, c)), before+1)
	}
}
