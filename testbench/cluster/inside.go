package cluster

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

const niBuffer = "u_ni.u_buffer.g_bank[0].u_ram.mem" // with Width 1 and one link

// Flight runs until a word of four bytes of a receive buffer has changed, and returns how many clocks that is from the first symbol that comes from the host of from on.
// Both network interfaces are in RTL, with virtual links.
func (n *Cluster) Flight(from, to *NI, word int) (clocks int, err error) {
	source, in := n.nodes[from.Node].(*rtlNI)
	target, out := n.nodes[to.Node].(*rtlNI)
	if !in || !out || n.config.Virtual == 0 || n.config.Arrivals {
		return 0, fmt.Errorf("cluster: %s and %s do not tell of their memories: have them run as rtl with Config.Virtual, without Arrivals", n.name(from), n.name(to))
	}
	words, err := target.Dump(niBuffer, 0, -1)
	if err != nil {
		return 0, err
	}
	before := words[word]
	began := uint64(0)
	for start := n.Cycles; words[word] == before; {
		if n.Cycles-start > uint64(patience) {
			return 0, &ni.Timeout{Since: start, Clocks: uint64(patience), What: "a write to " + n.name(to)}
		}
		if err := n.Step(); err != nil {
			return 0, err
		}
		s, err := source.Peek("line_rx[8:0]")
		if err != nil {
			return 0, err
		}
		if began == 0 && linkproto.Symbol(s) == linkproto.SymSOP {
			began = n.Cycles
		}
		if words, err = target.Dump(niBuffer, 0, -1); err != nil {
			return 0, err
		}
	}
	return int(n.Cycles - began), nil
}
