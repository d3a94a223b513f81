package cluster

import (
	"errors"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// patience is how many clocks an answer or a link may take. Shorter in tests.
var patience = 1_000_000

// start gives network interfaces their numbers and frames, waits for all links, and has the switches set up.
func (n *Cluster) start() {
	var asked, answered int
	for _, i := range n.NIs {
		write := func(reg linkproto.Reg, value uint32) {
			p := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: reg, Value: value}
			asked++
			try.OK(n.Until(patience, "room on the host port of "+n.name(i), func() bool {
				return !errors.Is(i.Request(p, func(a linkproto.Packet) {
					answered++
					if a.Status != linkproto.StatusOK {
						try.Failf("cluster: %s refused to write register %v: %v", n.name(i), reg, a.Status)
					}
				}), ni.ErrBusy)
			}))
		}
		write(linkproto.RegNodeID, uint32(n.Topology.Nodes[i.Node].ID))
		write(linkproto.RegNonce, ni.Nonce(n.rng))
		if i.Params.Router > 0 && !n.config.Preload {
			table := n.tableOf(i.Node)
			for _, id := range slices.Sorted(maps.Keys(table)) {
				write(linkproto.RouteReg(id), table[id])
			}
		}
		for f := range n.config.Params.Frames {
			write(linkproto.FrameReg(f), linkproto.FrameValid.In(1)|linkproto.FrameLink.In(1))
		}
	}
	try.OK(n.Until(patience, "answers of the network interfaces", func() bool { return answered == asked }))
	try.OK(n.Until(patience, "all links to come up", n.up))
	n.Setup.Links, n.Setup.Preload = n.Cycles, n.config.Preload
	n.setUp()
}

func (n *Cluster) name(i *NI) string { return n.Topology.Nodes[i.Node].Name }
