package cluster

import (
	"errors"
	"fmt"
)

// Cut pulls a cable, given by its place in Topology.Cables, or plugs it in again.
func (n *Cluster) Cut(index int, cut bool) error {
	if index < 0 || index >= len(n.cables) {
		return fmt.Errorf("cluster: no cable %d, they count from 0 to %d", index, len(n.cables)-1)
	}
	n.watch.Lock()
	n.cables[index].cut = cut
	n.watch.Unlock()
	return n.replug(index)
}

// Pull pulls all cables of a node, given by its place in Topology.Nodes, or plugs those in again that are not cut. The node goes on.
func (n *Cluster) Pull(node int, out bool) error {
	if node < 0 || node >= len(n.nodes) {
		return fmt.Errorf("cluster: no node %d, they count from 0 to %d", node, len(n.nodes)-1)
	}
	n.pulled[node] = out
	var errs []error
	for i, c := range n.Topology.Cables {
		if c.Ends[0].Node == node || c.Ends[1].Node == node {
			errs = append(errs, n.replug(i))
		}
	}
	return errors.Join(errs...)
}

// replug makes a cable what it is to be: whole unless it is cut, or a node at one of its ends has been pulled.
func (n *Cluster) replug(index int) error {
	ends := n.Topology.Cables[index].Ends
	whole := !n.cables[index].cut && !n.pulled[ends[0].Node] && !n.pulled[ends[1].Node]
	if n.group != nil {
		return n.group.order(whole, orderPlug, orderPull, index)
	}
	return n.plugCable(index, whole)
}

func (n *Cluster) plugCable(index int, in bool) error {
	c := &n.cables[index]
	for i, lanes := range c.ways {
		for lane, w := range lanes {
			if err := w.plug(in && c.dead[i]>>lane&1 == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// LaneWay is one direction of a lane of a cable, given by its place in Topology.Cables: from the cable's first end (Way 0) or from its second (1).
type LaneWay struct{ Cable, Way, Lane int }

// lane finds a direction of a lane.
func (n *Cluster) lane(l LaneWay) (*way, error) {
	switch {
	case n.group != nil:
		return nil, errors.New("cluster: single lanes cannot be cut or damaged while the network is split: leave out the parts")
	case l.Cable < 0 || l.Cable >= len(n.cables):
		return nil, fmt.Errorf("cluster: no cable %d, they count from 0 to %d", l.Cable, len(n.cables)-1)
	case l.Way < 0 || l.Way > 1 || l.Lane < 0 || l.Lane >= len(n.cables[l.Cable].ways[l.Way]):
		return nil, fmt.Errorf("cluster: no lane %d in direction %d of cable %s: lanes count from 0 to %d, directions are 0 and 1",
			l.Lane, l.Way, n.Topology.CableName(n.Topology.Cables[l.Cable]), n.Topology.Cables[l.Cable].Lanes-1)
	}
	return n.cables[l.Cable].ways[l.Way][l.Lane], nil
}

// CutLane pulls one direction of a lane, so that nothing arrives by it, or makes it whole again.
func (n *Cluster) CutLane(l LaneWay, cut bool) error {
	if _, err := n.lane(l); err != nil {
		return err
	}
	dead := &n.cables[l.Cable].dead[l.Way]
	*dead &^= 1 << l.Lane
	if cut {
		*dead |= 1 << l.Lane
	}
	return n.replug(l.Cable)
}

// DamageLane has a share of the bits arrive wrong by one direction of a lane, in place of the cable's bit error rate.
func (n *Cluster) DamageLane(l LaneWay, rate float64) error {
	if !(rate >= 0 && rate <= 1) {
		return fmt.Errorf("cluster: a bit error rate of %v: want 0 to 1", rate)
	}
	w, err := n.lane(l)
	if err == nil && w.line != nil {
		w.line.damage(rate)
	} else if err == nil {
		err = w.link.SetBitErrorRate(rate)
	}
	return err
}
