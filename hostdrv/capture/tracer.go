package capture

import "github.com/stafflink/lmmc/linkproto"

// tracer tells the requests to the trace buffer, by which lmmc trace looks at it, and their answers from all others.
type tracer struct {
	out, in half
	tags    [256]bool // the last request with this tag was to the trace buffer
	line    []linkproto.Symbol
}

// half is one direction of a cable, as the tracer knows it.
type half struct {
	frames *linkproto.Deframer
	hidden [256]bool      // by sequence number: the last frame was of the tracer
	said   linkproto.Word // the last word
	life   linkproto.Life // of the end that sends; 0 until an INIT is seen
}

// neverSaid differs from every word.
var neverSaid = linkproto.Word{Kind: linkproto.KindInit}

// hides reports whether a record is there for the tracer alone: a frame of it, or a word that acknowledges nothing but such frames. Words inside
// a frame that is hidden are lost with it: the sender repeats what they say.
func (t *tracer) hides(way byte, stuffed []byte) (hidden bool) {
	here, there := &t.out, &t.in
	if way == received {
		here, there = there, here
	}
	for _, h := range []*half{here, there} {
		if h.frames == nil {
			h.frames = linkproto.NewDeframer(linkproto.MaxPacket(linkproto.MaxPageBytes))
			h.frames.TakeAny() // until an INIT is seen
			h.said = neverSaid
		}
	}
	t.line = new(linkproto.Unstuffer).Append(t.line[:0], stuffed)
	for symbols := t.line; len(symbols) > 0; {
		event, n := here.frames.Next(symbols)
		symbols = symbols[n:]
		switch event.Kind {
		case linkproto.EventFrame:
			hidden = t.owns(event.Payload)
			here.hidden[event.Seq] = hidden
		case linkproto.EventWord:
			hidden = event.Word.Kind == linkproto.KindAck && here.acknowledges(event.Word, there)
			here.said = event.Word
		case linkproto.EventInit:
			if here.life = event.Init.Life; there.life != 0 {
				key := linkproto.KeyOf(there.life, here.life)
				here.frames.SetKey(key)
				there.frames.SetKey(key.Back())
			}
			here.said, hidden = neverSaid, false
		case linkproto.EventNone:
		default:
			hidden = false
		}
	}
	return hidden
}

// acknowledges reports whether a word differs from the last one by the acknowledgement of hidden frames alone.
func (h *half) acknowledges(w linkproto.Word, there *half) bool {
	seq := h.said.Value
	h.said.Value = w.Value
	if w != h.said {
		return false
	}
	for ; seq != w.Value; seq++ {
		if !there.hidden[seq] {
			return false
		}
	}
	return true
}

// owns reports whether a packet is a request to the trace buffer, or the answer to one.
func (t *tracer) owns(payload []byte) bool {
	var p linkproto.Packet
	if p.Decode(payload) != nil {
		return false
	}
	switch p.Type {
	case linkproto.TypeRegRead, linkproto.TypeRegWrite:
		ring := p.Reg >= linkproto.RegTraceRing
		t.tags[p.Tag] = ring || p.Reg >= linkproto.RegTrace && p.Reg < linkproto.RegTrace+linkproto.Reg(len(linkproto.TraceRegs))
	case linkproto.TypeBufRead, linkproto.TypeBufWrite, linkproto.TypeResume, linkproto.TypeRetrap:
		t.tags[p.Tag] = false
	case linkproto.TypeRegData, linkproto.TypeDone:
	default:
		return false
	}
	return t.tags[p.Tag]
}
