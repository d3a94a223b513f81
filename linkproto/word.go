package linkproto

import (
	"fmt"
)

// Word is a link state word: what one end says about itself, in full, each time.
type Word struct {
	Kind  Kind
	Stop  bool  // the sender's receive FIFO is filling up: no data symbols please
	Value uint8 // ACK, LOST: next expected sequence number; INIT: the sender's epoch
	Echo  uint8 // the addressee's epoch as the sender knows it, EpochNone if it does not
}

// bytes returns the three bytes that the check covers.
func (w Word) bytes() (b0, b1, b2 byte) {
	b0 = byte(w.Kind) << WordKindShift
	if w.Stop {
		b0 |= 1 << WordStopBit
	}
	return b0, w.Value, w.Echo
}

// Symbols returns the word as it goes over the link. Kind must be one of the three that exist.
func (w Word) Symbols() [WordSymbols]Symbol {
	b0, b1, b2 := w.bytes()
	check := crc16(crc16(crc16(CRC16Init, b0), b1), b2)
	return [...]Symbol{SymLSW, Data(b0), Data(b1), Data(b2), Data(byte(check >> 8)), Data(byte(check))}
}

// AppendWord appends the symbols of a link state word.
func AppendWord(dst []Symbol, w Word) []Symbol {
	s := w.Symbols()
	return append(dst, s[:]...)
}

// DecodeWord decodes the five bytes after LSW. The reason is ReasonNone if the word is good.
func DecodeWord(b [WordSymbols - 1]byte) (Word, Reason) {
	w := Word{Kind: Kind(b[0] >> WordKindShift), Stop: b[0]>>WordStopBit&1 != 0, Value: b[1], Echo: b[2]}
	check := crc16(crc16(crc16(CRC16Init, b[0]), b[1]), b[2])
	switch {
	case byte(check>>8) != b[3] || byte(check) != b[4]:
		return Word{}, WordCheck
	case b[0]&WordReserved != 0:
		return Word{}, WordReservedBits
	case w.Kind > KindInit:
		return Word{}, WordKind
	}
	return w, ReasonNone
}

// Kind says what a link state word means.
type Kind uint8

// The kinds of link state words. Value 3 is reserved: a word that carries it is dropped.
const (
	KindAck  Kind = 0
	KindLost Kind = 1
	KindInit Kind = 2
)

// KindInfo is a row of Kinds.
type KindInfo struct {
	Kind  Kind
	Name  string // as in Verilog: LP_KIND_<Name>
	Value string // what the word's second byte is
	Doc   string
}

// Kinds lists the kinds of link state words. Not to be modified.
var Kinds = [...]KindInfo{
	{KindAck, "ACK", "next expected sequence number", "every frame before this number has arrived; nothing is known to be missing"},
	{KindLost, "LOST", "next expected sequence number", "as ACK, and something after it was damaged or is missing: go back to this number"},
	{KindInit, "INIT", "the sender's own epoch", "the sender is starting (again) and does not take frames yet"},
}

// String returns the kind's name in the tables.
func (k Kind) String() string {
	for i := range Kinds {
		if Kinds[i].Kind == k {
			return Kinds[i].Name
		}
	}
	return fmt.Sprintf("KIND(%d)", uint8(k))
}

// Layout of the first byte of a link state word.
const (
	WordKindShift = 6 // bits 7:6
	WordStopBit   = 5
	WordReserved  = 0x1F // bits 4:0, zero
)

// WordSymbols is the length of a link state word: LSW, three bytes, two check bytes.
const WordSymbols = 6
