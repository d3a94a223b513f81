package cluster

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Barrier is how far a network interface in RTL is in a group, as its memory has it while the simulation stands still: the phase that all have entered, and
// whether its node has entered the next one.
func (n *Cluster) Barrier(i *NI, group int) (phase uint8, entered bool, err error) {
	m, ok := n.nodes[i.Node].(*rtlNI)
	if !ok || !n.config.Barriers || n.config.Arrivals {
		return 0, false, fmt.Errorf("cluster: %s tells nothing of barriers: have it run as rtl with Config.Barriers, without Arrivals", n.name(i))
	}
	groups, err := m.Look(niBarriers)
	if err != nil {
		return 0, false, err
	}
	ports := m.Library().Width(niBarriers)/2 - linkproto.BarrierBits // an entry has generation and phase, ports that have entered, and ports
	return uint8(groups[group]>>(2*ports)) & (1<<linkproto.BarrierBits - 1), groups[group]>>ports&1 != 0, nil
}
