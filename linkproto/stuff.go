package linkproto

// AppendStuffed appends the bytes that carry symbols over a byte pipe: ESC and the byte for a K symbol, ESC ESC for
// the data byte ESC, and any other data byte as itself. IDLE is left out; what is no symbol of the link becomes ERR.
func AppendStuffed(dst []byte, symbols []Symbol) []byte {
	for _, s := range symbols {
		switch {
		case s.IsData() && s != ESC:
			dst = append(dst, byte(s))
		case s == ESC, s == SymSOP, s == SymEOP, s == SymLSW:
			dst = append(dst, ESC, byte(s))
		case s == SymIdle:
		default:
			dst = append(dst, ESC, byte(SymErr&0xFF))
		}
	}
	return dst
}

// Unstuffer turns the bytes of a byte pipe back into symbols. It accepts any input. The zero value is ready for use.
type Unstuffer struct {
	escaped bool // the last byte was an ESC that waits for its second byte
}

// Append appends the symbols that bytes carry; an ESC at their end waits for the next call. ESC before anything but
// ESC or the byte of a known K symbol gives ERR. At most as many symbols are appended as there are bytes.
func (u *Unstuffer) Append(dst []Symbol, bytes []byte) []Symbol {
	for _, b := range bytes {
		switch {
		case u.escaped:
			u.escaped = false
			dst = append(dst, escapedSymbol(b))
		case b == ESC:
			u.escaped = true
		default:
			dst = append(dst, Data(b))
		}
	}
	return dst
}

func escapedSymbol(b byte) Symbol {
	if b == ESC {
		return Data(ESC)
	}
	switch s := SymbolK | Symbol(b); s {
	case SymIdle, SymSOP, SymEOP, SymLSW:
		return s
	}
	return SymErr
}
