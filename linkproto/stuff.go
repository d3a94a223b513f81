package linkproto

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// AppendStuffed appends the bytes that carry symbols over a byte pipe: ESC and the byte for a K symbol, ESC ESC for
// the data byte ESC, and any other data byte as itself. IDLE is left out; what is no symbol of the link becomes ERR.
func AppendStuffed(dst []byte, symbols []Symbol) []byte {
	for len(symbols) > 0 {
		// Data first, as much as there is in a row: that is most of it.
		at := len(dst)
		dst = slices.Grow(dst, len(symbols))[:at+len(symbols)]
		n := packData(dst[at:], symbols)
		dst = dst[:at+n]
		if n == len(symbols) {
			return dst
		}
		switch s := symbols[n]; s {
		case ESC, SymSOP, SymEOP, SymAbort, SymLSW:
			dst = append(dst, ESC, byte(s))
		case SymIdle:
		default:
			dst = append(dst, ESC, byte(SymErr&0xFF))
		}
		symbols = symbols[n+1:]
	}
	return dst
}

// Four symbols as a number, the first one lowest.
const (
	each   = 1<<48 | 1<<32 | 1<<16 | 1
	noData = each * 0xFF00             // bits that data does not have
	pairs  = 1<<48 - 1<<32 | 1<<16 - 1 // bits of two bytes side by side, twice
)

func four(s *[4]Symbol) uint64 {
	return uint64(s[0]) | uint64(s[1])<<16 | uint64(s[2])<<32 | uint64(s[3])<<48
}

// packed is the bytes of twice four data symbols, as a number.
func packed(a, b uint64) uint64 {
	a, b = (a|a>>8)&pairs, (b|b>>8)&pairs
	return uint64(uint32(a|a>>16)) | (b|b>>16)<<32
}

// packData sets dst, which is as long, to the data that symbols begin with, up to an ESC, and returns how many those are.
func packData(dst []byte, symbols []Symbol) (n int) {
	dst = dst[:len(symbols)]
	for ; n < len(symbols)-7; n += 8 {
		a, b := four((*[4]Symbol)(symbols[n:])), four((*[4]Symbol)(symbols[n+4:]))
		// One less than the difference to ESC has bits of noData only where that is 0.
		if (a|b|(a^each*ESC-each)|(b^each*ESC-each))&noData != 0 {
			break
		}
		binary.LittleEndian.PutUint64(dst[n:], packed(a, b))
	}
	for n < len(symbols) && symbols[n].IsData() && symbols[n] != ESC {
		dst[n] = byte(symbols[n])
		n++
	}
	return n
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
		SetData(dst[at:], run)
	}
	return dst
}

// SetData sets dst, which is as long, to data symbols.
func SetData(dst []Symbol, data []byte) {
	dst = dst[:len(data)]
	i := 0
	for ; i < len(data)-7; i += 8 {
		from, to := (*[8]byte)(data[i:i+8]), (*[8]Symbol)(dst[i:i+8])
		eight := binary.LittleEndian.Uint64(from[:])
		a, b := eight&(1<<32-1), eight>>32
		a, b = (a|a<<16)&pairs, (b|b<<16)&pairs
		a, b = (a|a<<8)&^noData, (b|b<<8)&^noData
		to[0], to[1], to[2], to[3] = Symbol(a), Symbol(a>>16), Symbol(a>>32), Symbol(a>>48)
		to[4], to[5], to[6], to[7] = Symbol(b), Symbol(b>>16), Symbol(b>>32), Symbol(b>>48)
	}
	for ; i < len(data); i++ {
		dst[i] = Data(data[i])
	}
}

func escapedSymbol(b byte) Symbol {
	if b == ESC {
		return Data(ESC)
	}
	switch s := SymbolK | Symbol(b); s {
	case SymIdle, SymSOP, SymEOP, SymAbort, SymLSW:
		return s
	}
	return SymErr
}
