package linkproto

import (
	"encoding/binary"
	"fmt"
)

// Word is a link state word of a link that is up: what one end says about itself, in full, each time. Those of a link that is not are Init.
type Word struct {
	Kind  Kind
	Stop  bool  // the sender's receive FIFO is filling up: no data symbols please
	Group uint8 // BARRIER: the group, 0 to 31; else 0
	Value uint8 // ACK, LOST: next expected sequence number; BARRIER: generation and phase, of BarrierValue
}

// Symbols returns the word as it goes over the link to whoever has the key. Kind must not be INIT.
func (w Word) Symbols(key Key) [WordSymbols]Symbol {
	b0 := byte(w.Kind)<<WordKindShift | w.Group
	if w.Stop {
		b0 |= 1 << WordStopBit
	}
	check := wordCheck(key, b0, w.Value)
	return [...]Symbol{SymLSW, Data(b0), Data(w.Value), Data(byte(key >> 16)), Data(byte(key >> 24)), Data(byte(check >> 8)), Data(byte(check))}
}

// wordCheck is the check of a word: its upper half of the key goes with it, and the lower one starts the register.
func wordCheck(key Key, b0, b1 byte) uint16 {
	crc := uint16(CRC16Init)
	for _, b := range [...]byte{b0 ^ byte(key), b1 ^ byte(key>>8), byte(key >> 16), byte(key >> 24)} {
		crc = crc16(crc, b)
	}
	return crc
}

// WordKey returns the key with which the bytes after LSW of a word that is no INIT are right. There is one for any bytes.
func WordKey(b [WordSymbols - 1]byte) Key {
	crc := binary.BigEndian.Uint16(b[4:])
	for i := 3; i >= 0; i-- {
		for range 8 {
			carry := crc & 1
			crc = (crc^carry*CRC16Poly)>>1 | carry<<15
		}
		if i >= 2 {
			crc ^= uint16(b[i]) << 8
		}
	}
	crc ^= CRC16Init
	return Key(b[0]^byte(crc>>8)) | Key(b[1]^byte(crc))<<8 | Key(b[2])<<16 | Key(b[3])<<24
}

// AppendWord appends the symbols of a link state word.
func AppendWord(dst []Symbol, key Key, w Word) []Symbol {
	s := w.Symbols(key)
	return append(dst, s[:]...)
}

// DecodeWord decodes the bytes after LSW of a word that is no INIT. The reason is ReasonNone if the word is good.
func DecodeWord(b [WordSymbols - 1]byte, key Key) (Word, Reason) {
	w := Word{Kind: Kind(b[0] >> WordKindShift), Stop: b[0]>>WordStopBit&1 != 0, Group: b[0] & WordReserved, Value: b[1]}
	switch {
	case Key(binary.LittleEndian.Uint16(b[2:])) != key>>16 || wordCheck(key, b[0], b[1]) != binary.BigEndian.Uint16(b[4:]):
		return Word{}, WordCheck
	case w.Kind != KindBarrier && w.Group != 0, w.Kind == KindBarrier && w.Stop:
		return Word{}, WordReservedBits
	}
	return w, ReasonNone
}

// Kind says what a link state word means.
type Kind uint8

// The kinds of link state words.
const (
	KindAck     Kind = 0
	KindLost    Kind = 1
	KindInit    Kind = 2
	KindBarrier Kind = 3
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
	{KindInit, "INIT", "the sender's protocol version", "who the sender is; it is starting (again) and does not take frames yet. Another length"},
	{KindBarrier, "BARRIER", "generation and phase", "all members of a group on the sender's side have entered the phase"},
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
	WordReserved  = 0x1F // bits 4:0: the group of a BARRIER, else zero
)

// WordSymbols is the length of a link state word but INIT: LSW, two bytes, half of the key, two check bytes.
const WordSymbols = 7
