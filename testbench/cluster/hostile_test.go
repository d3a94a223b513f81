package cluster_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// A network interface that carries out virtual links with an honest node and with one that lies.
const (
	honestVL, liarVL = 2, 3 // their numbers there
	closedVL         = 5
	victimFrame      = 1 // of its buffer, which the honest node may write
)

// hostile is the network of a victim, an honest node and a liar, whose host says what it wants in ROUTEs that it makes itself.
type hostile struct {
	*cluster.Cluster
	t                    *testing.T
	victim, honest, liar *cluster.NI
	key                  linkproto.Key // of what the liar says
	seq                  uint32        // its next packet
	came                 [][2]int      // virtual link and tag of MESSAGEs that came to the victim's host
	routes               int           // that came to it whole
	told                 map[int]uint8 // MESSAGEs freed, by virtual link
}

func openHostile(t *testing.T, rung string) *hostile {
	top := check.Must(topology.Generate("star", []int{3}, 1))(t)
	for i, node := range top.Nodes {
		if node.Name == "n2" {
			top.Nodes[i].Rung = cluster.Model
		}
	}
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: rung, Seed: testbench.TestSeed(t), Virtual: 3, InSoftware: []string{"n2"}}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	h := &hostile{Cluster: c, t: t, victim: c.NIs[0], honest: c.NIs[1], liar: c.NIs[2], told: map[int]uint8{}}
	open := func(at *cluster.NI, vl int, peer *cluster.NI, number int, to, from linkproto.Life) {
		set(t, c, at, linkproto.VLRegPeer.Reg(vl), uint32(id(c, peer)))
		set(t, c, at, linkproto.VLRegNumber.Reg(vl), uint32(number))
		set(t, c, at, linkproto.VLRegKey.Reg(vl), uint32(linkproto.KeyOf(to, from)))
		set(t, c, at, linkproto.VLRegStatus.Reg(vl), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
	}
	open(h.victim, honestVL, h.honest, 1, 0x1234, 0x5678)
	open(h.honest, 1, h.victim, honestVL, 0x5678, 0x1234)
	open(h.victim, liarVL, h.liar, 77, 0x2222, 0x3333)
	h.key = linkproto.KeyOf(0x3333, 0x2222)
	set(t, c, h.victim, linkproto.FrameReg(victimFrame), linkproto.FrameValid.In(1)|linkproto.FrameVL.In(honestVL))
	h.honest.Received = func(linkproto.Packet) {}
	h.victim.Routed = func(linkproto.Route, []byte) { h.routes++ }
	h.victim.Received = func(p linkproto.Packet) {
		var q linkproto.Packet
		if p.Type == linkproto.TypeVirtual && q.Decode(p.Data) == nil && q.Type != linkproto.TypeSpace {
			h.came = append(h.came, [2]int{int(p.VL), int(q.MsgTag)})
		}
	}
	return h
}

// pass lets time pass.
func (h *hostile) pass() {
	h.t.Helper()
	check.Fatal(h.t, h.Run(4000))
}

// free says that a MESSAGE of a virtual link is gone.
func (h *hostile) free(vl int) {
	h.t.Helper()
	h.told[vl]++
	space := check.Must((&linkproto.Packet{Type: linkproto.TypeSpace, Packets: h.told[vl]}).Append(nil))(h.t)
	h.virtual(h.victim, vl, space)
}

func (h *hostile) virtual(at *cluster.NI, vl int, packet []byte) {
	h.t.Helper()
	w := way{from: at, vl: vl}
	check.Fatal(h.t, h.Until(10_000, "room", func() bool { return w.virtual(h.t, packet) }))
}

// packet is a MESSAGE with a tag.
func (h *hostile) packet(tag int) []byte {
	return check.Must((&linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(tag), Rest: 2, Data: []byte("ab")}).Append(nil))(h.t)
}

// says is the liar's next ROUTE, as an honest node would make it.
func (h *hostile) says(tag int) linkproto.Route {
	return linkproto.Route{
		Via: 1, Dest: id(h.Cluster, h.victim), Src: id(h.Cluster, h.liar), Hops: linkproto.MaxHops, VL: liarVL,
		State: linkproto.VLState{Kind: linkproto.KindAck, Packet: true}.Byte(), Seq: uint8(h.seq), Packet: h.packet(tag),
	}
}

func (h *hostile) send(r linkproto.Route, key linkproto.Key) {
	h.t.Helper()
	raw := check.Must(r.Seal(nil, key))(h.t)
	h.liar.Credit(1).Sent(len(raw))
	check.Fatal(h.t, h.liar.SendRaw(raw))
	h.pass()
}

// goesOn has the liar and the honest node each send what is right, and wants it.
func (h *hostile) goesOn(what string) {
	h.t.Helper()
	h.came = nil
	h.send(h.says(int(h.seq)), h.key.At(h.seq, 0))
	h.virtual(h.honest, 1, h.packet(99))
	h.pass()
	check.Equal(h.t, what+": what came then", h.came, [][2]int{{liarVL, int(h.seq)}, {honestVL, 99}})
	h.free(liarVL)
	h.free(honestVL)
	h.seq++
}

// lieCounts are what the victim counts of a lie: ROUTEs dropped by virtual link, bad packets, writes denied, and ROUTEs that are the host's.
type lieCounts struct {
	Liar, Honest, Bad, Denied, Whole int
}

func (h *hostile) counts() lieCounts {
	dropped := func(vl int) int {
		return int(linkproto.VLCountsDropped.Of(read(h.t, h.Cluster, h.victim, linkproto.VLRegCounts.Reg(vl))))
	}
	count := func(n linkproto.Counter) int {
		return int(read(h.t, h.Cluster, h.victim, linkproto.CounterReg(1, n)))
	}
	return lieCounts{dropped(liarVL), dropped(honestVL), count(linkproto.CntBadPacket), count(linkproto.CntDenied), h.routes}
}

// TestHostilePeer: what a peer lies about is dropped, or refused for it alone, and counted; nothing is delivered to anybody else, and both virtual links go on.
func TestHostilePeer(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL} {
		t.Run(rung, func(t *testing.T) { testHostilePeer(t, rung) })
	}
}

func testHostilePeer(t *testing.T, rung string) {
	h := openHostile(t, rung)
	page := h.victim.Params.PageBytes
	inner := func(p linkproto.Packet) []byte { return check.Must(p.Append(nil))(t) }
	type said = linkproto.Route
	bare := func(r *said, kind linkproto.Kind) {
		r.State, r.Seq, r.Packet = linkproto.VLState{Kind: kind}.Byte(), 0, nil
	}
	h.goesOn("before any lie")
	frame := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(victimFrame * page), Count: 1}
	was := bytes.Clone(check.Must(h.Ask(h.victim, frame))(t).Data)
	for _, c := range []struct {
		what  string
		lie   func(r *said, key *linkproto.Key)
		taken int // packets of the liar's
		want  lieCounts
	}{
		{"a wrong key", func(_ *said, key *linkproto.Key) { *key ^= 1 }, 0, lieCounts{Liar: 1}},
		{"the key of another life", func(_ *said, key *linkproto.Key) { *key = linkproto.KeyOf(0x3333, 0x2221).At(h.seq, 0) }, 0, lieCounts{Liar: 1}},
		{"a number 256 later", func(_ *said, key *linkproto.Key) { *key = h.key.At(h.seq+256, 0) }, 0, lieCounts{Liar: 1}},
		{"a packet once more", func(r *said, key *linkproto.Key) { r.Seq-- }, 0, lieCounts{Liar: 1}},
		{"a packet too early", func(r *said, key *linkproto.Key) { r.Seq++ }, 0, lieCounts{Liar: 1}},
		{"an ACK of what was not sent", func(r *said, _ *linkproto.Key) { bare(r, linkproto.KindAck); r.Next = 5 }, 0, lieCounts{Liar: 1}},
		{"a LOST of what was not sent", func(r *said, _ *linkproto.Key) { bare(r, linkproto.KindLost); r.Next = 5 }, 0, lieCounts{Liar: 1}},
		{"a packet that is said to be none", func(r *said, _ *linkproto.Key) { r.State = linkproto.VLState{Kind: linkproto.KindAck}.Byte() }, 0, lieCounts{Liar: 1}},
		{"the number of no packet", func(r *said, _ *linkproto.Key) { bare(r, linkproto.KindAck); r.Seq = 9 }, 0, lieCounts{Liar: 1}},
		{"a state that there is not", func(r *said, _ *linkproto.Key) { r.State |= 2 }, 0, lieCounts{Liar: 1}},
		{"another source", func(r *said, _ *linkproto.Key) { r.Src = id(h.Cluster, h.honest) }, 0, lieCounts{Liar: 1}},
		{"another's virtual link", func(r *said, _ *linkproto.Key) { r.VL = honestVL }, 0, lieCounts{Honest: 1}},
		{"another's virtual link and source", func(r *said, _ *linkproto.Key) { r.VL, r.Src = honestVL, id(h.Cluster, h.honest) }, 0, lieCounts{Honest: 1}},
		{"a virtual link that is closed", func(r *said, _ *linkproto.Key) { r.VL = closedVL }, 0, lieCounts{}},
		{"a virtual link of the host's", func(r *said, _ *linkproto.Key) { r.VL = 9 }, 0, lieCounts{Whole: 1}},
		{"a WRITE into another's frame", func(r *said, _ *linkproto.Key) {
			r.Packet = inner(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(victimFrame * page), Data: []byte{0x5A}})
		}, 1, lieCounts{Denied: 1}},
		{"the same in a datagram", func(r *said, key *linkproto.Key) {
			r.Packet = inner(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(victimFrame * page), Data: []byte{0x5A}})
			r.State, r.Seq, r.VL, *key = linkproto.RouteDatagram, 0, 0, 0
		}, 0, lieCounts{Denied: 1}},
		{"a packet of another length than it says", func(r *said, _ *linkproto.Key) { r.Packet = append(r.Packet, 0) }, 1, lieCounts{Liar: 1}},
		{"a MESSAGE cut off", func(r *said, _ *linkproto.Key) { r.Packet = []byte{byte(linkproto.TypeMessage), 2, 0, 1, 2} }, 1, lieCounts{Bad: 1}},
		{"a PAGE for no frame", func(r *said, _ *linkproto.Key) {
			r.Packet = inner(linkproto.Packet{Type: linkproto.TypePage, Frame: 60000, Port: 1})
		}, 1, lieCounts{Bad: 1}},
		{"a request", func(r *said, _ *linkproto.Key) {
			r.Packet = inner(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNodeID, Value: 7})
		}, 1, lieCounts{Bad: 1}},
		{"a packet with via", func(r *said, _ *linkproto.Key) { r.Packet[0] |= 1 << linkproto.TypeBits }, 1, lieCounts{Bad: 1}},
	} {
		before, expect := h.counts(), read(t, h.Cluster, h.victim, linkproto.VLRegExpect.Reg(liarVL))
		h.came = nil
		r, key := h.says(1000), h.key.At(h.seq, 0)
		c.lie(&r, &key)
		h.send(r, key)
		check.Equal(t, c.what+": what came", len(h.came), 0)
		taken := int(read(t, h.Cluster, h.victim, linkproto.VLRegExpect.Reg(liarVL)) - expect)
		check.Equal(t, c.what+": packets taken", taken, c.taken)
		now := h.counts()
		check.Equal(t, c.what+": counted", lieCounts{now.Liar - before.Liar, now.Honest - before.Honest, now.Bad - before.Bad, now.Denied - before.Denied, now.Whole - before.Whole}, c.want)
		h.seq += uint32(taken)
		h.goesOn(c.what)
	}
	check.Equal(t, "number of the node", read(t, h.Cluster, h.victim, linkproto.RegNodeID), uint32(id(h.Cluster, h.victim)))
	check.Equal(t, "byte of the honest node's frame", check.Must(h.Ask(h.victim, frame))(t).Data, was)

	// More than a window, which nobody frees.
	window := int(read(t, h.Cluster, h.victim, linkproto.RegVLWindow))
	h.came = nil
	first := h.seq
	for range 3 * window {
		h.send(h.says(int(h.seq)), h.key.At(h.seq, 0))
		h.seq++
	}
	check.Equal(t, "messages that nobody frees", len(h.came), window)
	check.Equal(t, "OWN_STOP", linkproto.StatusOwnStop.Of(read(t, h.Cluster, h.victim, linkproto.VLRegStatus.Reg(liarVL))), 1)
	h.virtual(h.honest, 1, h.packet(99))
	h.pass()
	check.Equal(t, "the honest node's message meanwhile", h.came[window:], [][2]int{{honestVL, 99}})
	h.free(honestVL)
	for range window {
		h.free(liarVL)
	}
	h.seq = first + uint32(window)
	h.goesOn("behind all that")
}
