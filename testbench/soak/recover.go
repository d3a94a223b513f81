package soak

import (
	"context"
	"errors"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Recovery is what became of virtual links, all busy, when a switch died around which there is another way.
type Recovery struct {
	Switch  string
	Links   int    // ways of virtual links
	Clocks  uint64 // until each had delivered a packet that was sent since
	Packets uint64 // that came in all, each once and in order
}

// VirtualRecovery lets each switch die to which no network interface is connected, one in a run, and returns what became of the virtual links between all
// network interfaces of a fat tree, which they carry out: models, or RTL. Packets that are lost, doubled or out of order are an error.
func VirtualRecovery(ctx context.Context, rung string, seed uint64) (all []Recovery, err error) {
	top, err := topology.Generate("fat-tree", []int{2, 2}, 1)
	if err != nil {
		return nil, err
	}
	for i, node := range top.Nodes {
		if node.Kind != topology.Switch {
			continue
		}
		top.Nodes[i].Rung = cluster.Model
		if slices.ContainsFunc(top.Cables, func(c topology.Cable) bool {
			return slices.ContainsFunc(c.Ends[:], func(e topology.End) bool { return e.Node == i }) &&
				slices.ContainsFunc(c.Ends[:], func(e topology.End) bool { return top.Nodes[e.Node].Kind == topology.NI })
		}) {
			continue
		}
		r := Recovery{Switch: node.Name}
		err := campaign.Protect(func() error {
			net, err := cluster.Open(ctx, cluster.Config{Topology: top, Rung: rung, Seed: seed, Virtual: 4})
			if err != nil {
				return err
			}
			n := newNetwork(ctx, net, fault{}, 0, testbench.NewRand(seed))
			n.flows = true
			err = try.Run(func() { n.recover(i, &r) })
			return errors.Join(err, net.Close())
		})
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// busyFor is for how many clocks virtual links are busy before a switch dies.
const busyFor = 20_000

func (n *network) recover(node int, r *Recovery) {
	n.openVirtual()
	for began := n.Cycles; n.Cycles-began < busyFor; {
		n.stepAll()
	}
	sent, at := make([]uint64, len(n.hosts)), n.Cycles
	for i, h := range n.hosts {
		sent[i] = h.sent
	}
	try.OK(n.Pull(node, true))
	for still := true; still; {
		if r.Clocks = n.Cycles - at; r.Clocks > 2_000_000 {
			try.Failf("%w: %d clocks after switch %s died not all virtual links have delivered packets", ErrWedged, r.Clocks, r.Switch)
		}
		n.stepAll()
		still, r.Links = false, 0
		for _, h := range n.hosts {
			for from := range n.hosts {
				if from != h.number {
					r.Links++
					still = still || h.last[from] <= sent[from]
				}
			}
		}
	}
	try.OK(n.Pull(node, false))
	n.settle()
	n.judgeVirtual()
	r.Packets = n.delivered
}

// stepAll is step with packets due from each host to each other.
func (n *network) stepAll() {
	for _, h := range n.hosts {
		for to := range n.hosts {
			if to != h.number && !slices.Contains(h.queue, to) {
				h.queue = append(h.queue, to)
			}
		}
	}
	n.step(false)
}
