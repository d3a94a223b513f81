package live

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Counts are the counters of a node.
type Counts struct {
	Name     string    `json:"name"`
	Counters []Counter `json:"counters"` // those that are not 0
}

// Counter is one of them.
type Counter struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Counts asks a node for its counters: a network interface by its host, a switch by packets from one.
func (n *Network) Counts(ctx context.Context, name string) (c Counts, err error) {
	c.Name, c.Counters = name, []Counter{}
	t := n.world.Cluster.Topology
	node, found := t.Find(name)
	if !found {
		return c, fmt.Errorf("%w: no node %q in this network", hostdrv.ErrRange, name)
	}
	if h := n.hostOf(node); h != nil {
		r, err := h.Report(ctx)
		for link, l := range r.Links {
			port := "host port"
			if link > 0 {
				port = fmt.Sprint("link ", link)
			}
			for i, v := range l.Counters {
				c.add(port, linkproto.Counter(i).String(), v)
			}
		}
		if err != nil {
			return c, err
		}
	}
	read, err := n.router(ctx, node)
	if err == nil && read != nil {
		err = c.router(t.Nodes[node].Ports, read)
	}
	return c, err
}

// hostOf is the host of a node; nil if it is a switch.
func (n *Network) hostOf(node int) *host {
	for i, h := range n.hosts {
		if n.world.Cluster.NIs[i].Node == node {
			return h
		}
	}
	return nil
}

// router returns what reads the registers of a node's router; nil if it has none.
func (n *Network) router(ctx context.Context, node int) (read func(linkproto.Reg) (uint32, error), err error) {
	t := n.world.Cluster.Topology
	if h := n.hostOf(node); h != nil {
		if !h.Identity().Has(linkproto.FeatureRouter) {
			return nil, nil
		}
		return func(r linkproto.Reg) (uint32, error) { return h.ReadRegister(ctx, r) }, nil
	}
	if n.world.Cluster.Outside(node) {
		return nil, nil // its host knows
	}
	h, link := n.manager(node)
	if h == nil {
		return nil, fmt.Errorf("%w: no network interface reaches %s and back", hostdrv.ErrRange, t.Nodes[node].Name)
	}
	return func(r linkproto.Reg) (uint32, error) { return h.NI().ReadRemote(ctx, link, t.Nodes[node].ID, r) }, nil
}

// Drops asks all routers what they have dropped, one after the other.
func (n *Network) Drops(ctx context.Context) (all []cluster.SwitchLook, err error) {
	for node, of := range n.world.Cluster.Topology.Nodes {
		read, err := n.router(ctx, node)
		if err != nil {
			return nil, err
		}
		if read == nil {
			continue
		}
		var sums [linkproto.NumRouterCounters]uint64
		regs := make([]linkproto.Reg, 0, len(sums)*(of.Ports+1))
		for port := range of.Ports + 1 {
			for i := range sums {
				regs = append(regs, linkproto.RouterCounter(i).Reg(port))
			}
		}
		values, err := readAll(regs, read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.Name, err)
		}
		for i, v := range values {
			sums[i%len(sums)] += uint64(v)
		}
		all = append(all, cluster.SwitchLook{Node: node, Bad: sums[linkproto.RouterBad], Lost: sums[linkproto.RouterLost],
			Hops: sums[linkproto.RouterHops], Late: sums[linkproto.RouterLate]})
	}
	return all, nil
}

func (c *Counts) add(port, name string, v uint32) {
	if v > 0 {
		c.Counters = append(c.Counters, Counter{port + ", " + name, uint64(v)})
	}
}

// router reads the counters of a router with so many ports beside its own.
func (c *Counts) router(ports int, read func(linkproto.Reg) (uint32, error)) error {
	var places, names []string
	var regs []linkproto.Reg
	add := func(port int, name string, reg linkproto.Reg) {
		places, names, regs = append(places, fmt.Sprint("port ", port)), append(names, name), append(regs, reg)
	}
	for port := range ports + 1 {
		for i := range linkproto.Counter(linkproto.NumCounters) {
			add(port, i.String(), linkproto.PortCounterReg(port, i))
		}
		for i, row := range linkproto.RouterCounters {
			add(port, "router "+strings.ToLower(row.Name), linkproto.RouterCounter(i).Reg(port))
		}
	}
	values, err := readAll(regs, read)
	for i, v := range values {
		c.add(places[i], names[i], v)
	}
	return err
}

// readAll reads registers, many at a time.
func readAll(regs []linkproto.Reg, read func(linkproto.Reg) (uint32, error)) (values []uint32, err error) {
	const together = 32
	values = make([]uint32, len(regs))
	errs, room := make([]error, len(regs)), make(chan struct{}, together)
	var work sync.WaitGroup
	for i, r := range regs {
		room <- struct{}{}
		work.Go(func() {
			values[i], errs[i] = read(r)
			<-room
		})
	}
	work.Wait()
	for _, e := range errs {
		if e != nil {
			return values, e
		}
	}
	return values, nil
}

// manager is a host whose network interface reaches a switch, and is reached by it, and the link by which it does: one that is cabled to it, if there is one
// whose cable is up.
func (n *Network) manager(node int) (h *host, link int) {
	c, look := n.world.Cluster, n.Look()
	near := map[int]bool{}
	for i, cable := range c.Topology.Cables {
		if up := look.Cables[i].Ways[0].Up && look.Cables[i].Ways[1].Up; up {
			a, b := cable.Ends[0].Node, cable.Ends[1].Node
			near[a], near[b] = near[a] || b == node, near[b] || a == node
		}
	}
	for i, ni := range c.NIs {
		there, _ := c.Tables.Route(ni.Node, node)
		back, _ := c.Tables.Route(node, ni.Node)
		if there == 0 || back == 0 || h != nil && !near[ni.Node] {
			continue
		}
		h, link = n.hosts[i], c.Link(ni, node)
		if near[ni.Node] {
			break
		}
	}
	return h, link
}
