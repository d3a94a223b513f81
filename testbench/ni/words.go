package ni

import "github.com/stafflink/lmmc/linkproto"

// WordReader follows the link state words in a line of symbols.
type WordReader struct {
	DropStop bool   // the words that are passed on say GO
	Words    uint64 // that have been whole
	Lost     bool   // the last of them says LOST
	Inside   bool   // the next data symbol belongs to one

	word []byte
}

// Pass takes the next symbol of the line and returns what becomes of it.
func (r *WordReader) Pass(s linkproto.Symbol) linkproto.Symbol {
	switch {
	case s == linkproto.SymLSW:
		r.word, r.Inside = r.word[:0], true
		return s
	case s == linkproto.SymIdle:
		return s
	case !r.Inside || !s.IsData():
		r.Inside = false
		return s
	}
	at := len(r.word)
	r.word = append(r.word, byte(s))
	kind, last := linkproto.Kind(r.word[0]>>linkproto.WordKindShift), linkproto.WordSymbols-2
	if kind == linkproto.KindInit {
		last = linkproto.InitSymbols - 2
	}
	if r.Inside = at < last; !r.Inside { // a word counts with its last symbol: the link's end knows no sooner
		r.Words++
		r.Lost = kind == linkproto.KindLost
	}
	// The check is linear: whatever the word is sealed with, without STOP it changes by what STOP alone makes.
	const stop = 1 << linkproto.WordStopBit
	if !r.DropStop || r.word[0]&stop == 0 {
		return s
	}
	switch at {
	case 0:
		return s ^ stop
	case last - 1, last:
		with, without := make([]byte, last-1), make([]byte, last-1)
		with[0] = stop
		change := linkproto.CRC16(with) ^ linkproto.CRC16(without)
		return s ^ linkproto.Data(byte(change>>(8*(last-at))))
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
