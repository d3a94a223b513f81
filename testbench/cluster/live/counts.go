package live

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/linkproto"
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
	ports := t.Nodes[node].Ports
	if t.Nodes[node].Kind == topology.Switch {
		h, link := n.manager(node)
		if h == nil {
			return c, fmt.Errorf("%w: no network interface reaches %s and back", hostdrv.ErrRange, name)
		}
		return c, c.router(ports, func(r linkproto.Reg) (uint32, error) { return h.NI().ReadRemote(ctx, link, t.Nodes[node].ID, r) })
	}
	for i, h := range n.hosts {
		if n.world.Cluster.NIs[i].Node != node {
			continue
		}
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
		if err != nil || !h.Identity().Has(linkproto.FeatureRouter) {
			return c, err
		}
		return c, c.router(ports, func(r linkproto.Reg) (uint32, error) { return h.ReadRegister(ctx, r) })
	}
	return c, nil
}

func (c *Counts) add(port, name string, v uint32) {
	if v > 0 {
		c.Counters = append(c.Counters, Counter{port + ", " + name, uint64(v)})
	}
}

// router reads the counters of a router with so many ports beside its own, all at once.
func (c *Counts) router(ports int, read func(linkproto.Reg) (uint32, error)) error {
	type counter struct {
		port, name string
		reg        linkproto.Reg
	}
	var list []counter
	for port := range ports + 1 {
		name := fmt.Sprint("port ", port)
		for i := range linkproto.Counter(linkproto.NumCounters) {
			list = append(list, counter{name, i.String(), linkproto.PortCounterReg(port, i)})
		}
		for i, row := range linkproto.RouterCounters {
			list = append(list, counter{name, "router " + strings.ToLower(row.Name), linkproto.RouterCounter(i).Reg(port)})
		}
	}
	const together = 32 // requests
	values, errs, room := make([]uint32, len(list)), make([]error, len(list)), make(chan struct{}, together)
	var work sync.WaitGroup
	for i := range list {
		room <- struct{}{}
		work.Go(func() {
			values[i], errs[i] = read(list[i].reg)
			<-room
		})
	}
	work.Wait()
	for i, v := range values {
		c.add(list[i].port, list[i].name, v)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
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
