package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster/parts"
	"github.com/stafflink/lmmc/testbench/ni"
)

// far is all nodes of a cluster that is split, as the coordinator has them.
type far struct {
	*parts.Group
	count  int
	hosts  [][]*farHost // by part
	status [][]portStatus
	known  bool // status is that of now

	orders, answers []messages // by part
}

// split starts the parts of a cluster.
func (n *Cluster) split(c Config) {
	p := *c.Parts
	n.of, n.here = partition(n.Topology, n.peers, p.Count), -1
	try.OK(n.splittable(p.Count))
	var file bytes.Buffer
	try.OK(n.Topology.Write(&file))
	c.Topology, c.Parts, c.From = nil, nil, nil
	ctx, cancel := context.WithCancelCause(n.ctx)
	n.ctx = ctx
	launch := func(address, token string) error {
		return p.Launch(ctx, address, token, func(err error) { cancel(err) })
	}
	group := try.Get(parts.Start(ctx, p.Listen, p.Count, p.Version, new(messages).encode(setup{file.Bytes(), c}), launch))
	n.group = &far{Group: group, count: p.Count, hosts: make([][]*farHost, p.Count), orders: make([]messages, p.Count), answers: make([]messages, p.Count)}
}

// splittable says why a cluster cannot be split so.
func (n *Cluster) splittable(count int) error {
	if nis := n.Topology.Count(topology.NI); count < 1 || count > nis {
		return fmt.Errorf("cluster: %d parts of %d network interfaces: want 1 at least, and no more than network interfaces", count, nis)
	}
	least := 2
	for _, node := range n.Topology.Nodes {
		if n.config.rung(node) == Model { // models run for a quantum at a time
			least = quantum + 1
		}
	}
	for _, c := range n.Topology.Cables {
		if n.crossing(c) < least-1 {
			return fmt.Errorf("cluster: cable %s joins two parts and has a latency of %d clocks: give it %d or more, since parts wait for each other as often",
				n.Topology.CableName(c), c.Latency, least)
		}
	}
	return nil
}

// crossing is for how many clocks parts can run between two exchanges of what a cable carries. What comes to a model takes a quantum anyway.
func (n *Cluster) crossing(c topology.Cable) int {
	for i, e := range c.Ends {
		if n.of[e.Node] != n.of[c.Ends[1-i].Node] && n.config.rung(n.Topology.Nodes[e.Node]) != Model {
			return c.Latency - 1
		}
	}
	return quantum
}

// elsewhere is a node that another process simulates. The coordinator has its host.
func (n *Cluster) elsewhere(i int, node topology.Node, epoch uint8) node {
	if n.group != nil && node.Kind == topology.NI {
		h := &farHost{}
		n.group.hosts[n.of[i]] = append(n.group.hosts[n.of[i]], h)
		n.host(i, try.Get(ni.JoinHost(h, withLanes(n.config.params(node), n.lanes(i)), epoch)))
	}
	return farNode{n, i}
}

// farNode is a node elsewhere.
type farNode struct {
	of   *Cluster
	Node int
}

func (farNode) socket(int, int) socket { return socket{away: true} }
func (farNode) reset(bool)             {}
func (farNode) Close() error           { return nil }

func (f farNode) status(port int) (uint32, bool) {
	g := f.of.group
	if g == nil || !g.known && g.ask() != nil {
		return 0, false
	}
	s := g.status[f.Node][port]
	return s.Value, s.Known
}

// farHost is the host port of a network interface elsewhere.
type farHost struct {
	out, in []linkproto.Symbol
	turn    bool // it has sent what it has to send
}

// Feed sends.
func (h *farHost) Feed(symbols []linkproto.Symbol) {
	h.out, h.turn = append(h.out, symbols...), true
}

// Emit receives.
func (h *farHost) Emit(dst []linkproto.Symbol) int {
	n := copy(dst, h.in)
	h.in = h.in[n:]
	return n
}

// Tick lets time pass.
func (*farHost) Tick(int) {}

// exchange gives each part an order and returns their answers. With clocks > 0 all run for so many.
func (f *far) exchange(order func(part int) partOrder, clocks int) (answers []partAnswer, err error) {
	orders := make([][]byte, f.count)
	for i := range orders {
		orders[i] = f.orders[i].encode(order(i))
	}
	data, err := f.Do(orders, clocks)
	answers = make([]partAnswer, f.count)
	for i := 0; i < f.count && err == nil; i++ {
		err = f.answers[i].decode(data[i], &answers[i])
	}
	return answers, err
}

// run runs all parts.
func (f *far) run(clocks int) error {
	f.known = false
	answers, err := f.exchange(func(part int) (o partOrder) {
		for _, h := range f.hosts[part] {
			o.Hosts, o.Turn = append(o.Hosts, h.out), h.turn
		}
		return o
	}, clocks)
	for i, hosts := range f.hosts {
		for k, h := range hosts {
			h.out, h.turn = h.out[:0], false
			if err == nil {
				h.in = append(h.in, answers[i].Hosts[k]...)
			}
		}
	}
	return err
}

// tell gives all parts the same order.
func (f *far) tell(o partOrder) ([]partAnswer, error) {
	return f.exchange(func(int) partOrder { return o }, 0)
}

// order has all parts do one of two things.
func (f *far) order(first bool, yes, no orderKind, cable int) error {
	if first {
		no = yes
	}
	_, err := f.tell(partOrder{Do: no, Cable: cable})
	return err
}

// ask asks for the status of all nodes: each is known to one part at most.
func (f *far) ask() error {
	answers, err := f.tell(partOrder{Do: orderStatus})
	if err != nil {
		return err
	}
	f.status, f.known = answers[0].Status, true
	for _, a := range answers[1:] {
		for i, all := range a.Status {
			for port, s := range all {
				if s.Known {
					f.status[i][port] = s
				}
			}
		}
	}
	return nil
}

// errParts says what a cluster that is split cannot do.
var errParts = errors.New("cluster: what is on the cables cannot be looked at while the network is split: leave out the parts")
