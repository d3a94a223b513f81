package hostdrv_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// kernels is an NI, node 7, in front of a network; what a program sends there is kept, and answered by packets.
func kernels(t *testing.T, answers ...linkproto.Packet) (node *hostdrv.Node, sent *[]linkproto.Packet) {
	f, sent := network5(t, nil), new([]linkproto.Packet)
	f.routed = func(f *fake, r linkproto.Route) {
		var p linkproto.Packet
		check.Error(t, p.Decode(r.Packet))
		p.Data = append([]byte(nil), p.Data...)
		*sent = append(*sent, p)
		f.send(linkproto.Packet{Type: linkproto.TypeSpace, Via: 1, Packets: uint8(len(*sent)), Bytes: uint16(len(*sent) * (len(r.Packet) + linkproto.RouteExtra))})
		for _, a := range answers {
			raw := check.Must(a.Append(nil))(t)
			if a.Port != 0 { // so long only
				raw = raw[:a.Port]
				raw[1] = byte(a.Port - linkproto.HeaderBytes)
			}
			route := linkproto.Route{Via: 1, Dest: 7, Src: r.Dest, State: linkproto.RouteDatagram, Packet: raw}
			f.raw(check.Must(route.Append(nil))(t))
		}
	}
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	return check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t), sent
}

// TestDatagrams sends frames and gets some. Those that are wrong are dropped, and counted, and so are those that nobody takes.
func TestDatagrams(t *testing.T) {
	const ip = 0x0800
	frame := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: ip, Rest: 3, Data: []byte("abc")}
	part, tagged, short := frame, frame, frame
	part.Rest, tagged.MsgTag, short.Port = 4, 1<<16, linkproto.HeaderBytes+4
	node, sent := kernels(t, part, tagged, short, frame)
	ctx := t.Context()
	d := check.Must(node.Datagrams(ctx, 1))(t)
	check.Fails(t, "another program", check.Err(node.Datagrams(ctx, 1)), hostdrv.ErrLimit, "lmmc ip up")
	check.Fails(t, "another link", check.Err(node.Datagrams(ctx, 3)), hostdrv.ErrRange)
	exchange := func() { // the answer comes behind the frames
		t.Helper()
		check.Fatal(t, d.Send(ctx, hostdrv.Datagram{Node: 5, EtherType: 0x86DD, Data: []byte("hello")}))
		check.Must(node.ReadRegister(ctx, linkproto.RegScratch))(t)
	}
	exchange()
	check.Equal(t, "sent", fmt.Sprint(*sent), fmt.Sprint([]linkproto.Packet{{Type: linkproto.TypeMessage, MsgTag: 0x86DD, Rest: 5, Data: []byte("hello")}}))
	check.Equal(t, "came", check.Must(d.Next(ctx))(t), hostdrv.Datagram{Node: 5, EtherType: ip, Data: []byte("abc")})
	counts := func(datagrams, undelivered uint64) {
		t.Helper()
		s := node.Stats()
		check.Equal(t, "given to the program, and dropped", [2]uint64{s.Datagrams, s.Undelivered}, [2]uint64{datagrams, undelivered})
	}
	counts(1, 3)
	for range 300 {
		exchange()
	}
	counts(1+256, 3+3*300+300-256) // of what is right as many as may wait

	check.Equal(t, "most bytes", node.MaxDatagram(), linkproto.MaxPacket(128)-11)
	long := make([]byte, node.MaxDatagram()+1)
	check.Fails(t, "too long", d.Send(ctx, hostdrv.Datagram{Node: 5, Data: long}), hostdrv.ErrRange, "at most")
	check.Fails(t, "to nobody", d.Send(ctx, hostdrv.Datagram{Node: 0}), hostdrv.ErrRange)
	check.Fails(t, "to no node", d.Send(ctx, hostdrv.Datagram{Node: linkproto.MulticastBase - 1}), hostdrv.ErrRange)
	check.Fatal(t, d.Close())
	check.Fatal(t, d.Close())
	check.Fails(t, "closed", d.Send(ctx, hostdrv.Datagram{Node: 5}), hostdrv.ErrClosed)
	d = check.Must(node.Datagrams(ctx, 1))(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	check.Fails(t, "nothing comes", check.Err(d.Next(gone)), context.Canceled, "datagram")
	check.Fatal(t, node.Close())
	check.Fails(t, "the node is closed", check.Err(d.Next(ctx)), hostdrv.ErrClosed)
	check.Fails(t, "of a closed node", check.Err(node.Datagrams(ctx, 1)), hostdrv.ErrClosed)
}
