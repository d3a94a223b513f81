package replay_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/replay"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// FuzzRun replays sessions of hosts that send anything to interfaces that say anything.
func FuzzRun(f *testing.F) {
	packet := func(p linkproto.Packet) []byte {
		raw := check.Must(p.Append(nil))(f)
		return append([]byte{byte(len(raw))}, raw...)
	}
	f.Add(packet(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: 1, Count: 4}), packet(linkproto.Packet{Type: linkproto.TypeBufData, Tag: 1, Data: []byte{1, 2, 3, 4}}))
	f.Add(packet(linkproto.Packet{Type: linkproto.TypePage, Via: 1, Frame: 1, Port: 3}), packet(linkproto.Packet{Type: linkproto.TypeTrap, Via: 2, Data: []byte{2, 6, 0, 1, 0, 3, 0, 0, 0}}))
	f.Add(packet(linkproto.Packet{Type: linkproto.TypeWrite, Via: 2, Data: []byte{7}}), packet(linkproto.Packet{Type: linkproto.TypeSpace, Via: 2, Packets: 200, Bytes: 9}))
	f.Fuzz(func(t *testing.T, sent, received []byte) {
		s := &record.Session{Exchanges: []record.Exchange{
			{Ticks: 10, Out: word(linkproto.KindInit, 5, 0), In: word(linkproto.KindInit, 9, 5)},
			{Ticks: 10, Out: word(linkproto.KindAck, 0, 9), In: word(linkproto.KindAck, 0, 5)},
		}}
		out, in := frames(sent), frames(received)
		for i := range max(len(out), len(in)) {
			x := record.Exchange{Ticks: 100}
			if i < len(out) {
				x.Out = out[i]
			}
			if i < len(in) {
				x.In = in[i]
			}
			s.Exchanges = append(s.Exchanges, x)
		}
		if packets, _ := s.Packets(); len(packets) != len(out)+len(in) {
			t.Fatalf("%d packets of %d and %d", len(packets), len(out), len(in))
		}
		to := check.Must(hostdrv.Dial(t.Context(), model()))(t)
		defer to.Close()
		if r, err := replay.Run(t.Context(), s, to); err == nil && r.Divergence == nil && r.Packets != len(out) {
			t.Errorf("%+v", r)
		} else if errors.Is(err, hostdrv.ErrGone) {
			t.Error(err)
		}
	})
}

func word(kind linkproto.Kind, value, echo uint8) []byte {
	return linkproto.AppendStuffed(nil, linkproto.AppendWord(nil, linkproto.Word{Kind: kind, Value: value, Echo: echo}))
}

// frames makes frames of packets, each after its length, whose length field is made right.
func frames(of []byte) (list [][]byte) {
	for len(of) > 1 {
		n := min(max(int(of[0]), linkproto.MinPacket), 200)
		packet := append(bytes.Clone(of[1:min(1+n, len(of))]), make([]byte, linkproto.MinPacket)...)[:max(min(n, len(of)-1), linkproto.MinPacket)]
		of = of[min(1+n, len(of)):]
		packet[1], packet[2] = byte(len(packet)-linkproto.HeaderBytes), 0
		list = append(list, linkproto.AppendStuffed(nil, linkproto.AppendFrame(nil, uint8(len(list)), packet)))
	}
	return list
}
