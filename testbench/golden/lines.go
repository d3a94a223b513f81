package golden

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/linkproto"
)

// happening is something that a line of a port brings at one clock: that of the last symbol that it takes.
type happening uint8

const (
	begins happening = iota // a frame's first symbol
	ends                    // its last one
	aborted
	ack // a link state word
	lost
	initial
	stop // one that says STOP for the first time
	goes // and GO
	traps
	resumes
	retraps
	reads  // of the receive buffer
	writes // to it
	grants // of a frame of it, in the table
	admits // of packets by a link that has lost some
	renews // of the nonce
	answers
	told // by NOTIFY
	freed
	wraps   // the number of a frame: 255 was that of the one before
	longest // packet
	nearly  // so
	happenings
)

var happeningNames = [happenings]string{"frame begins", "frame ends", "ABORT", "ACK", "LOST", "INIT", "STOP", "GO", "PAGE or CONNECT", "RESUME", "RETRAP",
	"BUF_READ", "BUF_WRITE", "frame table write", "LINK_STATUS write", "NONCE write", "answer", "NOTIFY", "SPACE",
	"sequence number wraps", "longest packet", "longest packet but for a byte"}

func (h happening) String() string { return happeningNames[h] }

// lineReader tells what a line brings, symbol by symbol.
type lineReader struct {
	inFrame, inWord bool
	frame           [linkproto.SeqBytes + linkproto.HeaderBytes + 3]byte // its begin
	framed          int                                                  // bytes of the frame
	word            byte                                                 // its first byte
	left            int                                                  // symbols of the word; 0: the next is the first behind LSW
	stopped         bool
	seq             byte // of the last frame
	longest         int  // packet; 0: nobody asks
}

// next calls found for each thing that the next symbol completes.
func (r *lineReader) next(s linkproto.Symbol, found func(happening)) {
	switch {
	case s == linkproto.SymIdle:
	case s == linkproto.SymLSW:
		r.inWord, r.left = true, 0
	case r.inWord && s.IsData():
		r.inside(s, found)
	case s == linkproto.SymSOP:
		r.inFrame, r.inWord, r.framed = true, false, 0
		found(begins)
	case s == linkproto.SymEOP && r.inFrame:
		r.inFrame = false
		found(ends)
		if what := r.packet(); what != ends {
			found(what)
		}
		r.extreme(found)
	case s == linkproto.SymAbort && r.inFrame:
		r.inFrame = false
		found(aborted)
	case !s.IsData():
		r.inFrame, r.inWord = false, false
	case r.inFrame:
		if r.framed < len(r.frame) {
			r.frame[r.framed] = byte(s)
		}
		r.framed++
	}
}

// inside takes the next symbol of a word.
func (r *lineReader) inside(s linkproto.Symbol, found func(happening)) {
	if r.left == 0 {
		r.word, r.left = byte(s), linkproto.WordSymbols-1
		if linkproto.Kind(s>>linkproto.WordKindShift) == linkproto.KindInit {
			r.left = linkproto.InitSymbols - 1
		}
	}
	if r.left--; r.left > 0 {
		return
	}
	r.inWord = false
	switch linkproto.Kind(r.word >> linkproto.WordKindShift) {
	case linkproto.KindAck:
		found(ack)
	case linkproto.KindLost:
		found(lost)
	case linkproto.KindInit:
		found(initial)
	}
	if stopped := r.word>>linkproto.WordStopBit&1 != 0; stopped != r.stopped {
		if r.stopped = stopped; stopped {
			found(stop)
		} else {
			found(goes)
		}
	}
}

// extreme is for the values of a whole frame that are rare.
func (r *lineReader) extreme(found func(happening)) {
	if r.frame[0] == 0 && r.seq == 255 {
		found(wraps)
	}
	r.seq = r.frame[0]
	if r.longest > 0 {
		switch r.framed - linkproto.SeqBytes - linkproto.CRCBytes {
		case r.longest:
			found(longest)
		case r.longest - 1:
			found(nearly)
		}
	}
}

// packet says which of the packets that matter the frame holds; ends for any other.
func (r *lineReader) packet() happening {
	packet := r.frame[linkproto.SeqBytes:]
	if r.framed < linkproto.SeqBytes+linkproto.HeaderBytes {
		return ends
	}
	switch linkproto.Type(packet[0] & (1<<linkproto.TypeBits - 1)) {
	case linkproto.TypePage, linkproto.TypeConnect, linkproto.TypeTrap:
		return traps
	case linkproto.TypeResume:
		return resumes
	case linkproto.TypeRetrap:
		return retraps
	case linkproto.TypeBufRead:
		return reads
	case linkproto.TypeBufWrite:
		return writes
	case linkproto.TypeRegWrite:
		return written(linkproto.Reg(binary.LittleEndian.Uint16(packet[linkproto.HeaderBytes+1:])))
	case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
		return answers
	case linkproto.TypeNotify:
		return told
	case linkproto.TypeSpace:
		return freed
	}
	return ends
}

// written says what a write of a register does, if it matters when.
func written(reg linkproto.Reg) happening {
	switch {
	case reg == linkproto.RegNonce:
		return renews
	case reg >= linkproto.RegFrameTable:
		return grants
	case registerName(reg) == "LINK_STATUS":
		return admits
	}
	return ends
}
