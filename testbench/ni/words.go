package ni

import "github.com/stafflink/lmmc/linkproto"

// WordReader follows the link state words in a line of symbols.
type WordReader struct {
	DropStop bool            // the words that are passed on say GO
	Hold     *linkproto.Word // ACKs and LOSTs that are passed on say this instead; nil: what they say
	Words    uint64          // that have been whole
	Number   uint8           // of the last ACK or LOST among them, when it came
	Lost     bool            // the last of them says LOST
	Inside   bool            // the next data symbol belongs to one

	word, passed []byte // without the check
	held         bool   // the word says what Hold says
}

// Pass takes the next symbol of the line and returns what becomes of it.
func (r *WordReader) Pass(s linkproto.Symbol) linkproto.Symbol {
	switch {
	case s == linkproto.SymLSW:
		r.word, r.passed, r.Inside = r.word[:0], r.passed[:0], true
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
		if kind == linkproto.KindAck || r.Lost {
			r.Number = r.word[1]
		}
	}
	if at < last-1 {
		r.passed = append(r.passed, r.change(at, kind))
		return linkproto.Data(r.passed[at])
	}
	// The check is linear: whatever the word is sealed with, it changes by what the changes alone make.
	change := linkproto.CRC16(r.word[:last-1]) ^ linkproto.CRC16(r.passed)
	return s ^ linkproto.Data(byte(change>>(8*(last-at))))
}

// change returns what is passed on for the last byte of a word so far.
func (r *WordReader) change(at int, kind linkproto.Kind) byte {
	b := r.word[at]
	if at == 0 {
		if r.held = r.Hold != nil && (kind == linkproto.KindAck || kind == linkproto.KindLost); r.held {
			b = byte(r.Hold.Symbols(0)[1])
		}
		if r.DropStop {
			b &^= 1 << linkproto.WordStopBit
		}
	}
	if at == 1 && r.held {
		b = r.Hold.Value
	}
	return b
}

// PassAll is Pass for each symbol of a line, which it changes.
func (r *WordReader) PassAll(line []linkproto.Symbol) []linkproto.Symbol {
	for i, s := range line {
		line[i] = r.Pass(s)
	}
	return line
}
