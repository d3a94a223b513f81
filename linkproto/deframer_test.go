package linkproto_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

const maxPacket = 20

// describe runs symbols through a Deframer in pieces of so many symbols and writes each event as a word or two.
func describe(symbols []linkproto.Symbol, piece int) []string {
	d := linkproto.NewDeframer(maxPacket)
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
			case linkproto.EventNone:
			default:
				events = append(events, ev.Reason.Error())
			}
		}
	}
	return events
}

func frame(seq uint8, payload string) []linkproto.Symbol {
	return linkproto.AppendFrame(nil, seq, []byte(payload))
}

func word(value uint8) []linkproto.Symbol {
	return linkproto.AppendWord(nil, linkproto.Word{Kind: linkproto.KindAck, Value: value})
}

// insert puts symbols into s before position at.
func insert(s []linkproto.Symbol, at int, symbols ...linkproto.Symbol) []linkproto.Symbol {
	return slices.Insert(slices.Clone(s), at, symbols...)
}

func TestDeframer(t *testing.T) {
	badCRC := frame(1, "abc")
	badCRC[3] ^= 1
	reserved, kind3, wrong := word(0), word(0), word(0)
	copy(reserved[1:], checked(0x01, 0, 0))
	copy(kind3[1:], checked(0xC0, 0, 0))
	wrong[5] ^= 1
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
		{"word kind", kind3, []string{linkproto.WordKind.Error()}},
		{"word cut by a word", slices.Concat(word(1)[:3], word(2)), []string{linkproto.WordCut.Error(), "ACK 2"}},
		{"word cut by the frame's end", insert(frame(1, "abc"), 9, word(1)[:1]...),
			[]string{linkproto.WordCut.Error(), "frame 1 abc"}},
		{"word and frame cut by SOP", slices.Concat(frame(1, "abc")[:4], word(1)[:3], frame(2, "def")),
			[]string{linkproto.WordCut.Error(), linkproto.FrameStart.Error(), "frame 2 def"}},
		{"word and frame cut by ERR", slices.Concat(frame(1, "abc")[:4], word(1)[:3], []linkproto.Symbol{linkproto.SymErr}),
			[]string{linkproto.WordCut.Error(), linkproto.FrameSymbol.Error()}},
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

func TestDropFrame(t *testing.T) {
	d := linkproto.NewDeframer(maxPacket)
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
}

// FuzzDeframer: any symbols in any pieces give the same events, and consuming ends.
func FuzzDeframer(f *testing.F) {
	for _, s := range [][]linkproto.Symbol{frame(1, "abc"), word(3), insert(frame(1, "abc"), 3, word(9)...), {0x1FE, 0x3FF}} {
		f.Add(linkproto.AppendStuffed(nil, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var u linkproto.Unstuffer
		s := u.Append(nil, b)
		check.Equal(t, "the whole at once, and symbol by symbol", describe(s, len(s)+1), describe(s, 1))
	})
}

// FuzzWord: what decodes encodes to the same symbols.
func FuzzWord(f *testing.F) {
	f.Add(byte(0x60), byte(1), byte(2), byte(3), byte(4))
	f.Fuzz(func(t *testing.T, b0, b1, b2, b3, b4 byte) {
		check := linkproto.CRC16([]byte{b0, b1, b2})
		for _, b := range [][5]byte{{b0, b1, b2, b3, b4}, {b0, b1, b2, byte(check >> 8), byte(check)}} {
			w, reason := linkproto.DecodeWord(b)
			if reason != linkproto.ReasonNone {
				continue
			}
			for i, s := range w.Symbols() {
				if i > 0 && s != linkproto.Data(b[i-1]) {
					t.Fatalf("%x decodes to %+v", b, w)
				}
			}
		}
	})
}

func BenchmarkDeframer(b *testing.B) {
	payload := make([]byte, 1032)
	s := linkproto.AppendFrame(nil, 1, payload)
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
	s := linkproto.AppendFrame(nil, 1, payload)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		s = linkproto.AppendFrame(s[:0], 1, payload)
	}
}
