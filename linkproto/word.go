package linkproto

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
