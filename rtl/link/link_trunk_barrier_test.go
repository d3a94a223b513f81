package link_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// BARRIERs pass a trunk both ways, whatever lane is out, between symbols of frames: each within a few words' time, once, and as it was said.
func TestTrunkBarriers(t *testing.T) {
	for _, period := range []int{1, 5} {
		m := newTrunk(t, 3, 4, skewed)
		m.period = period
		m.clocks(4000 * period)
		m.wants(3)
		for round := range 60 {
			if round%20 == 10 { // none is said while it is not known yet that a lane is out
				lane := round / 20
				m.out[lane].cut, m.in[lane].cut = true, true
				m.clocks(5 * trunkTimer * period)
			}
			word := uint16(m.rng.IntN(1 << 13))
			m.told, *m.pins.Say = nil, 1<<13|word
			m.peer.Say(uint8(word>>8)^5, uint8(word)^0x5A)
			m.clocks(80 * period)
			check.Equal(t, "taken", *m.pins.Say, 0)
			group, value, ok := m.peer.Heard()
			check.Equal(t, "heard by the Go end", []any{uint16(group)<<8 | uint16(value), ok}, []any{word, true})
			if _, _, more := m.peer.Heard(); more {
				t.Errorf("%d clocks a symbol, round %d: heard twice", period, round)
			}
			check.Equal(t, "heard by the RTL", m.told, []uint16{word ^ 0x55A})
			if round%20 == 19 {
				for lane := range m.lanes {
					m.out[lane].cut, m.in[lane].cut = false, false
				}
				m.clocks(20 * trunkTimer * period)
			}
		}
		m.settle()
	}
}
