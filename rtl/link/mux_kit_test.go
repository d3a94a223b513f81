package link_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// mux is link_mux with a line behind it and a source of numbered frame symbols before it.
type mux struct {
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	pins struct {
		Rst, Tick, Up, Known, Lost, Stop, Answer, Soon, PeerStop, FValid, FTake, TxReady, SayTake *bool   `port:"*"`
		Expected                                                                                  *uint8  `port:"*"`
		FSym, TxSym, Node, Say                                                                    *uint16 `port:"*"`
		Own, Key                                                                                  *uint32 `port:"*"`
	}
	period int     // clocks a symbol
	busy   float64 // chance that there is a frame symbol

	phase int
	fed   int                // frame symbols taken
	out   int                // frame symbols seen on the line
	time  int                // symbols on the line
	words []timedWord        // whole words seen
	word  []linkproto.Symbol // what has come of one
	since int                // when its LSW was on the line
	takes int                // BARRIERs taken
}

// muxPage is the logarithm of PAGE_BYTES.
const muxPage = 9

// said is what a word says: an INIT, or a Word and the key that it is sealed with.
type said struct {
	init linkproto.Init
	word linkproto.Word
	key  linkproto.Key
}

func (s said) kind() linkproto.Kind {
	if s.init.Version != 0 {
		return linkproto.KindInit
	}
	return s.word.Kind
}

// timedWord is what a word says and the symbol time at which its LSW left.
type timedWord struct {
	said
	at int
}

// newMux returns a mux that is up, with the words that say so sent.
func newMux(t *testing.T, period int) *mux { return openMux(t, period, 0) }

func openMux(t *testing.T, period, barrier int) *mux {
	m := &mux{t: t, period: period}
	m.b = moduletest.Open(t, "link_mux", params{"PAGE_BYTES": 1 << muxPage, "ACK_DELAY": muxAckDelay, "WORD_TIMER": muxWordTimer, "EARLY": 1, "BARRIER": barrier}, &m.pins)
	m.rng = m.b.Rand("mux")
	p := &m.pins
	*p.Up, *p.Known, *p.Lost, *p.Stop, *p.Answer, *p.PeerStop, *p.FValid, *p.TxReady = true, true, false, false, false, false, false, false
	*p.Own, *p.Key, *p.Node, *p.Expected = 0x1C9CBC5A, 0xDB7C01FE, 0xABCD, 0
	m.symbols(24)
	m.words = nil
	return m
}

// clock moves by one clock. Frame symbols are data that count up; the line must carry them all, in order.
func (m *mux) clock() {
	p := &m.pins
	m.phase = (m.phase + 1) % m.period
	ready := m.phase == 0
	*p.TxReady, *p.Tick = ready, ready
	if !*p.FValid && m.rng.Chance(m.busy) {
		*p.FValid = true
	}
	*p.FSym = uint16(m.rng.IntN(512))
	if *p.FValid {
		*p.FSym = uint16(m.fed & 255)
	}
	check.Fatal(m.t, m.b.Model().Eval())
	if *p.FTake && !(*p.FValid && *p.Up && !*p.PeerStop && ready) {
		m.t.Fatalf("cycle %d: takes a frame symbol: valid %v, up %v, peer says stop %v, line ready %v", m.b.Cycle(), *p.FValid, *p.Up, *p.PeerStop, ready)
	}
	if ready {
		m.see(linkproto.Symbol(*p.TxSym))
	}
	take, taken := *p.FTake, *p.SayTake
	held := *p.TxSym
	m.b.Step(1)
	if taken {
		m.takes++
		*p.Say = 0
	}
	if take {
		m.fed++
		*p.FValid = m.rng.Chance(m.busy)
	}
	if !ready && *p.TxSym != held {
		m.t.Fatalf("cycle %d: symbol changes before the line has taken it", m.b.Cycle())
	}
}

func (m *mux) see(s linkproto.Symbol) {
	m.time++
	switch {
	case s == linkproto.SymLSW:
		if len(m.word) > 0 {
			m.t.Fatalf("cycle %d: LSW inside a word", m.b.Cycle())
		}
		m.word, m.since = []linkproto.Symbol{s}, m.time
	case s == linkproto.SymIdle && len(m.word) == 0:
	case !s.IsData():
		m.t.Fatalf("cycle %d: %v on the line after %v", m.b.Cycle(), s, m.word)
	case len(m.word) > 0:
		m.word = append(m.word, s)
		m.whole()
	default:
		if byte(s) != byte(m.out) {
			m.t.Fatalf("cycle %d: frame symbol %v, want number %d", m.b.Cycle(), s, m.out)
		}
		m.out++
	}
}

// whole reads the word that has come, if it is whole.
func (m *mux) whole() {
	words := linkproto.NewDeframer(linkproto.MinPacket)
	words.TakeAny()
	ev, _ := words.Next(m.word)
	switch ev.Kind {
	case linkproto.EventNone:
		return
	case linkproto.EventWord:
		m.words = append(m.words, timedWord{said{word: ev.Word, key: ev.Key}, m.since})
	case linkproto.EventInit:
		m.words = append(m.words, timedWord{said{init: ev.Init}, m.since})
	default:
		m.t.Fatalf("cycle %d: word %v: %v", m.b.Cycle(), m.word, ev.Reason)
	}
	m.word = nil
}

// symbols runs for n symbol times.
func (m *mux) symbols(n int) {
	for end := m.time + n; m.time < end; {
		m.clock()
	}
}

// says is what is true: what a word says, but that an end that is not up and knows its peer says an INIT in turn with it.
func (m *mux) says() said {
	p := &m.pins
	if !*p.Up && !*p.Known {
		return m.saysInit()
	}
	w := linkproto.Word{Kind: linkproto.KindAck, Stop: *p.Stop, Value: *p.Expected}
	if *p.Lost {
		w.Kind = linkproto.KindLost
	}
	return said{word: w, key: linkproto.Key(*p.Key)}
}

func (m *mux) saysInit() said {
	p := &m.pins
	return said{init: linkproto.Init{Stop: *p.Stop, Version: linkproto.Version, Node: *p.Node, Life: linkproto.Life(*p.Own), Page: muxPage, Lanes: 1}}
}

// say has it say a BARRIER.
func (m *mux) say(group, value uint8) said {
	*m.pins.Say = 1<<13 | uint16(group)<<8 | uint16(value)
	return said{word: linkproto.Word{Kind: linkproto.KindBarrier, Group: group, Value: value}, key: linkproto.Key(*m.pins.Key)}
}

// atOnce is the number of symbol times within which an urgent word begins: two registers to see it, one to send it.
const atOnce = 5
