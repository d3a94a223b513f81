package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/timing"
	"github.com/stafflink/lmmc/testbench/wire"
)

const key = 0x5EA1ED00

func frame(t *testing.T, seq uint8, p linkproto.Packet) []linkproto.Symbol {
	t.Helper()
	packet := check.Must(p.Append(nil))(t)
	return linkproto.AppendFrame(nil, key, seq, packet)
}

// summary writes spans as "kind from-to text".
func summary(spans []timing.Span) []string {
	var list []string
	for _, s := range spans {
		text := s.Text
		if text == "" {
			text = s.Labels[0]
		}
		list = append(list, fmt.Sprintf("%s %d-%d %s", s.Kind, s.From, s.To, text))
	}
	return list
}

func TestSpans(t *testing.T) {
	idle := linkproto.SymIdle
	ack := linkproto.Word{Kind: linkproto.KindAck, Value: 3, Stop: true}.Symbols(key)
	init := linkproto.Init{Version: linkproto.Version, Node: 5, Life: 6, Lanes: 1}.Symbols()
	write := frame(t, 3, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 0x40, Data: []byte{1, 2}})
	interrupted := append(append(append([]linkproto.Symbol{}, write[:6]...), ack[:]...), write[6:]...)
	damaged := append([]linkproto.Symbol{}, write...)
	damaged[10] ^= 1
	abort := []linkproto.Symbol{linkproto.SymAbort}
	badWord := ack
	badWord[2] ^= 1
	for _, test := range []struct {
		name string
		line []linkproto.Symbol
		want []string
	}{
		{"nothing", []linkproto.Symbol{idle, idle}, nil},
		{"a frame", append([]linkproto.Symbol{idle}, write...), []string{"frame 101-117 frame 3: WRITE addr 0x40, 2 bytes"}},
		{"a word", ack[:], []string{"word 100-107 word ACK 3 STOP (LSW 20 03 A1 5E 9D CA)"}},
		{"INIT", init[:], []string{"word 100-113 word INIT node 5, life 00000006, GO (LSW 80 03 05 00 06 00 00 00 00 00 ED 16)"}},
		{"a word in a frame", interrupted, []string{"word 106-113 word ACK 3 STOP (LSW 20 03 A1 5E 9D CA)", "frame 100-123 frame 3: WRITE addr 0x40, 2 bytes"}},
		{"a damaged frame", append(damaged, ack[:]...), []string{"fault 100-116 dropped: frame: wrong CRC", "word 116-123 word ACK 3 STOP (LSW 20 03 A1 5E 9D CA)"}},
		{"a damaged word", slices.Concat(ack[:], badWord[:], ack[:]), []string{"word 100-107 word ACK 3 STOP (LSW 20 03 A1 5E 9D CA)",
			"fault 107-114 link state word: wrong check or another life", "word 114-121 word ACK 3 STOP (LSW 20 03 A1 5E 9D CA)"}},
		{"a frame given up", append(append([]linkproto.Symbol{}, write[:5]...), write...),
			[]string{"fault 100-105 dropped: frame: another one starts inside", "frame 105-121 frame 3: WRITE addr 0x40, 2 bytes"}},
		{"a frame taken back", slices.Concat(write[:9], abort, abort, write),
			[]string{"frame 100-110 frame 3, taken back", "frame 111-127 frame 3: WRITE addr 0x40, 2 bytes"}},
		{"a frame taken back at once", slices.Concat(write[:1], abort), []string{"frame 100-102 frame, taken back"}},
		{"a frame taken back in a word", slices.Concat(write[:9], ack[:4], abort),
			[]string{"fault 109-114 link state word: cut off by a control symbol", "frame 100-114 frame 3, taken back"}},
		{"a frame that goes on", write[:9], []string{"frame 100-109 frame, not ended yet"}},
		{"stray data", []linkproto.Symbol{7}, []string{"fault 100-101 data symbol outside a frame"}},
	} {
		check.Equal(t, test.name, summary(wire.Spans(test.line, 100)), test.want)
	}
}

// TestParts holds that the parts of a frame are all its symbols, in order, also around a word.
func TestParts(t *testing.T) {
	write := frame(t, 3, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 0x40, Data: []byte{1, 2}})
	spans := wire.Spans(write, 0)
	want := []string{"frame 0-1 SOP", "frame 1-2 seq 03", "frame 2-5 header 01 06 00", "frame 5-9 addr 40 00 00 00", "frame 9-11 data 01 02"}
	have := summary(spans[0].Parts)
	check.Equal(t, "parts", have[:min(5, len(have))], want)
	if len(have) != 7 || !strings.HasPrefix(have[5], "frame 11-15 CRC ") || have[6] != "frame 15-16 EOP" {
		t.Errorf("parts end with %q", have[5:])
	}
}

func TestDescribe(t *testing.T) {
	trapping := linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 7}
	page := check.Must(trapping.Append(nil))(t)
	for want, p := range map[string]linkproto.Packet{
		"TRAP via 1 of PAGE frame 2, port 7":   {Type: linkproto.TypeTrap, Via: 1, Data: page},
		"DONE tag 4, NOT_TRAPPED":              {Type: linkproto.TypeDone, Tag: 4, Status: linkproto.StatusNotTrapped},
		"NOTIFY frame 1, first 64, last 67":    {Type: linkproto.TypeNotify, Frame: 1, First: 64, Last: 67},
		"REG_WRITE tag 0, reg 0x30, value 0x1": {Type: linkproto.TypeRegWrite, Reg: 0x30, Value: 1},
		"BUF_READ tag 0, addr 0x400, count 80": {Type: linkproto.TypeBufRead, Addr: 0x400, Count: 80},
		"CONNECT port 5, 3 bytes":              {Type: linkproto.TypeConnect, Port: 5, Data: []byte("abc")},
	} {
		packet := check.Must(p.Append(nil))(t)
		check.Equal(t, fmt.Sprint(p.Type), wire.Describe(packet), want)
	}
	check.Equal(t, "a byte", wire.Describe([]byte{1}), "1 bytes, no packet")
	check.Equal(t, "an unknown type", wire.Describe([]byte{0x1F, 2, 0, 8, 9}), "TYPE(0x1F) 2 bytes")
}

// TestDescribeShort: a packet that ends before its fields is described as far as it goes.
func TestDescribeShort(t *testing.T) {
	for text, packet := range map[string][]byte{
		"DONE tag 5, no status":              {byte(linkproto.TypeDone), 1, 0, 5},
		"DONE no tag, no status":             {byte(linkproto.TypeDone), 0, 0},
		"WRITE no addr, 0 bytes":             {byte(linkproto.TypeWrite), 0, 0},
		"REG_DATA tag 5, reg 0x77, no value": {byte(linkproto.TypeRegData), 2, 0, 5, 0x77},
		"2 bytes, no packet":                 {byte(linkproto.TypeDone), 0},
	} {
		check.Equal(t, "packet", wire.Describe(packet), text)
	}
}
