package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// A peer whose page is smaller, or that has another number of lanes, is named as one that does not fit, over whatever lane it is heard: the link stays
// down and says INIT only. The next peer, which fits, is taken.
func TestTrunkRefused(t *testing.T) {
	const lanes = 4
	page, _ := linkproto.PageOf(maxPacket)
	for _, c := range []struct {
		page, lanes uint8
		refused     bool
	}{
		{page - 1, 4, true}, {6, 4, true}, {page, 1, true}, {page, 3, true}, {page, 5, true}, {page, 8, true}, {page + 1, 2, true},
		{page, 4, false}, {page + 1, 4, false}, {13, 4, false},
	} {
		for heard := range lanes {
			what := fmt.Sprintf("page %d, %d lanes, heard on lane %d", c.page, c.lanes, heard)
			m := newTrunk(t, lanes, 4, skewed)
			m.offer = 0
			for k := range m.lanes {
				m.in[k].cut = true // the Go end says nothing
			}
			hear := func(page, count uint8, life linkproto.Life) {
				init := linkproto.Init{Version: linkproto.Version, Node: 5, Life: life, Page: page, Lanes: count, Lane: uint8(heard) % count}
				m.arrived[heard] = linkproto.AppendInit(m.arrived[heard], init)
				m.arrived[heard] = linkproto.AppendWord(m.arrived[heard], m.key(life), linkproto.Word{})
				m.clocks(60)
			}
			hear(c.page, c.lanes, goLife)
			want := uint32(1<<17 | 5)
			if c.refused {
				want |= 1 << 16
			}
			check.Equal(t, what+": PEER", *m.pins.Peer, want)
			check.Equal(t, what+": the link is up", m.rtlUp(), !c.refused)
			check.Equal(t, what+": counters", m.seen, eventsSeen{})
			if !c.refused {
				continue
			}
			for k, says := range m.says(5 * ackDelay) {
				check.Equal(t, fmt.Sprintf("%s: kinds of words on lane %d", what, k), len(says), 1)
				if n := says[linkproto.KindInit]; n < 4 {
					t.Errorf("%s: %d INITs on lane %d in five times ACK_DELAY", what, n, k)
				}
			}
			for range 2 { // with the first INIT of another life the lane forgets the peer that it knew, with the second it knows the new one
				hear(page, lanes, goLife^1<<24)
			}
			check.Equal(t, what+", then one that fits: PEER", *m.pins.Peer, 1<<17|5)
			check.Equal(t, what+", then one that fits: the link is up", m.rtlUp(), true)
		}
	}
}
