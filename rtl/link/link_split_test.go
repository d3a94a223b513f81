package link_test

import (
	"bytes"
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
		Rst, RxValid, Sop, Eop, Data, Err, Word, WordBad, WordStop *bool   `port:"*"`
		RxSym                                                      *uint16 `port:"*"`
		ByteQ, WordKind, WordN, WordEcho                           *uint8  `port:"*"`
	}
	rest  []linkproto.Symbol
	words []string
}

func newSplitter(t *testing.T) *splitter {
	s := &splitter{t: t}
	s.b = moduletest.Open(t, "link_split", nil, &s.pins)
	s.rng = s.b.Rand("gaps")
	return s
}

// clock gives the module a symbol, or none, and reads the outputs one clock later.
func (s *splitter) clock(valid bool, symbol linkproto.Symbol) {
	p := &s.pins
	*p.RxValid, *p.RxSym = valid, uint16(symbol)
	s.b.Step(1)
	pulses := 0
	for _, o := range []struct {
		on     bool
		symbol linkproto.Symbol
	}{{*p.Sop, linkproto.SymSOP}, {*p.Eop, linkproto.SymEOP}, {*p.Err, linkproto.SymErr}, {*p.Data, linkproto.Data(*p.ByteQ)}} {
		if o.on {
			pulses++
			s.rest = append(s.rest, o.symbol)
		}
	}
	if pulses > 1 || *p.Word && *p.WordBad {
		s.t.Fatalf("cycle %d: more than one pulse: sop %v eop %v err %v data %v, word %v bad %v", s.b.Cycle(), *p.Sop, *p.Eop, *p.Err, *p.Data,
			*p.Word, *p.WordBad)
	}
	if *p.Word {
		s.words = append(s.words, fmt.Sprint(linkproto.Word{Kind: linkproto.Kind(*p.WordKind), Stop: *p.WordStop, Value: *p.WordN, Echo: *p.WordEcho}))
	}
	if *p.WordBad {
		s.words = append(s.words, "bad")
	}
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

// found is what a linkproto.Deframer finds in symbols: words, and frames.
func found(d *linkproto.Deframer, symbols []linkproto.Symbol) (words, frames []string) {
	for len(symbols) > 0 {
		ev, n := d.Next(symbols)
		symbols = symbols[n:]
		switch ev.Kind {
		case linkproto.EventWord:
			words = append(words, fmt.Sprint(ev.Word))
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
	words, frames := found(raw, symbols)
	none, rest := found(split, s.rest)
	if !slices.Equal(words, s.words) {
		s.t.Fatalf("words of %v:\n got %v\nwant %v", symbols, s.words, words)
	}
	if len(none) > 0 || !slices.Equal(frames, rest) {
		s.t.Fatalf("frames of %v:\n got %v\nwant %v", symbols, rest, frames)
	}
}

var someWords = []linkproto.Word{
	{Kind: linkproto.KindAck, Value: 0, Echo: 1},
	{Kind: linkproto.KindAck, Stop: true, Value: 255, Echo: 255},
	{Kind: linkproto.KindLost, Value: 0xBC, Echo: 0x1C},
	{Kind: linkproto.KindLost, Stop: true, Value: 7, Echo: 130},
	{Kind: linkproto.KindInit, Value: 1, Echo: 0},
	{Kind: linkproto.KindInit, Stop: true, Value: 0x5A, Echo: 0x9C},
}

// Every symbol there is, outside and inside a frame, and inside a word at each place.
func TestSplitSymbols(t *testing.T) {
	s := newSplitter(t)
	raw, split := linkproto.NewDeframer(64), linkproto.NewDeframer(64)
	for symbol := range linkproto.Symbol(512) {
		s.compare(raw, split, []linkproto.Symbol{symbol})
		s.compare(raw, split, []linkproto.Symbol{linkproto.SymSOP, 1, symbol, 2, linkproto.SymEOP})
		for at := range linkproto.WordSymbols {
			word := someWords[int(symbol)%len(someWords)].Symbols()
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
		for at := range linkproto.WordSymbols {
			for bit := range 9 {
				symbols := w.Symbols()
				symbols[at] ^= 1 << bit
				s.words = s.words[:0]
				s.feed(symbols[:])
				s.feed([]linkproto.Symbol{linkproto.SymIdle, linkproto.SymIdle, linkproto.SymSOP})
				for _, got := range s.words {
					if got != "bad" {
						t.Errorf("%v with bit %d of symbol %d wrong gives %v", w, bit, at, got)
					}
				}
				good := w.Symbols()
				s.words = s.words[:0]
				s.feed(good[:])
				if len(s.words) != 1 || s.words[0] != fmt.Sprint(w) {
					t.Fatalf("%v after a damaged one gives %v", w, s.words)
				}
			}
		}
	}
}

// Kind 3 and reserved bits make a word bad even with a right check.
func TestSplitReserved(t *testing.T) {
	s := newSplitter(t)
	raw, split := linkproto.NewDeframer(64), linkproto.NewDeframer(64)
	good := 0
	for b0 := range 256 {
		b := []byte{byte(b0), 3, 4}
		check := linkproto.CRC16(b)
		symbols := []linkproto.Symbol{linkproto.SymLSW}
		for _, x := range append(b, byte(check>>8), byte(check)) {
			symbols = append(symbols, linkproto.Data(x))
		}
		s.compare(raw, split, symbols)
		if s.words[0] != "bad" {
			good++
		}
	}
	check.Equal(t, "values of a word's first byte that are taken", good, 6)
}

// Random streams of frames and words in each other, with damage and idles, as the Go deframer reads them.
func TestSplitRandom(t *testing.T) {
	s := newSplitter(t)
	rng := s.b.Rand("stream")
	raw, split := linkproto.NewDeframer(64), linkproto.NewDeframer(64)
	for round := range 300 {
		s.gaps = testbench.Pick(rng, 0, 0, 0.3)
		var symbols []linkproto.Symbol
		for len(symbols) < 150 {
			piece := []linkproto.Symbol{linkproto.Symbol(rng.IntN(512))}
			switch rng.Weighted(4, 4, 1) {
			case 0:
				piece = linkproto.AppendFrame(nil, uint8(rng.IntN(256)), bytes.Repeat([]byte{byte(round)}, rng.Between(0, 66)))
			case 1:
				piece = linkproto.AppendWord(nil, someWords[rng.IntN(len(someWords))])
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
