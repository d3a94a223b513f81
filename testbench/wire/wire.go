// Package wire reads the symbols of a line, one a clock, as spans of a timing diagram: frames with their parts, link state words, and what
// is neither.
package wire

import (
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/timing"
)

// Spans decodes a line whose first symbol is that of clock from. Idle symbols make no span. What the line is sealed with is what most of its
// words are; without words any.
func Spans(line []linkproto.Symbol, from int) []timing.Span {
	r := &reader{deframer: newDeframer(), clock: from}
	if key, ok := keyOf(line); ok {
		r.deframer.SetKey(key)
	}
	for _, s := range line {
		r.symbol(s)
		r.clock++
	}
	if r.inFrame {
		r.add(timing.Frame, r.start, r.clock, "frame, not ended yet")
	}
	return r.spans
}

func newDeframer() *linkproto.Deframer {
	d := linkproto.NewDeframer(linkproto.MaxPacket(linkproto.MaxPageBytes))
	d.TakeAny()
	return d
}

// keyOf is the key of most words of a line.
func keyOf(line []linkproto.Symbol) (most linkproto.Key, ok bool) {
	count := map[linkproto.Key]int{}
	d := newDeframer()
	for len(line) > 0 {
		event, n := d.Next(line)
		line = line[n:]
		if event.Kind == linkproto.EventWord {
			key := event.Key
			if count[key]++; count[key] > count[most] {
				most, ok = key, true
			}
		}
	}
	return most, ok
}

type reader struct {
	deframer *linkproto.Deframer
	clock    int
	spans    []timing.Span
	start    int   // of the frame in progress
	at       []int // clocks of its data symbols
	data     []byte
	inFrame  bool
	word     int // of the word in progress: its first clock
	left     int // symbols that the word still wants
	bytes    []byte
}

func (r *reader) symbol(s linkproto.Symbol) {
	switch {
	case s == linkproto.SymLSW:
		r.word, r.left, r.bytes = r.clock, linkproto.WordSymbols-1, nil
	case s.IsData() && r.left > 0:
		if r.bytes = append(r.bytes, byte(s)); len(r.bytes) == 1 && linkproto.Kind(s>>linkproto.WordKindShift) == linkproto.KindInit {
			r.left = linkproto.InitSymbols - 1
		}
		r.left--
	case s.IsData() && r.inFrame:
		r.at, r.data = append(r.at, r.clock), append(r.data, byte(s))
	case s != linkproto.SymIdle:
		r.left = 0
	}
	for in := []linkproto.Symbol{s}; ; {
		event, n := r.deframer.Next(in)
		in = in[n:]
		r.event(event)
		if event.Kind == linkproto.EventNone {
			break
		}
	}
	switch {
	case s == linkproto.SymSOP:
		r.inFrame, r.start, r.at, r.data = true, r.clock, nil, nil
	case s == linkproto.SymAbort && r.inFrame:
		r.inFrame = false
		name := "frame"
		if len(r.data) > 0 {
			name = fmt.Sprintf("frame %d", r.data[0])
		}
		r.add(timing.Frame, r.start, r.clock+1, name+", taken back", "taken back")
	}
}

func (r *reader) event(e linkproto.Event) {
	switch e.Kind {
	case linkproto.EventFrame:
		r.frame(timing.Frame, r.clock+1, fmt.Sprintf("frame %d: %s", e.Seq, Describe(e.Payload)), fmt.Sprintf("%d: %s", e.Seq, Short(e.Payload)), Short(e.Payload))
	case linkproto.EventBadFrame:
		to := r.clock + 1
		if e.Reason == linkproto.FrameStart {
			to = r.clock
		}
		r.frame(timing.Fault, to, "dropped: "+e.Reason.Error(), "dropped")
	case linkproto.EventWord:
		r.said(fmt.Sprintf("%v %d %s", e.Word.Kind, e.Word.Value, state(e.Word.Stop)), e.Word.Kind)
	case linkproto.EventInit:
		r.said(fmt.Sprintf("INIT node %d, life %08x, %s", e.Init.Node, uint32(e.Init.Life), state(e.Init.Stop)), linkproto.KindInit)
	case linkproto.EventBadWord:
		r.add(timing.Fault, r.word, r.clock+1, e.Reason.Error(), "bad word")
	case linkproto.EventStray:
		r.add(timing.Fault, r.clock, r.clock+1, e.Reason.Error(), "stray")
	}
}

func (r *reader) add(kind timing.Kind, from, to int, labels ...string) {
	r.spans = append(r.spans, timing.Span{From: from, To: to, Kind: kind, Labels: labels})
}

// frame adds the frame in progress, with its parts if it is long enough to have them all.
func (r *reader) frame(kind timing.Kind, to int, labels ...string) {
	r.inFrame = false
	r.add(kind, r.start, to, labels...)
	f := &r.spans[len(r.spans)-1]
	part := func(name string, first, count int) {
		for count > 0 { // a piece for every stretch without a pause
			n := 1
			for n < count && r.at[first+n] == r.at[first+n-1]+1 {
				n++
			}
			bytes := r.data[first : first+n]
			f.Parts = append(f.Parts, timing.Span{From: r.at[first], To: r.at[first+n-1] + 1, Kind: kind,
				Labels: []string{name + " " + hex(bytes), hex(bytes), strings.ReplaceAll(hex(bytes), " ", ""), name}, Text: name + " " + hex(bytes)})
			first, count = first+n, count-n
		}
	}
	f.Parts = append(f.Parts, timing.Span{From: r.start, To: r.start + 1, Kind: kind, Labels: []string{"SOP", "S"}})
	if payload := len(r.data) - linkproto.SeqBytes - linkproto.CRCBytes; payload >= linkproto.HeaderBytes {
		part("seq", 0, linkproto.SeqBytes)
		for _, p := range fields(r.data[linkproto.SeqBytes : linkproto.SeqBytes+payload]) {
			part(p.name, linkproto.SeqBytes+p.at, p.bytes)
		}
		part("CRC", linkproto.SeqBytes+payload, linkproto.CRCBytes)
		f.Parts = append(f.Parts, timing.Span{From: to - 1, To: to, Kind: kind, Labels: []string{"EOP", "E"}})
	}
}

// hex writes bytes, many of them cut short.
func hex(b []byte) string {
	const most = 16
	if len(b) > most {
		return fmt.Sprintf("% X … (%d bytes)", b[:most-2], len(b))
	}
	return fmt.Sprintf("% X", b)
}

// said adds a word.
func (r *reader) said(text string, kind linkproto.Kind) {
	r.add(timing.Word, r.word, r.clock+1, text, kind.String())
	r.spans[len(r.spans)-1].Text = fmt.Sprintf("word %s (LSW % X)", text, r.bytes)
}

func state(stop bool) string {
	if stop {
		return "STOP"
	}
	return "GO"
}

type field struct {
	name      string
	at, bytes int
}

// fields takes a packet apart as its type says. The header is a field of its own, and a type that is unknown has one for the rest.
func fields(packet []byte) []field {
	list := []field{{"header", 0, linkproto.HeaderBytes}}
	at := linkproto.HeaderBytes
	if info := linkproto.Type(packet[0] & (1<<linkproto.TypeBits - 1)).Info(); info != nil {
		for _, f := range info.Fields {
			n := f.Bytes
			if n == 0 || at+n > len(packet) {
				n = len(packet) - at
			}
			list = append(list, field{f.Name, at, n})
			at += n
		}
	}
	if at < len(packet) {
		list = append(list, field{"rest", at, len(packet) - at})
	}
	return list
}

// Short names a packet's type.
func Short(packet []byte) string {
	return linkproto.Type(packet[0] & (1<<linkproto.TypeBits - 1)).String()
}

// Describe writes a packet in a line: its type and what its fields hold.
func Describe(packet []byte) string {
	if len(packet) < linkproto.HeaderBytes {
		return fmt.Sprintf("%d bytes, no packet", len(packet))
	}
	var b strings.Builder
	b.WriteString(Short(packet))
	if via := packet[0] >> linkproto.TypeBits; via > 0 {
		fmt.Fprintf(&b, " via %d", via)
	}
	for i, f := range fields(packet)[1:] {
		if i > 0 {
			b.WriteString(",")
		}
		content := packet[f.at : f.at+f.bytes]
		switch {
		case f.name == "packet" && f.bytes >= linkproto.HeaderBytes:
			fmt.Fprintf(&b, " of %s", Describe(content))
		case f.name == "data", f.name == "rest", f.name == "params", f.bytes > 4:
			fmt.Fprintf(&b, " %d bytes", f.bytes)
		case f.bytes == 0: // the packet ends before
			fmt.Fprintf(&b, " no %s", f.name)
		case f.name == "addr", f.name == "reg", f.name == "value":
			fmt.Fprintf(&b, " %s %#x", f.name, number(content))
		case f.name == "status":
			fmt.Fprintf(&b, " %v", linkproto.Status(content[0]))
		default:
			fmt.Fprintf(&b, " %s %d", f.name, number(content))
		}
	}
	return b.String()
}

func number(little []byte) (v uint64) {
	for i, x := range little {
		v |= uint64(x) << (8 * i)
	}
	return v
}
