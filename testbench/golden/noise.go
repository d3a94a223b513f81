package golden

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// noise damages what passes one way on a cable, by a plan. It spares a word now and then, so that no end ever takes its peer for gone.
type noise struct {
	injector *testbench.Injector
	// patience is how many symbols may pass without an unharmed ACK or LOST until a word is spared; 0: any number. Two WORD_TIMERs are right: an end says
	// the next word within a third, and takes its peer for gone after a fourth.
	patience int

	quiet  int  // symbols since an ACK or LOST has passed unharmed
	left   int  // symbols of the word in progress
	harmed bool // it is
	spared bool // it is not to be

	scratch []uint16
	out     []linkproto.Symbol
}

// pass returns what comes of a line. It is valid until the next call.
func (n *noise) pass(line []linkproto.Symbol) []linkproto.Symbol {
	n.out = n.out[:0]
	for i := range max(len(line), look) {
		s := linkproto.SymIdle // an idle line counts, so that a cable that is unplugged for long is so for a time
		if i < len(line) {
			s = line[i]
		}
		n.scratch = n.injector.Pass(n.scratch[:0], uint16(s))
		if n.spares(s) {
			n.scratch = append(n.scratch[:0], uint16(s))
		}
		for _, v := range n.scratch {
			if s := linkproto.Symbol(v); s != linkproto.SymIdle {
				n.out = append(n.out, s)
			}
		}
	}
	return n.out
}

// spares reports whether a symbol, of which scratch would come, belongs to a word that is spared. No INITs pass: no link starts again in a noisy round.
func (n *noise) spares(s linkproto.Symbol) bool {
	n.quiet++
	switch {
	case s == linkproto.SymLSW:
		n.left, n.harmed = linkproto.WordSymbols, false
		n.spared = n.patience > 0 && n.quiet > n.patience
	case s == linkproto.SymIdle || n.left == 0:
		return false
	}
	n.left--
	n.harmed = n.harmed || len(n.scratch) != 1 || n.scratch[0] != uint16(s)
	if n.left == 0 && (n.spared || !n.harmed) {
		n.quiet = 0
	}
	return n.spared
}
