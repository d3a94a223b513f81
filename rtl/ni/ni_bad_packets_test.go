package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

// Packets that the link drops for their length field, and packets that are dropped behind it for their type, count each, also when both
// happen in the same clock. Behind a long packet that is dropped in n clocks the two meet for some n.
func TestBadPacketsTogether(t *testing.T) {
	for port := range 2 {
		p := rtl.Params{PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024}
		w := openWhole(t, p)
		end := w.peer(1)
		if port == 0 {
			end = w.Nodes[0].Host.Port
			w.Nodes[0].Host.Received = func(linkproto.Packet) {} // refusals
		}
		w.must(w.Run(6000))
		count := func() uint32 { return w.register(linkproto.CounterReg(port, linkproto.CntBadPacket)) }
		seq := func() uint8 { // every packet of the end so far has been acknowledged
			packets, _ := end.Link.Freed()
			return uint8(packets)
		}
		for n := range 60 {
			before := count()
			at := seq()
			s, c := end.Link.Status(), end.Link.Config()
			key := linkproto.KeyOf(s.Peer.Life, linkproto.LifeOf(c.Nonce, c.Port, s.Epoch))
			line := linkproto.AppendFrame(nil, key, at, dropped(n))
			line = linkproto.AppendFrame(line, key, at+1, dropped(0))
			line = linkproto.AppendFrame(line, key, at+2, []byte{0, 9, 0, 1, 2, 3}) // says nine bytes and has three
			for range 3 {                                                           // that the end knows of them and goes on behind
				w.must(end.Link.Send(dropped(0)))
			}
			end.Mangle = func(own []linkproto.Symbol) []linkproto.Symbol {
				k := min(len(line), 32)
				var now []linkproto.Symbol
				now, line = line[:k], line[k:]
				return now
			}
			w.must(w.Run(300))
			end.Mangle = nil
			w.must(w.Run(1200))
			if have := count() - before; have != 3 {
				t.Fatalf("port %d, %d bytes before: %d packets count as bad, want 3", port, n, have)
			}
		}
	}
}

// dropped is a packet of a type that there is not, with n bytes.
func dropped(n int) []byte { return append([]byte{0, byte(n), 0}, make([]byte, n)...) }
