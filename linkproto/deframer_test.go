package linkproto_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

const maxPacket = 20

// key is the receiver's life.
const key linkproto.Key = 0x12345678

// describe runs symbols through a Deframer in pieces of so many symbols and writes each event as a word or two.
func describe(symbols []linkproto.Symbol, piece int) []string {
	d := linkproto.NewDeframer(maxPacket)
	d.SetKey(key)
	events := []string{}
	for part := range slices.Chunk(symbols, piece) {
		for len(part) > 0 {
			ev, n := d.Next(part)
			part = part[n:]
			switch ev.Kind {
			case linkproto.EventFrame:
				events = append(events, fmt.Sprintf("frame %d %s", ev.Seq, ev.Payload))
			case linkproto.EventWord:
				events = append(events, fmt.Sprintf("%v %d", ev.Word.Kind, ev.Word.Value))
			case linkproto.EventInit:
				events = append(events, fmt.Sprintf("INIT %d %x", ev.Init.Node, ev.Init.Life))
			case linkproto.EventNone:
			default:
				events = append(events, ev.Reason.Error())
			}
		}
	}
	return events
}

func frame(seq uint8, payload string) []linkproto.Symbol {
	return linkproto.AppendFrame(nil, key, seq, []byte(payload))
}

func word(value uint8) []linkproto.Symbol {
	return linkproto.AppendWord(nil, key, linkproto.Word{Kind: linkproto.KindAck, Value: value})
}

// initOf is an INIT of a version of the protocol.
func initOf(version uint8) []linkproto.Symbol {
	return linkproto.AppendInit(nil, linkproto.Init{Version: version, Node: 513, Life: 0xABCDEF01, Page: 10, Routes: true, Lanes: 8, Lane: 7})
}

// insert puts symbols into s before position at.
func insert(s []linkproto.Symbol, at int, symbols ...linkproto.Symbol) []linkproto.Symbol {
	return slices.Insert(slices.Clone(s), at, symbols...)
}

func TestDeframer(t *testing.T) {
	badCRC := frame(1, "abc")
	badCRC[3] ^= 1
	wrong, wrongKey := word(0), linkproto.AppendWord(nil, key^1<<31, linkproto.Word{})
	wrong[5] ^= 1
	reserved := linkproto.AppendWord(nil, key, linkproto.Word{Group: 1})
	wrongInit, lane := initOf(linkproto.Version), linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Lanes: 1, Lane: 1})
	wrongInit[7] ^= 1
	old := append([]linkproto.Symbol{linkproto.SymLSW}, checked(0x80, 7, 0)...)
	abort := []linkproto.Symbol{linkproto.SymAbort}
	for _, c := range []struct {
		name string
		in   []linkproto.Symbol
		want []string
	}{
		{"frame", frame(7, "abc"), []string{"frame 7 abc"}},
		{"longest", frame(7, strings.Repeat("x", maxPacket)), []string{"frame 7 " + strings.Repeat("x", maxPacket)}},
		{"too short", frame(7, "ab"), []string{linkproto.FrameShort.Error()}},
		{"empty", []linkproto.Symbol{linkproto.SymSOP, linkproto.SymEOP}, []string{linkproto.FrameShort.Error()}},
		{"wrong CRC", badCRC, []string{linkproto.FrameCRC.Error()}},
		{"too long", frame(7, strings.Repeat("x", maxPacket+1)),
			[]string{linkproto.FrameLong.Error(), linkproto.StrayEOP.Error()}},
		{"idle anywhere", insert(insert(frame(1, "abc"), 4, linkproto.SymIdle), 1, linkproto.SymIdle), []string{"frame 1 abc"}},
		{"idle in a word", insert(word(9), 3, linkproto.SymIdle), []string{"ACK 9"}},
		{"word in a frame", insert(frame(1, "abc"), 3, word(9)...), []string{"ACK 9", "frame 1 abc"}},
		{"words at a frame's ends", slices.Concat(word(1), insert(frame(1, "abc"), 1, word(2)...), word(3)),
			[]string{"ACK 1", "ACK 2", "frame 1 abc", "ACK 3"}},
		{"SOP in a frame", slices.Concat(frame(1, "abc")[:5], frame(2, "def")),
			[]string{linkproto.FrameStart.Error(), "frame 2 def"}},
		{"ERR in a frame", insert(frame(1, "abc"), 9, linkproto.SymErr),
			[]string{linkproto.FrameSymbol.Error(), linkproto.StrayEOP.Error()}},
		{"unknown K in a frame", insert(frame(1, "abc"), 9, 0x1F7),
			[]string{linkproto.FrameSymbol.Error(), linkproto.StrayEOP.Error()}},
		{"symbol of ten bits", insert(frame(1, "abc"), 9, 0x261),
			[]string{linkproto.FrameSymbol.Error(), linkproto.StrayEOP.Error()}},
		{"ERR outside", []linkproto.Symbol{linkproto.SymErr}, []string{}},
		{"stray", []linkproto.Symbol{5, linkproto.SymEOP}, []string{linkproto.StrayData.Error(), linkproto.StrayEOP.Error()}},
		{"word check", wrong, []string{linkproto.WordCheck.Error()}},
		{"word reserved bits", reserved, []string{linkproto.WordReservedBits.Error()}},
		{"word for another life", wrongKey, []string{linkproto.WordCheck.Error()}},
		{"frame for another life", linkproto.AppendFrame(nil, key^1, 7, []byte("abc")), []string{linkproto.FrameCRC.Error()}},
		{"barrier", linkproto.AppendWord(nil, key, linkproto.Word{Kind: linkproto.KindBarrier, Group: 31, Value: 7}), []string{"BARRIER 7"}},
		{"INIT", initOf(linkproto.Version), []string{"INIT 513 abcdef01"}},
		{"INIT in a frame", insert(frame(1, "abc"), 3, initOf(linkproto.Version)...), []string{"INIT 513 abcdef01", "frame 1 abc"}},
		{"INIT check", wrongInit, []string{linkproto.WordCheck.Error()}},
		{"INIT of a lane that is not", lane, []string{linkproto.WordReservedBits.Error()}},
		{"INIT of the next version", initOf(linkproto.Version + 1), []string{linkproto.WordVersion.Error()}},
		{"INIT of version 2", slices.Concat(old, old, word(1)), []string{linkproto.WordVersion.Error(), linkproto.WordVersion.Error(), "ACK 1"}},
		{"word cut by a word", slices.Concat(word(1)[:3], word(2)), []string{linkproto.WordCut.Error(), "ACK 2"}},
		{"word cut by the frame's end", insert(frame(1, "abc"), 9, word(1)[:1]...),
			[]string{linkproto.WordCut.Error(), "frame 1 abc"}},
		{"word and frame cut by SOP", slices.Concat(frame(1, "abc")[:4], word(1)[:3], frame(2, "def")),
			[]string{linkproto.WordCut.Error(), linkproto.FrameStart.Error(), "frame 2 def"}},
		{"word and frame cut by ERR", slices.Concat(frame(1, "abc")[:4], word(1)[:3], []linkproto.Symbol{linkproto.SymErr}),
			[]string{linkproto.WordCut.Error(), linkproto.FrameSymbol.Error()}},
		{"frame taken back", slices.Concat(frame(1, "abc")[:5], abort, frame(1, "def")), []string{"frame 1 def"}},
		{"frame taken back at once", slices.Concat(frame(1, "abc")[:1], abort, frame(1, "def")), []string{"frame 1 def"}},
		{"frame taken back before its EOP", slices.Concat(frame(1, "abc")[:9], abort, frame(1, "def")), []string{"frame 1 def"}},
		{"longest frame taken back", slices.Concat(frame(1, strings.Repeat("x", maxPacket))[:2+maxPacket+4], abort, frame(1, "def")),
			[]string{"frame 1 def"}},
		{"frame taken back behind a word", slices.Concat(frame(1, "abc")[:5], word(9), abort, frame(1, "def")), []string{"ACK 9", "frame 1 def"}},
		{"what follows a frame taken back", slices.Concat(frame(1, "abc")[:5], abort, []linkproto.Symbol{5, linkproto.SymEOP}),
			[]string{linkproto.StrayData.Error(), linkproto.StrayEOP.Error()}},
		{"ABORT outside", slices.Concat(abort, frame(1, "abc"), abort, abort, frame(2, "def"), abort), []string{"frame 1 abc", "frame 2 def"}},
		{"ABORT in a word", slices.Concat(word(9)[:4], abort, word(1)), []string{linkproto.WordCut.Error(), "ACK 1"}},
		{"ABORT in a word in a frame", slices.Concat(frame(1, "abc")[:5], word(9)[:4], abort, frame(1, "def")),
			[]string{linkproto.WordCut.Error(), "frame 1 def"}},
		{"ABORT behind ERR in a frame", slices.Concat(frame(1, "abc")[:5], []linkproto.Symbol{linkproto.SymErr}, abort, frame(1, "def")),
			[]string{linkproto.FrameSymbol.Error(), "frame 1 def"}},
		{"ABORT of a frame too long", slices.Concat(frame(1, strings.Repeat("x", maxPacket+1))[:2+maxPacket+5], abort, frame(1, "def")),
			[]string{linkproto.FrameLong.Error(), "frame 1 def"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, piece := range []int{1, 3, 1000} {
				check.Equal(t, fmt.Sprintf("in pieces of %d", piece), describe(c.in, piece), c.want)
			}
		})
	}
}

// checked returns the five symbols after LSW for these three bytes.
func checked(b ...byte) []linkproto.Symbol {
	crc := linkproto.CRC16(b)
	out := []linkproto.Symbol{}
	for _, x := range append(b, byte(crc>>8), byte(crc)) {
		out = append(out, linkproto.Data(x))
	}
	return out
}

// TestTakeAny: who has no key takes what is whole, until there is one.
func TestTakeAny(t *testing.T) {
	d := linkproto.NewDeframer(maxPacket)
	d.TakeAny()
	for _, want := range []linkproto.EventKind{linkproto.EventWord, linkproto.EventBadWord} {
		if ev, _ := d.Next(word(1)); ev.Kind != want || ev.Word.Value != 1 && want == linkproto.EventWord {
			t.Errorf("word: %+v", ev)
		}
		if ev, _ := d.Next(frame(1, "abc")); ev.Kind != want-1 && ev.Kind != linkproto.EventBadFrame {
			t.Errorf("frame: %+v", ev)
		}
		d.SetKey(key ^ 1)
	}
}

func TestDropFrame(t *testing.T) {
	d := linkproto.NewDeframer(maxPacket)
	d.SetKey(key)
	f := frame(3, "abcdefgh")
	d.Next(f[:10])
	if seq, n, ok := d.Pending(); seq != 3 || n != 4 || !ok {
		t.Errorf("Pending: %d %d %v", seq, n, ok)
	}
	d.DropFrame()
	if _, _, ok := d.Pending(); ok {
		t.Error("a dropped frame is pending")
	}
	for _, end := range [][]linkproto.Symbol{f[10:], {1, linkproto.SymErr}, {linkproto.SymSOP}, make([]linkproto.Symbol, maxPacket+1)} {
		d.Reset()
		d.Next(f[:10])
		d.DropFrame()
		if ev, n := d.Next(end); ev.Kind != linkproto.EventStray || ev.Reason != linkproto.StrayFrame || n > len(end) {
			t.Errorf("%x: %+v after %d", end, ev, n)
		}
	}
	d.Reset()
	d.Next(f[:10])
	d.DropFrame()
	if ev, n := d.Next(slices.Concat([]linkproto.Symbol{linkproto.SymAbort}, f)); ev.Kind != linkproto.EventFrame || n != 1+len(f) {
		t.Errorf("behind the ABORT of a dropped frame: %+v after %d", ev, n)
	}
}

// FuzzDeframer: any symbols in any pieces give the same events, and consuming ends.
func FuzzDeframer(f *testing.F) {
	for _, s := range [][]linkproto.Symbol{frame(1, "abc"), word(3), insert(frame(1, "abc"), 3, word(9)...),
		insert(frame(1, "abc"), 3, linkproto.SymAbort), {0x1FE, 0x3FF}} {
		f.Add(linkproto.AppendStuffed(nil, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var u linkproto.Unstuffer
		s := u.Append(nil, b)
		check.Equal(t, "the whole at once, and symbol by symbol", describe(s, len(s)+1), describe(s, 1))
	})
}

// FuzzWord: what decodes encodes to the same symbols, and its key alone fits.
func FuzzWord(f *testing.F) {
	f.Add([]byte{0x60, 1, 0x34, 0x12, 3, 4}, uint32(key))
	f.Add([]byte{0x80, linkproto.Version, 1, 2, 3, 4, 5, 6, 10, 0, 7, 8}, uint32(key))
	f.Fuzz(func(t *testing.T, b []byte, k uint32) {
		var word [linkproto.WordSymbols - 1]byte
		var init [linkproto.InitSymbols - 1]byte
		key := linkproto.Key(k)
		copy(word[:], b)
		copy(init[:], b)
		// As it comes, and as it would be right.
		right := linkproto.Word{Kind: linkproto.Kind(word[0] >> linkproto.WordKindShift), Stop: word[0]>>linkproto.WordStopBit&1 != 0, Value: word[1]}.Symbols(key)
		for _, b := range [][len(word)]byte{word, [len(word)]byte(bytesOf(right[1:]))} {
			if w, reason := linkproto.DecodeWord(b, key); reason == linkproto.ReasonNone {
				s := w.Symbols(key)
				check.Equal(t, fmt.Sprintf("%+v", w), bytesOf(s[1:]), b[:])
				check.Equal(t, "key", linkproto.WordKey(b), key)
				if _, reason := linkproto.DecodeWord(b, key^1<<(k%32)); reason != linkproto.WordCheck {
					t.Errorf("%x is for another life too: %v", b, reason)
				}
			}
		}
		for range 2 {
			if w, reason := linkproto.DecodeInit(init); reason == linkproto.ReasonNone {
				s := w.Symbols()
				check.Equal(t, fmt.Sprintf("%+v", w), bytesOf(s[1:]), init[:])
			}
			binary.BigEndian.PutUint16(init[linkproto.InitCheckAt:], linkproto.CRC16(init[:linkproto.InitCheckAt]))
		}
	})
}

// bytesOf are the bytes of data symbols.
func bytesOf(symbols []linkproto.Symbol) []byte {
	b := make([]byte, len(symbols))
	for i, s := range symbols {
		b[i] = byte(s)
	}
	return b
}

func BenchmarkDeframer(b *testing.B) {
	payload := make([]byte, 1032)
	s := linkproto.AppendFrame(nil, 0, 1, payload)
	d := linkproto.NewDeframer(len(payload))
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		if ev, _ := d.Next(s); ev.Kind != linkproto.EventFrame {
			b.Fatalf("%+v", ev)
		}
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	payload := make([]byte, 1032)
	s := linkproto.AppendFrame(nil, 0, 1, payload)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		s = linkproto.AppendFrame(s[:0], 0, 1, payload)
	}
}
