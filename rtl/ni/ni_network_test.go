package ni_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// network is a network interface with a router of two links, and the packets that are to come to the node behind each.
type network struct {
	*whole
	want [3][][]byte // by port
	came int
	lost int
	bad  int
}

// The numbers of the nodes at its ports; no port leads to nowhere. Packets wait so many clocks for a host.
const (
	self     = 1
	nowhere  = 77
	patience = 4000
)

func at(port int) uint16 { return [...]uint16{self, 0x120, 0x021}[port] }

// networkParams has a router of two links, and little patience.
func networkParams(width int) rtl.Params {
	return rtl.Params{Router: 2, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, Patience: patience, Width: width}
}

func openNetwork(t *testing.T, p rtl.Params) *network {
	n := &network{whole: openWhole(t, p)}
	for f := range n.Params.Frames {
		n.must(n.WriteRegister(0, linkproto.FrameReg(f), linkproto.FrameValid.In(1)|linkproto.FrameLink.In(1)))
	}
	for port := 1; port <= p.Cables(); port++ {
		if p.Router > 0 {
			n.must(n.WriteRegister(0, linkproto.RouteReg(at(port)), linkproto.RoutePort.In(uint32(port))))
		}
		n.must(n.Until(20_000, "a link", func() bool { return n.peer(port).Link.Status().Up }))
	}
	return n
}

// host has the host send a packet by link 1, when it may.
func (n *network) host(packet []byte) {
	n.t.Helper()
	h := n.Nodes[0].Host
	packet[0] |= 1 << linkproto.TypeBits
	n.must(n.Until(20_000, "room for a packet of the host", func() bool {
		return h.Credit(1).HasRoom(len(packet)) && !errors.Is(h.SendRaw(packet), ni.ErrBusy)
	}))
	h.Credit(1).Sent(len(packet))
}

// packet is a ROUTE between two ports, and what of it a router leaves as it is.
func (n *network) packet(from, to int) (packet, inside []byte) {
	inside = aPacket(n.rng, 60)
	if to == 0 {
		page := n.Params.PageBytes
		p := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(page*from + n.rng.IntN(page-60)), Data: n.rng.Bytes(n.rng.Between(1, 60))}
		inside = check.Must(p.Append(nil))(n.t)
		copy(n.image[p.Addr:], p.Data)
	}
	r := linkproto.Route{Dest: at(to), Src: at(from), Hops: uint8(n.rng.Between(1, 63)), State: linkproto.RouteDatagram, Packet: inside}
	return check.Must(r.Append(nil))(n.t), inside
}

func (n *network) receive() {
	for port := 1; port <= n.Params.Router; port++ {
		for packet, ok := n.peer(port).Link.Receive(); ok; packet, ok = n.peer(port).Link.Receive() {
			var r linkproto.Route
			n.must(r.Decode(packet))
			i := slices.IndexFunc(n.want[port], func(w []byte) bool { return bytes.Equal(w, r.Packet) })
			if i < 0 {
				n.t.Fatalf("port %d got % x, which nobody sent to it", port, packet)
			}
			n.want[port] = slices.Delete(n.want[port], i, i+1)
			n.came++
		}
	}
}

// TestNetwork: with a router, all that is for others passes, from the host and from link to link, and what is for this node is carried out. What the
// host may not send is dropped and counted, and takes no room for ever. Link 1 and the router's registers say so.
func TestNetwork(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		n := openNetwork(t, networkParams(width))
		for range 400 {
			from, to := n.rng.IntN(3), n.rng.IntN(3)
			packet, inside := n.packet(from, to)
			if from > 0 {
				if to != from && n.peer(from).Link.Send(packet) == nil {
					if to > 0 {
						n.want[to] = append(n.want[to], inside)
					}
				} else if to == 0 {
					t.Fatal("no room for a write")
				}
			} else if to > 0 {
				n.want[to] = append(n.want[to], inside)
				n.host(packet)
			}
			if from == 0 && to == 0 {
				n.host(packet) // by the router, to itself
			}
			switch n.rng.IntN(20) {
			case 0: // no ROUTE
				n.host(aPacket(n.rng, 60))
				n.bad++
			case 1: // in another node's name
				lie, _ := n.packet(1, 2)
				n.host(lie)
				n.bad++
			case 2:
				r := linkproto.Route{Dest: nowhere, Src: self, Hops: 1, State: linkproto.RouteDatagram, Packet: inside}
				n.host(check.Must(r.Append(nil))(t))
				n.lost++
			}
			n.must(n.Run(100))
			n.receive()
		}
		n.must(n.Run(3000))
		n.receive()
		for port, want := range n.want {
			if len(want) > 0 {
				t.Errorf("%d packets did not come out of port %d", len(want), port)
			}
		}
		n.checkBuffer()
		check.Equal(t, "bytes in the host's queue", n.Nodes[0].Host.Credit(1).Outstanding(), 0)
		check.Equal(t, "bad packets", n.register(linkproto.RouterBad.Reg(0)), uint32(n.bad))
		check.Equal(t, "packets without a way", n.register(linkproto.RouterLost.Reg(0)), uint32(n.lost))
		if n.came < 100 || n.bad < 20 || n.lost < 5 {
			t.Errorf("%d packets came, %d were bad, %d lost: too few", n.came, n.bad, n.lost)
		}
		status := n.register(linkproto.LinkStatusReg(1))
		if linkproto.StatusUp.Of(status) == 0 || linkproto.StatusQueued.Of(status) != 0 || linkproto.StatusOwnStop.Of(status) != 0 {
			t.Errorf("status of the network %#x, want UP", status)
		}
		counters := n.counters(1)
		if counters[linkproto.CntTxPackets] != uint32(n.Nodes[0].Host.Credit(1).SentPackets) || counters[linkproto.CntRxPackets] == 0 {
			t.Errorf("counters of the network %d, want %d packets sent", counters, n.Nodes[0].Host.Credit(1).SentPackets)
		}
		for port := 1; port <= 2; port++ {
			peer := n.register(linkproto.PortPeerReg(port))
			if linkproto.PeerKnown.Of(peer) == 0 || linkproto.PeerNode.Of(peer) != uint32(n.peer(port).Link.Config().Node) {
				t.Errorf("peer of port %d: %#x", port, peer)
			}
		}
		features := n.register(linkproto.RegFeatures)
		if linkproto.FeatureRouter.Of(features) == 0 || linkproto.FeatureRoutes.Of(features) == 0 {
			t.Errorf("features %#x, want ROUTES and ROUTER", features)
		}
		for i := range 10 { // the other registers answer through the router's
			v := []uint32{0, 1<<32 - 1, n.rng.Uint32()}[min(i, 2)]
			n.must(n.WriteRegister(0, linkproto.RegScratch, v))
			check.Equal(t, "SCRATCH", n.register(linkproto.RegScratch), v)
		}
	})
}

// TestNetworkFull: while the host does not go on behind a trap, the network says OWN_STOP once its queue is full; packets that others send to this node
// wait, and after PATIENCE clocks are dropped and counted.
func TestNetworkFull(t *testing.T) {
	n := openNetwork(t, networkParams(1))
	trap := linkproto.Packet{Type: linkproto.TypePage, Port: 1}
	r := linkproto.Route{Dest: self, Src: at(1), Hops: 1, State: linkproto.RouteDatagram, Packet: check.Must(trap.Append(nil))(t)}
	n.must(n.peer(1).Link.Send(check.Must(r.Append(nil))(t)))
	n.must(n.Run(200))
	full := func() bool { return linkproto.StatusOwnStop.Of(n.register(linkproto.LinkStatusReg(1))) != 0 }
	for !full() {
		packet, _ := n.packet(1, 0)
		n.must(n.peer(1).Link.Send(packet))
		n.must(n.Run(100))
	}
	before := slices.Clone(n.image)
	packet, _ := n.packet(2, 0)
	n.must(n.peer(2).Link.Send(packet))
	n.image = before
	n.must(n.Run(patience / 2))
	check.Equal(t, "packets dropped early", n.register(linkproto.RouterLate.Reg(0)), 0)
	n.must(n.Run(patience))
	check.Equal(t, "packets dropped", n.register(linkproto.RouterLate.Reg(0)), 1)
	n.must(n.WriteRegister(0, linkproto.RegScratch, 1)) // requests go on
	check.Equal(t, "answer to RESUME", n.ask(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}).Status, linkproto.StatusOK)
	n.must(n.Run(3000))
	if full() {
		t.Error("the queue is still full")
	}
	n.checkBuffer()
}

// lag is how many clocks after the first symbol of a frame at the host's port that of the frame at the first link comes out.
func lag(t *testing.T, p rtl.Params) uint64 {
	n := openNetwork(t, p)
	var in, out uint64
	tap := func(first *uint64, want bool) func(bool, uint64, linkproto.Symbol) {
		return func(toNI bool, clock uint64, s linkproto.Symbol) {
			if toNI == want && s == linkproto.SymSOP && *first == 0 {
				*first = clock
			}
		}
	}
	n.must(n.Run(2000))
	n.Nodes[0].Host.Tap, n.peer(1).Tap = tap(&in, true), tap(&out, false)
	r := linkproto.Route{Dest: at(1), Src: self, Hops: 1, State: linkproto.RouteDatagram, Packet: testbench.NewRand(1).Bytes(100)}
	n.host(check.Must(r.Append(nil))(t))
	n.must(n.Run(1000))
	if in == 0 || out < in {
		t.Fatalf("frames begin at clocks %d and %d", in, out)
	}
	return out - in
}

// TestNetworkLag: the host's packets leave the network interface while they come, and the router costs them few clocks.
func TestNetworkLag(t *testing.T) {
	direct, routed := lag(t, rtl.Params{Routes: true}), lag(t, networkParams(1))
	t.Logf("%d clocks without a router, %d with one", direct, routed)
	if routed > direct+8 {
		t.Errorf("%d clocks from the host's frame to the link's, and %d without a router", routed, direct)
	}
}
