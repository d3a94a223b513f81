package ni_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// TestNetworkRefuses: a host that sends more by a router than SPACE allows is refused: the packet is dropped and counted, and so is each behind it until
// the host clears LOST, though there is room again. Then all goes on, and nothing takes room for ever.
func TestNetworkRefuses(t *testing.T) {
	n := openNetwork(t, networkParams(1))
	host := n.Nodes[0].Host
	refusals := func() int { return int(n.counters(1)[linkproto.CntNoSpace]) }
	sends := func() bool { // without a look at its credit
		packet, inside := n.packet(0, 1)
		packet[0] |= 1 << linkproto.TypeBits
		before := refusals()
		n.must(n.Until(20_000, "the host's cable", func() bool { return host.SendRaw(packet) == nil }))
		host.Credit(1).Sent(len(packet))
		n.must(n.Run(600))
		if refusals() > before {
			return false
		}
		n.want[1] = append(n.want[1], inside)
		return true
	}
	for sends() { // the peer takes none
		if len(n.want[1]) > 300 {
			t.Fatal("no packet of the host is refused")
		}
	}
	status := n.register(linkproto.LinkStatusReg(1))
	check.Equal(t, "LOST and QUEUED", [2]uint32{linkproto.StatusLost.Of(status), linkproto.StatusQueued.Of(status)}, [2]uint32{1, 1})
	for range 200 {
		n.receive()
		n.must(n.Run(100))
	}
	check.Equal(t, "packets that have not come", len(n.want[1]), 0)
	check.Equal(t, "a packet is sent while LOST is set", sends(), false)
	check.Equal(t, "refusals", refusals(), 2)
	n.must(n.WriteRegister(0, linkproto.LinkStatusReg(1), linkproto.StatusLost.In(1)))
	check.Equal(t, "LOST behind its write", linkproto.StatusLost.Of(n.register(linkproto.LinkStatusReg(1))), 0)
	for range 20 {
		check.Equal(t, "a packet is sent", sends(), true)
		n.receive()
	}
	n.must(n.Run(2000))
	n.receive()
	check.Equal(t, "packets that have not come in the end", len(n.want[1]), 0)
	check.Equal(t, "bytes in the host's queue", host.Credit(1).Outstanding(), 0)
}

// TestNetworkDamagedHost: packets of a host whose cable damages many reach the router's peer once and in order, what was shown of damaged ones
// is taken back.
func TestNetworkDamagedHost(t *testing.T) {
	for _, virtual := range []int{0, 3} { // which of the two the host's packets come by
		t.Run(fmt.Sprint("virtual ", virtual), func(t *testing.T) {
			p := networkParams(1)
			p.Virtual = virtual
			n := openNetwork(t, p)
			host := n.Nodes[0].Host
			host.Port.Mangle = func(line []linkproto.Symbol) []linkproto.Symbol {
				for i, s := range line {
					if s != linkproto.SymIdle && n.rng.Chance(0.005) {
						line[i] = testbench.Pick(n.rng, linkproto.SymErr, linkproto.SymIdle, s&0xFF^1)
					}
				}
				return line
			}
			receive := func() {
				for raw, ok := n.peer(1).Link.Receive(); ok; raw, ok = n.peer(1).Link.Receive() {
					var r linkproto.Route
					n.must(r.Decode(raw))
					if len(n.want[1]) == 0 || !bytes.Equal(r.Packet, n.want[1][0]) {
						t.Fatalf("% x comes, %d packets are due", raw, len(n.want[1]))
					}
					n.want[1] = n.want[1][1:]
				}
			}
			for range 300 {
				packet, inside := n.packet(0, 1)
				n.host(packet)
				n.want[1] = append(n.want[1], inside)
				n.must(n.Run(50))
				receive()
			}
			host.Port.Mangle = nil
			n.must(n.Run(20_000))
			receive()
			check.Equal(t, "packets that have not come", len(n.want[1]), 0)
			check.Equal(t, "bytes in the host's queue", host.Credit(1).Outstanding(), 0)
			if damaged := n.counters(0)[linkproto.CntRxCRC]; damaged < 50 {
				t.Errorf("%d frames were damaged", damaged)
			}
		})
	}
}
