package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// lane_end: each lane says its number, and how many there are.
func TestLaneEnd(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.offer = 0
	heard := make([]linkproto.Init, 4)
	words := make([]*linkproto.Deframer, 4)
	for k := range words {
		words[k] = linkproto.NewDeframer(maxPacket)
	}
	for range 100 {
		for k := range words {
			s := check.Must(m.b.Model().Peek(fmt.Sprintf("tx_sym[%d:%d]", 9*k+8, 9*k)))(t)
			if ev, _ := words[k].Next([]linkproto.Symbol{linkproto.Symbol(s)}); ev.Kind == linkproto.EventInit {
				heard[k] = ev.Init
			}
		}
		m.clock()
	}
	for k, w := range heard {
		check.Equal(t, "lanes and lane", [2]uint8{w.Lanes, w.Lane}, [2]uint8{4, uint8(k)})
	}
}

// link_lanes with one lane is link_endpoint: it speaks to an end of one lane.
func TestLanesOne(t *testing.T) {
	m := newMixedOf(t, "link_lanes", 1, 3)
	m.clocks(10_000)
	m.settle()
	check.Equal(t, "replays", m.seen[linkproto.CntReplays], 0)
}
