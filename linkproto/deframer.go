package linkproto

import "encoding/binary"

// EventKind says what a Deframer found.
type EventKind uint8

// What a Deframer finds.
const (
	EventNone     EventKind = iota // the input ended, nothing to report
	EventFrame                     // Seq and Payload
	EventWord                      // Word
	EventInit                      // Init
	EventBadFrame                  // Reason
	EventBadWord                   // Reason, and Word.Kind as it came
	EventStray                     // Reason: a data symbol or an EOP outside a frame, or the end of a frame that was dropped
)

// Event is one thing a Deframer found. Only the members named at its kind are meaningful.
type Event struct {
	Kind    EventKind
	Reason  Reason
	Seq     uint8
	Payload []byte // in the Deframer's buffer: valid until the next call
	Word    Word
	Init    Init
	Key     Key // of a Word: what it is sealed with
}

// Deframer takes a stream of received symbols apart into frames and link state words. It accepts any input. Words may
// stand between any two symbols of a frame, IDLE between any two symbols at all.
type Deframer struct {
	buf     []byte // of the frame in progress: sequence number, payload, CRC; as long as the longest frame
	n       int    // bytes of buf received
	inFrame bool
	dropped bool // the frame in progress was
	inWord  bool
	word    [InitSymbols - 1]byte
	wordN   int
	key     Key
	any     bool // of any key
}

// NewDeframer returns a Deframer that drops frames with a payload of more than maxPacket bytes.
func NewDeframer(maxPacket int) *Deframer {
	return &Deframer{buf: make([]byte, SeqBytes+max(maxPacket, MinPacket)+CRCBytes)}
}

// Next consumes symbols up to the first event, which it returns with the number of symbols consumed. The kind is
// EventNone exactly if all of the input was consumed without an event. One symbol can cause two events (an SOP that
// cuts off a word and a frame): the call that returns the first may consume nothing.
func (d *Deframer) Next(in []Symbol) (ev Event, n int) {
	n = d.NextInto(&ev, in)
	return ev, n
}

// NextInto is Next for an Event that is there: members that are not named at its kind stay as they were.
func (d *Deframer) NextInto(ev *Event, in []Symbol) (n int) {
	ev.Kind = EventNone
	for n < len(in) {
		if d.inFrame && !d.inWord {
			if n += d.copyData(in[n:]); n == len(in) {
				break
			}
		}
		s := in[n]
		switch {
		case s == SymIdle:
			n++
		case d.inWord && !s.IsData():
			d.inWord = false
			ev.badWord(d, d.cut())
			return n
		case d.inWord:
			n++
			d.word[d.wordN] = byte(s)
			if d.wordN++; d.wordN >= WordSymbols-1 && (d.wordKind() != KindInit || d.wordN == InitSymbols-1) {
				d.wordEvent(ev)
				return n
			}
		default:
			n++
			if d.symbol(s, ev) {
				return n
			}
		}
	}
	return n
}

// copyData takes data symbols into the frame in progress, until another symbol comes or the frame is full.
func (d *Deframer) copyData(in []Symbol) (n int) {
	dst := d.buf[d.n:]
	if len(in) < len(dst) {
		dst = dst[:len(in)]
	}
	in = in[:len(dst)]
	for ; n < len(in)-7; n += 8 {
		a, b := four((*[4]Symbol)(in[n:])), four((*[4]Symbol)(in[n+4:]))
		if (a|b)&noData != 0 {
			break
		}
		binary.LittleEndian.PutUint64(dst[n:], packed(a, b))
	}
	for n < len(in) && in[n].IsData() {
		dst[n] = byte(in[n])
		n++
	}
	d.n += n
	return n
}

// wordEvent judges a word that is complete: its first byte says how long it is.
func (d *Deframer) wordEvent(ev *Event) {
	d.inWord = false
	reason := ReasonNone
	if d.wordKind() == KindInit {
		ev.Kind = EventInit
		ev.Init, reason = DecodeInit(d.word)
	} else {
		b := [WordSymbols - 1]byte(d.word[:])
		ev.Kind, ev.Key = EventWord, d.key
		if d.any {
			ev.Key = WordKey(b)
		}
		ev.Word, reason = DecodeWord(b, ev.Key)
	}
	if reason != ReasonNone {
		ev.badWord(d, reason)
	}
}

func (d *Deframer) wordKind() Kind { return Kind(d.word[0] >> WordKindShift) }

// badWord makes the event what the word in progress turned out to be.
func (ev *Event) badWord(d *Deframer, reason Reason) {
	*ev = Event{Kind: EventBadWord, Reason: reason}
	if d.wordN > 0 {
		ev.Word.Kind = d.wordKind()
	}
}

// cut is what is wrong with a word that a control symbol ends. Words of version 2 are such: shorter, with a check of their own.
func (d *Deframer) cut() Reason {
	if old := d.word[:d.wordN]; len(old) == oldWordBytes && CRC16(old[:3]) == binary.BigEndian.Uint16(old[3:]) {
		return WordVersion
	}
	return WordCut
}

// oldWordBytes is the length of a word of version 2 behind LSW.
const oldWordBytes = 5

// symbol handles a symbol that is neither part of a word nor data that fits the frame in progress, and reports whether it is an event.
func (d *Deframer) symbol(s Symbol, ev *Event) bool {
	if s == SymLSW {
		d.inWord, d.wordN = true, 0
		return false
	}
	wasIn, dropped := d.inFrame, d.dropped
	d.inFrame, d.dropped = s == SymSOP, false
	if d.inFrame {
		d.n = 0
	}
	switch {
	case s == SymAbort, !wasIn && s != SymEOP && !s.IsData():
		return false
	case wasIn && dropped:
		ev.Kind, ev.Reason = EventStray, StrayFrame
	case s == SymSOP:
		ev.Kind, ev.Reason = EventBadFrame, FrameStart
	case s == SymEOP && wasIn:
		d.frame(ev)
	case s == SymEOP:
		ev.Kind, ev.Reason = EventStray, StrayEOP
	case s.IsData() && wasIn:
		ev.Kind, ev.Reason = EventBadFrame, FrameLong
	case s.IsData():
		ev.Kind, ev.Reason = EventStray, StrayData
	default: // ERR, or a K symbol without a meaning
		ev.Kind, ev.Reason = EventBadFrame, FrameSymbol
	}
	return true
}

// frame judges the frame in progress at its EOP.
func (d *Deframer) frame(ev *Event) {
	end := d.n - CRCBytes
	switch {
	case end < SeqBytes+MinPacket:
		ev.Kind, ev.Reason = EventBadFrame, FrameShort
	case !d.any && CRC32C(uint32(d.key), d.buf[:end]) != binary.LittleEndian.Uint32(d.buf[end:]):
		ev.Kind, ev.Reason = EventBadFrame, FrameCRC
	default:
		ev.Kind, ev.Seq, ev.Payload = EventFrame, d.buf[0], d.buf[SeqBytes:end:end]
	}
}

// SetKey sets the key that frames and words from now on are sealed with, the frame and the word in progress included; 0 at first.
func (d *Deframer) SetKey(key Key) { d.key, d.any = key, false }

// TakeAny takes frames and words of any key for good until SetKey: for one who looks on and has not seen an INIT.
func (d *Deframer) TakeAny() { d.any = true }

// Pending returns the sequence number of the frame in progress and how many payload bytes it has brought so far for
// certain (the last four bytes may yet be its CRC). ok is false if there is none whose number has arrived.
func (d *Deframer) Pending() (seq uint8, payload int, ok bool) {
	if !d.inFrame || d.dropped || d.n == 0 {
		return 0, 0, false
	}
	return d.buf[0], max(d.n-SeqBytes-CRCBytes, 0), true
}

// InFrame tells whether a frame has begun and not ended.
func (d *Deframer) InFrame() bool { return d.inFrame }

// DropFrame drops the frame in progress: whatever is still to come of it, its end is an EventStray, the one event it causes, or an ABORT,
// which causes none.
func (d *Deframer) DropFrame() { d.dropped = d.inFrame }

// Reset forgets frame and word in progress.
func (d *Deframer) Reset() { d.inFrame, d.dropped, d.inWord = false, false, false }
