package linkproto

import "encoding/binary"

// EventKind says what a Deframer found.
type EventKind uint8

// What a Deframer finds.
const (
	EventNone     EventKind = iota // the input ended, nothing to report
	EventFrame                     // Seq and Payload
	EventWord                      // Word
	EventBadFrame                  // Reason
	EventBadWord                   // Reason
	EventStray                     // Reason: a data symbol or an EOP outside a frame, or the end of a frame that was dropped
)

// Event is one thing a Deframer found. Only the members named at its kind are meaningful.
type Event struct {
	Kind    EventKind
	Reason  Reason
	Seq     uint8
	Payload []byte // in the Deframer's buffer: valid until the next call
	Word    Word
}

// Deframer takes a stream of received symbols apart into frames and link state words. It accepts any input. Words may
// stand between any two symbols of a frame, IDLE between any two symbols at all.
type Deframer struct {
	buf     []byte // of the frame in progress: sequence number, payload, CRC; as long as the longest frame
	n       int    // bytes of buf received
	inFrame bool
	dropped bool // the frame in progress was
	inWord  bool
	word    [WordSymbols - 1]byte
	wordN   int
}

// NewDeframer returns a Deframer that drops frames with a payload of more than maxPacket bytes.
func NewDeframer(maxPacket int) *Deframer {
	return &Deframer{buf: make([]byte, SeqBytes+max(maxPacket, MinPacket)+CRCBytes)}
}

// Next consumes symbols up to the first event, which it returns with the number of symbols consumed. The kind is
// EventNone exactly if all of the input was consumed without an event. One symbol can cause two events (an SOP that
// cuts off a word and a frame): the call that returns the first may consume nothing.
func (d *Deframer) Next(in []Symbol) (Event, int) {
	for i := 0; i < len(in); {
		if d.inFrame && !d.inWord {
			i += d.copyData(in[i:])
			if i == len(in) {
				break
			}
		}
		s := in[i]
		if s == SymIdle {
			i++
			continue
		}
		if d.inWord {
			if !s.IsData() {
				d.inWord = false
				return Event{Kind: EventBadWord, Reason: WordCut}, i
			}
			i++
			if ev, done := d.wordByte(byte(s)); done {
				return ev, i
			}
			continue
		}
		i++
		if ev, done := d.symbol(s); done {
			return ev, i
		}
	}
	return Event{}, len(in)
}

// copyData takes data symbols into the frame in progress, until another symbol comes or the frame is full.
func (d *Deframer) copyData(in []Symbol) int {
	dst := d.buf[d.n:]
	if len(in) < len(dst) {
		dst = dst[:len(in)]
	}
	in = in[:len(dst)]
	for i, s := range in {
		if !s.IsData() {
			d.n += i
			return i
		}
		dst[i] = byte(s)
	}
	d.n += len(dst)
	return len(dst)
}

func (d *Deframer) wordByte(b byte) (Event, bool) {
	d.word[d.wordN] = b
	d.wordN++
	if d.wordN < len(d.word) {
		return Event{}, false
	}
	d.inWord = false
	w, reason := DecodeWord(d.word)
	if reason != ReasonNone {
		return Event{Kind: EventBadWord, Reason: reason}, true
	}
	return Event{Kind: EventWord, Word: w}, true
}

// symbol handles a symbol that is neither part of a word nor data that fits the frame in progress.
func (d *Deframer) symbol(s Symbol) (Event, bool) {
	if s == SymLSW {
		d.inWord, d.wordN = true, 0
		return Event{}, false
	}
	wasIn, dropped := d.inFrame, d.dropped
	d.inFrame, d.dropped = s == SymSOP, false
	if d.inFrame {
		d.n = 0
	}
	switch {
	case wasIn && dropped:
		return Event{Kind: EventStray, Reason: StrayFrame}, true
	case s == SymSOP:
		return Event{Kind: EventBadFrame, Reason: FrameStart}, wasIn
	case s == SymEOP && wasIn:
		return d.frame(), true
	case s == SymEOP:
		return Event{Kind: EventStray, Reason: StrayEOP}, true
	case s.IsData() && wasIn:
		return Event{Kind: EventBadFrame, Reason: FrameLong}, true
	case s.IsData():
		return Event{Kind: EventStray, Reason: StrayData}, true
	default: // ERR, or a K symbol without a meaning
		return Event{Kind: EventBadFrame, Reason: FrameSymbol}, wasIn
	}
}

// frame judges the frame in progress at its EOP.
func (d *Deframer) frame() Event {
	end := d.n - CRCBytes
	if end < SeqBytes+MinPacket {
		return Event{Kind: EventBadFrame, Reason: FrameShort}
	}
	if CRC32C(0, d.buf[:end]) != binary.LittleEndian.Uint32(d.buf[end:]) {
		return Event{Kind: EventBadFrame, Reason: FrameCRC}
	}
	return Event{Kind: EventFrame, Seq: d.buf[0], Payload: d.buf[SeqBytes:end:end]}
}

// Pending returns the sequence number of the frame in progress and how many payload bytes it has brought so far for
// certain (the last four bytes may yet be its CRC). ok is false if there is none whose number has arrived.
func (d *Deframer) Pending() (seq uint8, payload int, ok bool) {
	if !d.inFrame || d.dropped || d.n == 0 {
		return 0, 0, false
	}
	return d.buf[0], max(d.n-SeqBytes-CRCBytes, 0), true
}

// DropFrame drops the frame in progress: whatever is still to come of it, its end is an EventStray, the one event it causes.
func (d *Deframer) DropFrame() { d.dropped = d.inFrame }

// Reset forgets frame and word in progress.
func (d *Deframer) Reset() { d.inFrame, d.dropped, d.inWord = false, false, false }
