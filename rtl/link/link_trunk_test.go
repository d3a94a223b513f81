package link_test

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
)

// Without errors nothing is dropped, sent twice or miscounted over lanes that differ.
func TestTrunkClean(t *testing.T) {
	for _, c := range []struct {
		name         string
		lanes, width int
		skew         int
		period       int
		offer, take  float64
		clocks       int
		port         uint8
	}{
		{"four lanes", 4, 4, 3, 1, 1, 1, 30000, 1},
		{"six lanes", 6, 8, 11, 1, 1, 1, 30000, 0},
		{"slow readers", 4, 4, 10, 1, 1, 0.2, 30000, 1},
		{"slow writers", 2, 4, 40, 1, 0.02, 1, 30000, 1},
		{"serial", 8, 1, 1, 12, 1, 1, 60000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTrunkAt(t, c.port, c.lanes, c.width, func(lane int) int { return 2 + c.skew*lane })
			m.period, m.offer, m.take = c.period, c.offer, c.take
			m.clocks(c.clocks)
			m.settle()
			for cnt := range linkproto.Counter(linkproto.NumCounters) {
				rtl, peer := m.seen[cnt], int(m.peer.Counter(cnt))
				switch cnt {
				case linkproto.CntRxPackets:
					if rtl != int(m.peer.Counter(linkproto.CntTxPackets)) || rtl != len(m.down.offered) {
						t.Errorf("RTL received %d, Go sent %d of %d", rtl, m.peer.Counter(linkproto.CntTxPackets), len(m.down.offered))
					}
				case linkproto.CntTxPackets:
					if rtl != int(m.peer.Counter(linkproto.CntRxPackets)) || rtl != len(m.up.offered) {
						t.Errorf("RTL sent %d, Go received %d of %d", rtl, m.peer.Counter(linkproto.CntRxPackets), len(m.up.offered))
					}
				case linkproto.CntStops:
				default:
					if rtl != 0 || peer != 0 {
						t.Errorf("%v: RTL %d, Go %d, want none", cnt, rtl, peer)
					}
				}
			}
			t.Logf("%d and %d packets", m.up.next, m.down.next)
		})
	}
}
