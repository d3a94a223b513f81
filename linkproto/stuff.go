package linkproto

import (
	"bytes"
	"slices"
)

// AppendStuffed appends the bytes that carry symbols over a byte pipe: ESC and the byte for a K symbol, ESC ESC for
// the data byte ESC, and any other data byte as itself. IDLE is left out; what is no symbol of the link becomes ERR.
func AppendStuffed(dst []byte, symbols []Symbol) []byte {
	for len(symbols) > 0 {
		// Data first, as much as there is in a row: that is most of it.
		at := len(dst)
		dst = slices.Grow(dst, len(symbols))[:at+len(symbols)]
		n := 0
		for to := dst[at:]; n < len(symbols); n++ {
			s := symbols[n]
			if !s.IsData() || s == ESC {
				break
			}
			to[n] = byte(s)
		}
		dst = dst[:at+n]
		if n == len(symbols) {
			return dst
		}
		switch s := symbols[n]; s {
		case ESC, SymSOP, SymEOP, SymLSW:
			dst = append(dst, ESC, byte(s))
		case SymIdle:
		default:
			dst = append(dst, ESC, byte(SymErr&0xFF))
		}
		symbols = symbols[n+1:]
	}
	return dst
}

// Unstuffer turns the bytes of a byte pipe back into symbols. It accepts any input. The zero value is ready for use.
type Unstuffer struct {
	escaped bool // the last byte was an ESC that waits for its second byte
}

// Append appends the symbols that bytes carry; an ESC at their end waits for the next call. ESC before anything but
// ESC or the byte of a known K symbol gives ERR. At most as many symbols are appended as there are bytes.
func (u *Unstuffer) Append(dst []Symbol, in []byte) []Symbol {
	for len(in) > 0 {
		if u.escaped {
			u.escaped = false
			dst = append(dst, escapedSymbol(in[0]))
			in = in[1:]
		}
		run := in
		if n := bytes.IndexByte(in, ESC); n >= 0 {
			u.escaped = true
			run, in = in[:n], in[n+1:]
		} else {
			in = nil
		}
		at := len(dst)
		dst = slices.Grow(dst, len(run))[:at+len(run)]
		for i, to := 0, dst[at:][:len(run)]; i < len(run); i++ {
			to[i] = Data(run[i])
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
