package link_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

const (
	muxAckDelay  = 40
	muxWordTimer = 300
)

// What makes a word due at once does so whether frames are sent or not, and only once; the word stands between frame symbols,
// none of which is lost.
func TestMuxUrgent(t *testing.T) {
	for _, period := range []int{1, 10} {
		for _, busy := range []float64{0, 1} {
			m := newMux(t, period)
			p := &m.pins
			answer := func() { *p.Answer = true; m.clock(); *p.Answer = false }
			for _, c := range []struct {
				name   string
				change func()
			}{
				{"stop", func() { *p.Stop = true }},
				{"go", func() { *p.Stop = false }},
				{"lost", func() { *p.Lost = true }},
				{"found", func() { *p.Lost, *p.Expected = false, *p.Expected+1 }},
				{"answer", answer},
				{"stop and lost", func() { *p.Stop, *p.Lost = true, true }},
				{"down", func() { *p.Up, *p.Known, *p.Own = false, false, *p.Own+1<<24; answer() }},
				{"stop while down", func() { *p.Stop = !*p.Stop }},
				{"up", func() { *p.Up, *p.Known, *p.Key = true, true, ^*p.Key }},
			} {
				m.busy = busy
				m.symbols(24) // to the middle between two words said again
				m.words = nil
				start := m.time
				c.change()
				want := m.says()
				m.symbols(muxWordTimer/2 - 24)
				if len(m.words) == 0 || m.words[0].said != want || m.words[0].at > start+atOnce {
					t.Errorf("%d clocks a symbol, busy %v, %s at %d: words %+v, want %+v at once", period, busy, c.name, start, m.words, want)
					continue
				}
				// An ACK is said once; INIT and LOST again and again.
				again := 0
				for i, w := range m.words[1:] {
					if d := w.at - m.words[i].at; d < muxAckDelay || d > muxAckDelay+atOnce || w.said != want {
						t.Errorf("%d clocks a symbol, busy %v, %s: %+v %d symbols after the one before", period, busy, c.name, w, d)
					}
					again++
				}
				if most := (muxWordTimer/2 - 24) / muxAckDelay; want.kind() == linkproto.KindAck && again > 0 || want.kind() != linkproto.KindAck && again < most-1 {
					t.Errorf("%d clocks a symbol, busy %v, %s: said again %d times: %+v", period, busy, c.name, again, m.words)
				}
			}
		}
	}
}

// An end that is not up and knows its peer says an INIT and a sealed word in turn, an INIT only while it does not, and the key that counts is the
// one at the word's beginning.
func TestMuxInTurn(t *testing.T) {
	for _, period := range []int{1, 10} {
		for _, known := range []bool{false, true} {
			m := newMux(t, period)
			p := &m.pins
			m.busy = 1
			*p.Up, *p.Known = false, known
			m.symbols(20 * muxAckDelay)
			inits := 0
			for i, w := range m.words {
				want := m.says()
				if w.init.Version != 0 {
					inits++
					want = m.saysInit()
				}
				if i > 0 {
					if d := w.at - m.words[i-1].at; d < muxAckDelay || d > muxAckDelay+atOnce || known && w.kind() == m.words[i-1].kind() {
						t.Errorf("%d clocks a symbol: %+v behind %+v", period, w, m.words[i-1])
					}
				}
				if w.said != want {
					t.Errorf("%d clocks a symbol, known %v: says %+v, want %+v", period, known, w, want)
				}
			}
			if len(m.words) < 18 || !known && inits != len(m.words) || known && inits < len(m.words)/2 {
				t.Errorf("%d clocks a symbol, known %v: %d words, %d of them INITs", period, known, len(m.words), inits)
			}
			if m.out > 1 {
				t.Errorf("%d frame symbols while down", m.out)
			}
		}
	}
}

// A question that comes as the word about the one before begins, or at any moment around it, has a word of its own behind it.
func TestMuxAskedTwice(t *testing.T) {
	for _, period := range []int{1, 3} {
		m := newMux(t, period)
		ask := func() {
			*m.pins.Answer = true
			m.clock()
			*m.pins.Answer = false
		}
		for apart := range 2 * linkproto.WordSymbols * period {
			ask()
			m.clocks(apart)
			ask()
			asked := m.time
			m.symbols(2 * (atOnce + linkproto.WordSymbols))
			// What is chosen in the clock of the question is the next symbol on the line.
			if last := m.words[len(m.words)-1].at; last <= asked+1 {
				t.Errorf("%d clocks a symbol, %d clocks apart: asked at symbol %d, the last word begins at %d", period, apart, asked, last)
			}
		}
	}
}

// Progress alone is acknowledged at once on an idle link, and ACK_DELAY after the last word on one that is busy or soon will be.
func TestMuxProgress(t *testing.T) {
	for _, period := range []int{1, 10} {
		for _, c := range []struct {
			busy       float64
			stop, soon bool // the peer's STOP, which makes a busy link idle
			early, due int
		}{{0, false, false, 0, atOnce}, {1, false, false, muxAckDelay, muxAckDelay + atOnce}, {1, true, false, 0, atOnce}, {0, false, true, muxAckDelay, muxAckDelay + atOnce}} {
			m := newMux(t, period)
			m.busy = c.busy
			*m.pins.PeerStop, *m.pins.Soon = c.stop, c.soon
			*m.pins.Answer = true
			m.clock()
			*m.pins.Answer = false
			m.symbols(12)
			last := m.words[0].at
			m.words = nil
			start := m.time
			if c.early > 0 {
				start = last
			}
			*m.pins.Expected++
			m.symbols(2 * muxAckDelay)
			if len(m.words) != 1 || m.words[0].said != m.says() || m.words[0].at < start+c.early || m.words[0].at > start+c.due {
				t.Errorf("%d clocks a symbol, %+v: words %+v, want one %d to %d symbols after %d", period, c, m.words, c.early, c.due, start)
			}
		}
	}
}

// Without any reason a word comes every WORD_TIMER symbol times, or half as many on an idle link, whatever a symbol time is.
func TestMuxTimer(t *testing.T) {
	for _, period := range []int{1, 3, 10} {
		for _, c := range []struct {
			busy  float64
			soon  bool
			every int
		}{{0, false, muxWordTimer / 2}, {1, false, muxWordTimer}, {0, true, muxWordTimer}} {
			m := newMux(t, period)
			m.busy, *m.pins.Soon = c.busy, c.soon
			m.symbols(10 * c.every)
			for i, w := range m.words[1:] {
				if d := w.at - m.words[i].at; d < c.every || d > c.every+atOnce || w.said != m.says() {
					t.Errorf("%d clocks a symbol, %+v: word %+v %d symbols after the one before", period, c, w, d)
				}
			}
			if len(m.words) < 9 {
				t.Errorf("%d clocks a symbol, %+v: %d words", period, c, len(m.words))
			}
		}
	}
}

// The peer's STOP lets at most the symbol in the output register go, words go on, and GO resumes without a loss.
func TestMuxStop(t *testing.T) {
	for _, period := range []int{1, 10} {
		m := newMux(t, period)
		m.busy = 1
		for range 50 {
			m.symbols(m.rng.Between(1, 20))
			*m.pins.PeerStop = true
			m.clocks(m.rng.Between(0, 3))
			fed := m.fed
			words := len(m.words)
			m.symbols(2)
			out := m.out
			*m.pins.Stop = !*m.pins.Stop
			m.symbols(20)
			if m.fed != fed || m.out != out || m.out != m.fed || len(m.words) == words {
				t.Fatalf("cycle %d: %d symbols taken under STOP, %d sent, %d words", m.b.Cycle(), m.fed-fed, m.out-out, len(m.words)-words)
			}
			*m.pins.PeerStop = false
		}
	}
}

func (m *mux) clocks(n int) {
	for range n {
		m.clock()
	}
}

// Whatever changes whenever: every word says what was true when its LSW was chosen, and soon after the last change a word
// says what is true.
func TestMuxRandom(t *testing.T) {
	for _, period := range []int{1, 4} {
		t.Run(fmt.Sprint(period, " clocks a symbol"), func(t *testing.T) {
			m := newMux(t, period)
			p := &m.pins
			history := []said{m.says(), m.saysInit()}
			m.words = nil
			for range 3000 {
				m.busy = testbench.Pick(m.rng, 0, 0.5, 1, 1)
				switch m.rng.IntN(8) {
				case 0:
					*p.Stop = !*p.Stop
				case 1:
					*p.Lost = !*p.Lost
				case 2, 3:
					*p.Expected++
				case 4: // a restart; and another peer, and up; when no word has the life or the key of before any more
					if *p.Up {
						m.symbols(linkproto.InitSymbols)
						*p.Up, *p.Known, *p.Own, *p.Answer = false, false, *p.Own+1<<24, true
					} else {
						if !*p.Known {
							m.symbols(linkproto.InitSymbols)
							*p.Key = m.rng.Uint32()
						}
						*p.Up, *p.Known, *p.Answer = true, true, true
					}
				case 5:
					if !*p.Up && !*p.Known {
						m.symbols(linkproto.InitSymbols)
						*p.Known, *p.Answer, *p.Key = true, true, m.rng.Uint32()
					}
				case 6:
					*p.PeerStop = !*p.PeerStop
				}
				history = append(history, m.says(), m.saysInit())
				m.clocks(1)
				*p.Answer = false
				m.symbols(m.rng.Between(0, 4))
				if m.rng.Chance(0.1) {
					m.symbols(muxAckDelay + 2*linkproto.InitSymbols + 2*atOnce)
					if last := m.words[len(m.words)-1].said; last != m.says() && (*p.Up || last != m.saysInit()) {
						t.Fatalf("cycle %d: the last word said %+v, true is %+v", m.b.Cycle(), last, m.says())
					}
				}
			}
			at := 0 // words say what was true at moments in order
			for _, w := range m.words {
				i := slices.Index(history[at:], w.said)
				if i < 0 {
					t.Fatalf("word %+v says what was not true when it was sent", w)
				}
				at += i &^ 1 // both may be true at one moment
			}
			if len(m.words) < 1000 || m.out < 1000 {
				t.Errorf("%d words, %d frame symbols", len(m.words), m.out)
			}
		})
	}
}
