package ni_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
)

// A packet goes to its link while the host's frame still comes. When that turns out damaged, at whatever symbol, the link's frame is taken back: the
// far end delivers each packet once, in order, and sees no damaged frame and none twice.
func TestCutThrough(t *testing.T) {
	const packets = 400
	for _, size := range []int{1, 8, 200} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := openWhole(t, rtl.Params{PageBytes: 256})
			host, peer := w.Nodes[0].Host, w.peer(1)
			w.must(w.Run(2000))
			host.Port.Mangle = func(line []linkproto.Symbol) []linkproto.Symbol {
				for i, s := range line {
					if s != linkproto.SymIdle && w.rng.Chance(1/float64(3*(size+20))) {
						line[i] = testbench.Pick(w.rng, linkproto.SymErr, linkproto.SymIdle, s&0xFF^1)
					}
				}
				return line
			}
			aborts := 0
			peer.Swallow = func(line []linkproto.Symbol) []linkproto.Symbol {
				for _, s := range line {
					if s == linkproto.SymAbort {
						aborts++
					}
				}
				return line
			}
			var want [][]byte
			got := 0
			w.must(w.Until(1_000_000, "all packets", func() bool {
				if len(want) < packets {
					data := w.rng.Bytes(size)
					if host.Write(1, 0, data) == nil {
						want = append(want, data)
					}
				}
				for raw, ok := peer.Link.Receive(); ok; raw, ok = peer.Link.Receive() {
					var p linkproto.Packet
					w.must(p.Decode(raw))
					if got >= len(want) || !bytes.Equal(p.Data, want[got]) {
						t.Fatalf("packet %d is % x", got, p.Data)
					}
					got++
				}
				return got == packets
			}))
			host.Port.Mangle = nil
			w.must(w.Run(2000))
			check.Equal(t, "sent again", w.counters(1)[linkproto.CntReplays], 0)
			for _, c := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxStray, linkproto.CntBadPacket} {
				check.Equal(t, fmt.Sprint(c, " at the far end"), peer.Link.Counter(c), 0)
			}
			damaged := int(w.counters(0)[linkproto.CntRxCRC])
			if damaged < packets/8 || aborts < damaged/10 {
				t.Errorf("%d of the host's frames were damaged, %d taken back", damaged, aborts)
			}
		})
	}
}
