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
				return d.badWord(d.cut()), i
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

// wordByte takes a byte of a word. Its first one says how long it is.
func (d *Deframer) wordByte(b byte) (Event, bool) {
	d.word[d.wordN] = b
	d.wordN++
	init := d.wordKind() == KindInit
	if init && d.wordN < InitSymbols-1 || !init && d.wordN < WordSymbols-1 {
		return Event{}, false
	}
	d.inWord = false
	ev, reason := Event{Kind: EventWord}, ReasonNone
	if init {
		ev.Kind = EventInit
		ev.Init, reason = DecodeInit(d.word)
	} else {
		b := [WordSymbols - 1]byte(d.word[:])
		key := d.key
		if d.any {
			key = WordKey(b)
		}
		ev.Key = key
		ev.Word, reason = DecodeWord(b, key)
	}
	if reason != ReasonNone {
		return d.badWord(reason), true
	}
	return ev, true
}

func (d *Deframer) wordKind() Kind { return Kind(d.word[0] >> WordKindShift) }

// badWord is what a word in progress turned out to be.
func (d *Deframer) badWord(reason Reason) Event {
	ev := Event{Kind: EventBadWord, Reason: reason}
	if d.wordN > 0 {
		ev.Word.Kind = d.wordKind()
	}
	return ev
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
	case s == SymAbort:
		return Event{}, false
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
	if !d.any && CRC32C(uint32(d.key), d.buf[:end]) != binary.LittleEndian.Uint32(d.buf[end:]) {
		return Event{Kind: EventBadFrame, Reason: FrameCRC}
	}
	return Event{Kind: EventFrame, Seq: d.buf[0], Payload: d.buf[SeqBytes:end:end]}
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

// DropFrame drops the frame in progress: whatever is still to come of it, its end is an EventStray, the one event it causes, or an ABORT,
// which causes none.
func (d *Deframer) DropFrame() { d.dropped = d.inFrame }

// Reset forgets frame and word in progress.
func (d *Deframer) Reset() { d.inFrame, d.dropped, d.inWord = false, false, false }
