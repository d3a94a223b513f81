package ni

import "github.com/stafflink/lmmc/linkproto"

// WordReader follows the link state words in a line of symbols.
type WordReader struct {
	DropStop bool   // the words that are passed on say GO
	Words    uint64 // that have been whole
	Lost     bool   // the last of them says LOST

	word   []byte
	inside bool
}

// Pass takes the next symbol of the line and returns what becomes of it.
func (r *WordReader) Pass(s linkproto.Symbol) linkproto.Symbol {
	switch {
	case s == linkproto.SymLSW:
		r.word, r.inside = r.word[:0], true
		return s
	case !r.inside || !s.IsData():
		r.inside = false
		return s
	}
	r.word = append(r.word, byte(s))
	at := len(r.word) - 1
	r.inside = at < linkproto.WordSymbols-2
	if !r.inside { // a word counts with its last symbol: the link's end knows no sooner
		r.Words++
		r.Lost = linkproto.Kind(r.word[0]>>linkproto.WordKindShift) == linkproto.KindLost
	}
	if !r.DropStop {
		return s
	}
	r.word[0] &^= 1 << linkproto.WordStopBit
	switch check := linkproto.CRC16(r.word[:min(3, at+1)]); at {
	case 0:
		return linkproto.Data(r.word[0])
	case 3:
		return linkproto.Data(byte(check >> 8))
	case 4:
		return linkproto.Data(byte(check))
	}
	return s
}

// PassAll is Pass for each symbol of a line, which it changes.
func (r *WordReader) PassAll(line []linkproto.Symbol) []linkproto.Symbol {
	for i, s := range line {
		line[i] = r.Pass(s)
	}
	return line
}
