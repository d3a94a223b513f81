package link_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// A BARRIER is sent in the next symbol time, between symbols of a frame too, once; behind a word that has to be sent at once; and not while the link is not up. Other words are
// due when they would be without it.
func TestMuxBarrier(t *testing.T) {
	for _, period := range []int{1, 10} {
		for _, busy := range []float64{0, 1} {
			m := openMux(t, period, 1)
			m.busy = busy
			list := func() (all []said) {
				for _, w := range m.words {
					all = append(all, w.said)
				}
				return all
			}
			m.symbols(24)
			m.words = nil
			start := m.time
			want := m.say(9, 0x35)
			m.symbols(12)
			if len(m.words) != 1 || m.words[0].said != want || m.words[0].at > start+2 || m.takes != 1 {
				t.Errorf("%d clocks a symbol, busy %v: at %d %+v, taken %d times, want %+v at once", period, busy, start, m.words, m.takes, want)
			}
			m.words = nil
			*m.pins.Stop = true
			m.clock()
			want = m.say(31, 0xFF)
			m.symbols(24)
			if have := list(); !slices.Equal(have, []said{m.says(), want}) {
				t.Errorf("%d clocks a symbol, busy %v: with a STOP: %+v", period, busy, have)
			}
			m.words = nil
			*m.pins.Up = false
			want = m.say(1, 2)
			m.symbols(3 * muxAckDelay)
			check.Equal(t, "sent while the link is not up", slices.Contains(list(), want), false)
			*m.pins.Up = true
			m.symbols(24)
			check.Equal(t, "sent when the link is up again", slices.Contains(list(), want), true)

			m.symbols(muxWordTimer)
			m.words = nil
			for range 40 {
				m.say(uint8(m.rng.IntN(32)), uint8(m.rng.IntN(256)))
				m.symbols(8 + m.rng.IntN(2*muxWordTimer/20))
			}
			last, others := -1, 0
			for _, w := range m.words {
				if w.kind() == linkproto.KindBarrier {
					continue
				}
				if others++; last >= 0 && (w.at-last < muxWordTimer/2 || w.at-last > muxWordTimer+2*atOnce+linkproto.WordSymbols) {
					t.Errorf("%d clocks a symbol, busy %v: %+v %d symbols after the last that is no BARRIER", period, busy, w, w.at-last)
				}
				last = w.at
			}
			if others < 2 {
				t.Errorf("%d clocks a symbol, busy %v: %d other words", period, busy, others)
			}
		}
	}
}
