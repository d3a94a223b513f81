package figures

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestGaps(t *testing.T) {
	sop, eop, lsw, idle := linkproto.SymSOP, linkproto.SymEOP, linkproto.SymLSW, linkproto.SymIdle
	word := []linkproto.Symbol{lsw, 1, 2, 3, 4, 5, idle} // IDLE within a word is no idle symbol: the word would be longer
	for _, c := range []struct {
		name           string
		wire           []linkproto.Symbol
		packets, worst int
	}{
		{"back to back", []linkproto.Symbol{idle, idle, sop, 1, eop, sop, 2, eop, idle}, 2, 0},
		{"a gap between", []linkproto.Symbol{sop, 1, eop, idle, idle, sop, 2, eop, sop}, 3, 2},
		{"a bubble inside", []linkproto.Symbol{sop, 1, idle, 2, eop, sop, 2}, 2, 1},
		{"a word between", append([]linkproto.Symbol{sop, 1, eop}, append(word, sop, 3, eop)...), 2, 0},
	} {
		var g gaps
		for _, s := range c.wire {
			g.symbol(s)
		}
		check.Equal(t, c.name+": packets, idle symbols", [2]int{g.packets, g.worst}, [2]int{c.packets, c.worst})
	}
}
