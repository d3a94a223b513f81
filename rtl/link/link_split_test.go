package link_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// splitter is link_split with its outputs turned back into a stream of symbols without words, and a list of words.
type splitter struct {
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	gaps float64 // chance of a clock without a symbol
	pins struct {
		Rst, RxValid, Restart, Sop, Eop, Aborted, Data, Err, Word, Init, Barrier, WordBad, WordLost, WordStop, IEn, InitBad *bool   `port:"*"`
		Key                                                                                                                 *uint32 `port:"*"`
		RxSym                                                                                                               *uint16 `port:"*"`
		ByteQ, WordN, WordGroup, IAt, IByte                                                                                 *uint8  `port:"*"`
	}
	barriers bool                            // it takes them
	init     [linkproto.InitSymbols - 1]byte // bytes of the INIT in progress, as link_peer gets them
	rest     []linkproto.Symbol
	words    []string
}

// splitKey is that of the end that hears.
const splitKey = linkproto.Key(0x9C1CBC5A)

func newSplitter(t *testing.T) *splitter { return openSplitter(t, false) }

func openSplitter(t *testing.T, barriers bool) *splitter {
	s := &splitter{t: t, barriers: barriers}
	config := params{}
	if barriers {
		config["BARRIER"] = 1
	}
	s.b = moduletest.Open(t, "link_split", config, &s.pins)
	s.rng = s.b.Rand("gaps")
	*s.pins.Key, *s.pins.Restart, *s.pins.InitBad = uint32(splitKey), false, false
	*s.pins.RxValid, *s.pins.RxSym = true, uint16(linkproto.SymLSW) // a word begins, and a reset ends it
	s.b.Step(1)
	*s.pins.RxValid = false
	s.b.Reset("rst", 1)
	return s
}

// deframer returns a deframer of the same end.
func deframer() *linkproto.Deframer {
	d := linkproto.NewDeframer(64)
	d.SetKey(splitKey)
	return d
}

// clock gives the module a symbol, or none, and reads the outputs one clock later.
func (s *splitter) clock(valid bool, symbol linkproto.Symbol) {
	p := &s.pins
	*p.RxValid, *p.RxSym = valid, uint16(symbol)
	s.peer()
	if *p.Barrier {
		s.words = append(s.words, barrierName(linkproto.Word{Kind: linkproto.KindBarrier, Group: *p.WordGroup, Value: *p.WordN}))
	}
	s.b.Step(1)
	pulses := 0
	for _, o := range []struct {
		on     bool
		symbol linkproto.Symbol
	}{{*p.Sop, linkproto.SymSOP}, {*p.Eop, linkproto.SymEOP}, {*p.Aborted, linkproto.SymAbort}, {*p.Err, linkproto.SymErr}, {*p.Data, linkproto.Data(*p.ByteQ)}} {
		if o.on {
			pulses++
			s.rest = append(s.rest, o.symbol)
		}
	}
	words := 0
	for _, o := range []struct {
		on   bool
		word func() any
	}{
		{*p.Word, func() any {
			w := linkproto.Word{Stop: *p.WordStop, Value: *p.WordN}
			if *p.WordLost {
				w.Kind = linkproto.KindLost
			}
			return w
		}},
		{*p.Init, func() any {
			w, reason := linkproto.DecodeInit(s.init)
			if w.Stop != *p.WordStop || reason == linkproto.WordCheck {
				s.t.Fatalf("cycle %d: INIT % x, stop %v: %v", s.b.Cycle(), s.init, *p.WordStop, reason)
			}
			return w
		}},
		{*p.WordBad, func() any { return "bad" }},
	} {
		if o.on {
			words++
			s.words = append(s.words, fmt.Sprint(o.word()))
		}
	}
	if pulses > 1 || words > 1 {
		s.t.Fatalf("cycle %d: more than one pulse: sop %v eop %v err %v data %v, word %v init %v bad %v", s.b.Cycle(), *p.Sop, *p.Eop, *p.Err, *p.Data,
			*p.Word, *p.Init, *p.WordBad)
	}
}

// peer is link_peer: it takes the bytes of an INIT, and finds bad in the clock behind the last one what a Deframer does, but for the check.
func (s *splitter) peer() {
	p := &s.pins
	check.Fatal(s.t, s.b.Model().Eval())
	if !*p.IEn {
		return
	}
	s.init[*p.IAt] = *p.IByte
	whole := s.init
	binary.BigEndian.PutUint16(whole[linkproto.InitCheckAt:], linkproto.CRC16(whole[:linkproto.InitCheckAt]))
	_, reason := linkproto.DecodeInit(whole)
	*p.InitBad = reason != linkproto.ReasonNone
}

// feed gives the module symbols with gaps between them, and time to finish.
func (s *splitter) feed(symbols []linkproto.Symbol) {
	for _, symbol := range symbols {
		for s.gaps > 0 && s.rng.Chance(s.gaps) {
			s.clock(false, linkproto.Symbol(s.rng.IntN(512)))
		}
		s.clock(true, symbol)
	}
	for range 3 {
		s.clock(false, linkproto.SymLSW)
	}
}

func barrierName(w linkproto.Word) string { return fmt.Sprintf("%v of group %d", w, w.Group) }

// found is what a linkproto.Deframer finds in symbols: words, and frames.
func found(d *linkproto.Deframer, barriers bool, symbols []linkproto.Symbol) (words, frames []string) {
	for len(symbols) > 0 {
		ev, n := d.Next(symbols)
		symbols = symbols[n:]
		switch ev.Kind {
		case linkproto.EventWord:
			switch {
			case ev.Word.Kind != linkproto.KindBarrier:
				words = append(words, fmt.Sprint(ev.Word))
			case barriers:
				words = append(words, barrierName(ev.Word))
			default: // refused here already
				words = append(words, "bad")
			}
		case linkproto.EventInit:
			words = append(words, fmt.Sprint(ev.Init))
		case linkproto.EventBadWord:
			words = append(words, "bad")
		case linkproto.EventFrame:
			frames = append(frames, fmt.Sprintf("%d % x", ev.Seq, ev.Payload))
		case linkproto.EventBadFrame, linkproto.EventStray:
			frames = append(frames, fmt.Sprint(ev.Kind, ev.Reason))
		}
	}
	return words, frames
}

// compare feeds symbols and compares what comes out with what the two deframers find in the raw and in the split stream.
func (s *splitter) compare(raw, split *linkproto.Deframer, symbols []linkproto.Symbol) {
	s.t.Helper()
	s.rest, s.words = s.rest[:0], s.words[:0]
	s.feed(symbols)
	words, frames := found(raw, s.barriers, symbols)
	none, rest := found(split, s.barriers, s.rest)
	if !slices.Equal(words, s.words) {
		s.t.Fatalf("words of %v:\n got %v\nwant %v", symbols, s.words, words)
	}
	if len(none) > 0 || !slices.Equal(frames, rest) {
		s.t.Fatalf("frames of %v:\n got %v\nwant %v", symbols, rest, frames)
	}
}

// someWords are words of all kinds and of both lengths.
var someWords = [][]linkproto.Symbol{
	linkproto.AppendWord(nil, splitKey, linkproto.Word{Kind: linkproto.KindAck}),
	linkproto.AppendWord(nil, splitKey, linkproto.Word{Kind: linkproto.KindAck, Stop: true, Value: 255}),
	linkproto.AppendWord(nil, splitKey, linkproto.Word{Kind: linkproto.KindLost, Value: 0xBC}),
	linkproto.AppendWord(nil, splitKey, linkproto.Word{Kind: linkproto.KindLost, Stop: true, Value: 7}),
	linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Life: 0x9C1CBC5A, Page: 7, Lanes: 1}),
	linkproto.AppendInit(nil, linkproto.Init{Stop: true, Version: linkproto.Version, Node: 0x1C9C, Life: 0xDB000001, Page: 13, Lanes: 8, Lane: 5}),
}

// name is what a word is called.
func name(t *testing.T, word []linkproto.Symbol) string {
	words, _ := found(deframer(), true, word)
	if len(words) != 1 || words[0] == "bad" {
		t.Fatalf("%v gives %v", word, words)
	}
	return words[0]
}

// Every symbol there is, outside and inside a frame, and inside a word at each place.
func TestSplitSymbols(t *testing.T) {
	s := newSplitter(t)
	raw, split := deframer(), deframer()
	for symbol := range linkproto.Symbol(512) {
		s.compare(raw, split, []linkproto.Symbol{symbol})
		s.compare(raw, split, []linkproto.Symbol{linkproto.SymSOP, 1, symbol, 2, linkproto.SymEOP})
		for at, word := 0, someWords[int(symbol)%len(someWords)]; at < len(word); at++ {
			cut := append(slices.Clone(word[:at+1]), symbol)
			cut = append(cut, word[at+1:]...)
			s.compare(raw, split, append(cut, linkproto.SymSOP, linkproto.SymEOP)) // SOP ends what is left of a word
		}
	}
}

// No single wrong bit turns a word into another word, wherever it is and whatever follows.
func TestSplitFlips(t *testing.T) {
	s := newSplitter(t)
	for _, w := range someWords {
		for at := range w {
			for bit := range 9 {
				symbols := slices.Clone(w)
				symbols[at] ^= 1 << bit
				s.words = s.words[:0]
				s.feed(symbols)
				s.feed([]linkproto.Symbol{linkproto.SymIdle, linkproto.SymIdle, linkproto.SymSOP})
				for _, got := range s.words {
					if got != "bad" {
						t.Errorf("%v with bit %d of symbol %d wrong gives %v", w, bit, at, got)
					}
				}
				s.words = s.words[:0]
				s.feed(w)
				if len(s.words) != 1 || s.words[0] != name(t, w) {
					t.Fatalf("%v after a damaged one gives %v", w, s.words)
				}
			}
		}
	}
}

// Every first byte of a word with a right check and key: a BARRIER is bad unless they are taken, and so are reserved bits.
func TestSplitReserved(t *testing.T) {
	for barriers, want := range map[bool]int{false: 6, true: 6 + linkproto.BarrierGroups} {
		splitReserved(t, openSplitter(t, barriers), want)
	}
}

func splitReserved(t *testing.T, s *splitter, want int) {
	t.Helper()
	raw, split := deframer(), deframer()
	good := 0
	for b0 := range 256 {
		symbols := linkproto.AppendWord(nil, splitKey, linkproto.Word{Kind: linkproto.Kind(b0 >> linkproto.WordKindShift),
			Stop: b0>>linkproto.WordStopBit&1 != 0, Group: uint8(b0) & linkproto.WordReserved, Value: 3})
		if linkproto.Kind(b0>>linkproto.WordKindShift) == linkproto.KindInit {
			b := []byte{byte(b0), linkproto.Version, 0, 0, 1, 0, 0, 0, 7, 0}
			symbols = []linkproto.Symbol{linkproto.SymLSW}
			for _, x := range binary.BigEndian.AppendUint16(b, linkproto.CRC16(b)) {
				symbols = append(symbols, linkproto.Data(x))
			}
		}
		s.compare(raw, split, symbols)
		if s.words[0] != "bad" {
			good++
		}
	}
	check.Equal(t, "values of a word's first byte that are taken", good, want)
}

// Every value of each byte of an INIT, with a right check: one with a field that is of no use is bad, and says nothing of the words behind it.
func TestSplitInits(t *testing.T) {
	s := newSplitter(t)
	raw, split := deframer(), deframer()
	bad := 0
	for at := 1; at <= linkproto.InitLanesAt; at++ {
		for x := range 256 {
			b := initBytes(linkproto.Init{Version: linkproto.Version, Node: 0x1C9C, Life: 0x47005C1F, Page: 7, Lanes: 1})
			b[at] = uint8(x)
			binary.BigEndian.PutUint16(b[linkproto.InitCheckAt:], linkproto.CRC16(b[:linkproto.InitCheckAt]))
			symbols := []linkproto.Symbol{linkproto.SymLSW}
			for _, x := range b {
				symbols = append(symbols, linkproto.Data(x))
			}
			s.compare(raw, split, append(symbols, someWords[3]...))
			if s.words[0] == "bad" {
				bad++
			}
			if s.words[1] != name(t, someWords[3]) {
				t.Errorf("INIT % x, and a word behind it: %v", b, s.words)
			}
		}
	}
	if bad < 255 || bad > 3*256 {
		t.Errorf("%d INITs are bad", bad)
	}
}

// A word with any other key is bad, be it one bit that differs.
func TestSplitKeys(t *testing.T) {
	s := openSplitter(t, true)
	raw, split := deframer(), deframer()
	keys := []linkproto.Key{0, ^splitKey}
	for bit := range 32 {
		keys = append(keys, splitKey^1<<bit)
	}
	for range 200 {
		keys = append(keys, linkproto.Key(s.rng.Uint32()))
	}
	for _, key := range keys {
		for _, kind := range []linkproto.Kind{linkproto.KindAck, linkproto.KindLost, linkproto.KindBarrier} {
			s.compare(raw, split, linkproto.AppendWord(nil, key, linkproto.Word{Kind: kind, Stop: kind != linkproto.KindBarrier && s.rng.Bool(), Value: uint8(s.rng.IntN(256))}))
			if !slices.Equal(s.words, []string{"bad"}) {
				t.Errorf("key %#x: words %v", key, s.words)
			}
		}
	}
}

// A word of which a part came before the key changed is bad, whichever key it has and wherever it was cut: nothing of what was said before
// counts. The next one is good.
func TestSplitRestart(t *testing.T) {
	const other = ^splitKey
	said := func(w linkproto.Word) func(linkproto.Key) []linkproto.Symbol {
		return func(k linkproto.Key) []linkproto.Symbol { return linkproto.AppendWord(nil, k, w) }
	}
	for _, w := range []struct {
		name    string
		symbols func(linkproto.Key) []linkproto.Symbol
	}{
		{"ACK", said(linkproto.Word{Value: 9})},
		{"INIT", func(linkproto.Key) []linkproto.Symbol { return someWords[5] }},
		{"BARRIER", said(linkproto.Word{Kind: linkproto.KindBarrier, Group: 21, Value: 9})},
	} {
		s := openSplitter(t, true)
		p := &s.pins
		for _, key := range []linkproto.Key{splitKey, other} {
			symbols := w.symbols(key)
			for at := 1; at <= len(symbols)+1; at++ { // symbols before the clock of `restart`
				*p.Key, s.words = uint32(splitKey), nil
				for i := range len(symbols) + 4 {
					if i == at {
						*p.Key = uint32(other)
					}
					*p.Restart = i == at
					s.clock(i < len(symbols), append(symbols, make([]linkproto.Symbol, 4)...)[i])
				}
				want := []string{"bad"}
				if at == len(symbols)+1 && (key == splitKey || w.name == "INIT") {
					want = []string{name(t, w.symbols(splitKey))} // it had come
				}
				if !slices.Equal(s.words, want) {
					t.Errorf("%s with key %#x, restart behind %d symbols: %v, want %v", w.name, key, at, s.words, want)
				}
				s.words = nil
				s.feed(linkproto.AppendWord(nil, other, linkproto.Word{Value: 7}))
				if want := []string{fmt.Sprint(linkproto.Word{Value: 7})}; !slices.Equal(s.words, want) {
					t.Fatalf("%s: the word behind it gives %v", w.name, s.words)
				}
			}
		}
	}
}

// Random streams of frames and words in each other, with damage and idles, as the Go deframer reads them.
func TestSplitRandom(t *testing.T) {
	s := newSplitter(t)
	rng := s.b.Rand("stream")
	raw, split := deframer(), deframer()
	for round := range 300 {
		s.gaps = testbench.Pick(rng, 0, 0, 0.3)
		var symbols []linkproto.Symbol
		for len(symbols) < 150 {
			piece := []linkproto.Symbol{linkproto.Symbol(rng.IntN(512))}
			switch rng.Weighted(4, 4, 1) {
			case 0:
				piece = linkproto.AppendFrame(nil, splitKey, uint8(rng.IntN(256)), bytes.Repeat([]byte{byte(round)}, rng.Between(0, 66)))
			case 1:
				piece = slices.Clone(someWords[rng.IntN(len(someWords))])
			}
			if len(symbols) == 0 || rng.Chance(0.4) {
				symbols = append(symbols, piece...)
			} else {
				symbols = slices.Insert(symbols, rng.IntN(len(symbols)), piece...)
			}
		}
		for i := range symbols {
			switch {
			case rng.Chance(0.01):
				symbols[i] ^= 1 << rng.IntN(9)
			case rng.Chance(0.05):
				symbols = slices.Insert(symbols, i, linkproto.SymIdle)
			}
		}
		s.compare(raw, split, symbols)
	}
}
