package hostdrv_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// Nodes of a network that an NI without virtual links is in front of, whose driver carries them out.
const liedTo, honestNode, liarNode = 7, 5, 6

// lied is that network: an honest node, and one whose ROUTEs say anything.
type lied struct {
	*fake
	ends  map[uint16]*flowctl.VirtualLink
	ready [][]byte // ROUTEs for the host that have found no room yet
}

// Turn is for lockstep.New.
func (l *lied) Turn(n int, lines []lockstep.Line) (int, error) {
	for _, node := range []uint16{honestNode, liarNode} {
		end := l.ends[node]
		end.Tick(n)
		for route, ok := end.Emit(nil); ok; route, ok = end.Emit(nil) {
			l.ready = append(l.ready, route)
		}
	}
	for len(l.ready) > 0 && l.link.Send(l.ready[0]) == nil {
		l.ready = l.ready[1:]
	}
	return l.fake.Turn(n, lines)
}

func openLied(t *testing.T) (l *lied, n *hostdrv.NI, c *message.Context) {
	l = &lied{fake: network5(t, nil), ends: map[uint16]*flowctl.VirtualLink{}}
	packets, bytes := uint8(0), uint16(0)
	l.routed = func(f *fake, r linkproto.Route) {
		packets, bytes = packets+1, bytes+uint16(len(f.bytes))
		f.send(linkproto.Packet{Type: linkproto.TypeSpace, Via: 1, Packets: packets, Bytes: bytes})
		if end := l.ends[r.Dest]; end != nil {
			end.Feed(&r, f.bytes)
		}
	}
	for node, life := range map[uint16]linkproto.Life{honestNode: 0x5555, liarNode: 0x6666} {
		l.ends[node] = check.Must(flowctl.NewVirtual(flowctl.VirtualConfig{
			Node: node, Peer: liedTo, Number: node, Channel: 257, Via: 1, MaxPacket: linkproto.MaxPacket(128), NewLife: func() linkproto.Life { life++; return life },
		}))(t)
	}
	n = check.Must(hostdrv.New(t.Context(), check.Must(lockstep.New(l, 1, 64, 64, 1e6).Sole())(t), hostdrv.Options{}))(t)
	t.Cleanup(func() { check.Error(t, n.Close()) })
	node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
	return l, n, check.Must(message.Open(t.Context(), node, 1, message.Options{Seed: 1}))(t)
}

// said is a MESSAGE of one packet.
func said(t *testing.T, tag int) []byte {
	return check.Must((&linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(tag), Rest: 2, Data: []byte("ab")}).Append(nil))(t)
}

// TestLyingPeer: what a peer lies about to a driver that carries virtual links out changes nothing: nothing of it is delivered, and messages from and to both nodes come
// afterwards, each once.
func TestLyingPeer(t *testing.T) {
	l, n, c := openLied(t)
	tag := 0
	exchange := func(what string) { // of both nodes, which are right
		t.Helper()
		for range 2 {
			check.Fatal(t, c.PostReceive(message.Receive{Data: make([]byte, 100)}))
		}
		tag++
		came := map[uint16]uint32{}
		check.Fatal(t, l.ends[honestNode].Send(said(t, tag)))
		check.Fatal(t, l.ends[liarNode].Send(said(t, tag)))
		for _, node := range []uint16{honestNode, liarNode} {
			check.Fatal(t, c.PostSend(message.Send{Node: node, Tag: uint32(tag)}))
		}
		for range 4 {
			ctx, cancel := n.WithTimeout(t.Context(), time.Second)
			done, err := c.Wait(ctx)
			if cancel(); err != nil || done.Err != nil || done.Received && string(done.Data) != "ab" {
				t.Fatalf("%s: %+v, %v", what, done, err)
			}
			if done.Received {
				came[done.Node] = done.Tag
			}
		}
		check.Equal(t, what+": what came", came, map[uint16]uint32{honestNode: uint32(tag), liarNode: uint32(tag)})
		for node, end := range l.ends { // which have acknowledged it
			var p linkproto.Packet
			raw, ok := end.Receive()
			if !ok || p.Decode(raw) != nil || p.MsgTag != uint32(tag) {
				t.Fatalf("%s: % x came to node %d, want a message %d", what, raw, node, tag)
			}
			if raw, ok = end.Receive(); ok {
				t.Fatalf("%s: % x came to node %d besides", what, raw, node)
			}
		}
	}
	exchange("before any lie")
	own, its := l.ends[liarNode].Status().Life, l.ends[liarNode].Status().Peer
	key := linkproto.KeyOf(its.Life, own)
	type route = linkproto.Route
	bare := func(r *route, kind linkproto.Kind) {
		r.State, r.Seq, r.Packet = linkproto.VLState{Kind: kind}.Byte(), 0, nil
	}
	for _, lie := range []struct {
		what string
		tell func(r *route, key *linkproto.Key)
	}{
		{"a wrong key", func(_ *route, key *linkproto.Key) { *key ^= 1 }},
		{"the life of before", func(_ *route, key *linkproto.Key) { *key = linkproto.KeyOf(its.Life-1, own).At(uint32(tag), 0) }},
		{"a packet once more", func(r *route, key *linkproto.Key) {
			r.Seq--
			*key = linkproto.KeyOf(its.Life, own).At(uint32(tag)-1, 0)
		}},
		{"a packet too early", func(r *route, key *linkproto.Key) {
			r.Seq++
			*key = linkproto.KeyOf(its.Life, own).At(uint32(tag)+1, 0)
		}},
		{"an ACK of what was not sent", func(r *route, _ *linkproto.Key) { bare(r, linkproto.KindAck); r.Next = uint8(tag + 5) }},
		{"a LOST of what was not sent", func(r *route, _ *linkproto.Key) { bare(r, linkproto.KindLost); r.Next = uint8(tag + 5) }},
		{"the number of no packet", func(r *route, _ *linkproto.Key) { bare(r, linkproto.KindAck); r.Seq = 9 }},
		{"a packet that is said to be none", func(r *route, _ *linkproto.Key) { r.State = linkproto.VLState{Kind: linkproto.KindAck}.Byte() }},
		{"a state that there is not", func(r *route, _ *linkproto.Key) { r.State |= 2 }},
		{"another source", func(r *route, _ *linkproto.Key) { r.Src = honestNode }},
		{"the honest node's virtual link", func(r *route, _ *linkproto.Key) { r.VL = l.ends[honestNode].Status().Peer.Number }},
		{"its virtual link and its name", func(r *route, _ *linkproto.Key) { r.VL, r.Src = l.ends[honestNode].Status().Peer.Number, honestNode }},
		{"a virtual link that there is not", func(r *route, _ *linkproto.Key) { r.VL = 60000 }},
		{"number 0", func(r *route, _ *linkproto.Key) { r.VL = 0 }},
		{"an INIT that is short", func(r *route, key *linkproto.Key) {
			*r = route{Via: 1, Dest: liedTo, Src: liarNode, Hops: linkproto.MaxHops, State: linkproto.VLState{Kind: linkproto.KindInit}.Byte(), Next: linkproto.Version, Packet: []byte{1, 2, 3}}
			*key = 0
		}},
		{"an INIT of life 0", func(r *route, key *linkproto.Key) {
			*r = route{Via: 1, Dest: liedTo, Src: liarNode, Hops: linkproto.MaxHops, State: linkproto.VLState{Kind: linkproto.KindInit}.Byte(), Next: linkproto.Version,
				Packet: linkproto.VLInit{Page: 1, Channel: 257}.Append(nil)}
			*key = 0
		}},
	} {
		r := route{
			Via: 1, Dest: liedTo, Src: liarNode, Hops: linkproto.MaxHops, VL: its.Number,
			State: linkproto.VLState{Kind: linkproto.KindAck, Packet: true}.Byte(), Seq: uint8(tag), Packet: said(t, 999),
		}
		k := key.At(uint32(tag), 0)
		lie.tell(&r, &k)
		l.ready = append(l.ready, check.Must(r.Seal(nil, k))(t))
		exchange(lie.what)
	}
	check.Equal(t, "counts", check.Must(c.Stats())(t), message.Stats{Sent: uint64(2 * tag), Received: uint64(2 * tag)})

	// Packets that are no MESSAGEs, or of lengths that do not fit: the link takes them, and the context drops and counts them.
	for i, p := range []linkproto.Packet{
		{Type: linkproto.TypeWrite, Addr: 1, Data: []byte{1}}, {Type: linkproto.TypeMessage, MsgTag: 999, Rest: 1, Data: []byte("ab")},
		{Type: linkproto.TypeMessage, MsgTag: 999, Rest: 7}, {Type: linkproto.TypeMessage, MsgTag: 999, Rest: message.MaxMessage + 1, Data: []byte("a")},
	} {
		check.Fatal(t, l.ends[liarNode].Send(check.Must(p.Append(nil))(t)))
		if i > 0 { // which goes on until its end has come
			check.Fatal(t, l.ends[liarNode].Send(check.Must((&linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: 999, Rest: 1, Data: []byte("a")}).Append(nil))(t)))
		}
		exchange(fmt.Sprint("a wrong packet ", i))
	}
	check.Equal(t, "counts", check.Must(c.Stats())(t), message.Stats{Sent: uint64(2 * tag), Received: uint64(2 * tag), Malformed: 3, TooLong: 1})

	// One that says that it is another length than it is.
	seq := uint32(l.ends[liarNode].Counter(linkproto.CntTxPackets))
	r := route{
		Via: 1, Dest: liedTo, Src: liarNode, Hops: linkproto.MaxHops, VL: its.Number, State: linkproto.VLState{Kind: linkproto.KindAck, Packet: true}.Byte(), Seq: uint8(seq),
		Packet: append(said(t, 999), 0),
	}
	l.ready = append(l.ready, check.Must(r.Seal(nil, key.At(seq, 0)))(t))
	check.Fatal(t, n.Sleep(t.Context(), time.Millisecond))
	l.ends[liarNode].Restart()
	check.Fatal(t, n.Sleep(t.Context(), time.Millisecond)) // what is sent before the driver hears of it is lost
	exchange("behind a packet of another length than it says")
}
