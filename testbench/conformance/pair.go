package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// pair is two nodes whose network interfaces other processes serve: the one under test, and the one that its ports lead to.
type pair struct {
	targets [2]string
	nodes   [2]*hostdrv.Node
	via     int // the link of the first that leads to the other
	at      int // and of the other
	number  uint16
}

// pairTiming is what is assumed of the target's time, which a server does not tell.
var pairTiming = hostdrv.Timing{TicksPerSecond: 1e6}

// plugPair opens two shared nodes.
func plugPair(ctx context.Context, targets [2]string) (_ *line, err error) {
	p := &pair{targets: targets}
	err = try.Run(func() {
		var numbers [2]uint16
		for i, target := range targets {
			if !strings.HasPrefix(target, hostdrv.SharedScheme+":") {
				try.Failf("%w: %s and %s: of two targets both must be shared, as in unix:PATH", ErrOptions, targets[0], targets[1])
			}
			p.nodes[i] = try.Get(hostdrv.OpenNode(ctx, target, hostdrv.Options{}, hostdrv.NodeOptions{}))
			numbers[i] = uint16(try.Get(p.nodes[i].ReadRegister(ctx, linkproto.RegNodeID)))
		}
		p.number = numbers[1]
		p.via, p.at = p.link(ctx, 0, numbers[1]), p.link(ctx, 1, numbers[0])
	})
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return &line{pair: p}, nil
}

// link is the link by which ports of a node lead to the other one: a cable, or a virtual link.
func (p *pair) link(ctx context.Context, end int, other uint16) int {
	for _, l := range p.nodes[end].Links() {
		peer := uint32(l.Peer)
		if peer == 0 {
			v := try.Get(p.nodes[end].ReadRegister(ctx, linkproto.PeerReg(l.Link)))
			peer = linkproto.PeerKnown.Of(v) * linkproto.PeerNode.Of(v)
		}
		if other != 0 && peer == uint32(other) {
			return l.Link
		}
	}
	try.Failf("%s has no link for ports to node %d, which %s is: cable them and give them numbers (lmmc serve --node), or serve a network with lmmc net up --ports",
		p.targets[end], other, p.targets[1-end])
	return 0
}

func (p *pair) close() (err error) {
	for _, n := range p.nodes {
		if n != nil {
			err = errors.Join(err, n.Close())
		}
	}
	return err
}

// byPorts reports whether a case takes no more than two nodes with ports, or says itself what else it needs.
func (c Case) byPorts() bool {
	group, _, _ := strings.Cut(c.Name, "/")
	return slices.Contains([]string{"ports", "paging", "policies", "waits", "network"}, group)
}

// node is bench.node for the two. Their servers have chosen how many frames there are.
func (p *pair) node(b *bench) *node {
	n := &node{Node: p.nodes[0], far: p.nodes[1], bench: b, loop: loop{p.via, p.at}}
	for _, f := range n.far.Tables().Frames {
		if f.Link == p.at {
			n.frames++
		}
	}
	if ends := n.ends(); len(ends) > 0 {
		try.Failf("the nodes have %d ends of ports already: end the programs that use them", len(ends))
	}
	return n
}

// links are those under test.
func (p *pair) links() []Link {
	return []Link{{Link: p.via, Up: true, Node: fmt.Sprintf("%d, %s", p.number, p.targets[1])}}
}

// sent counts the packets that the network interface of the first of a pair has sent by the link that leads to the other. Nobody else is to use that meanwhile.
func (b *bench) sent(ctx context.Context) uint32 {
	link := b.line.pair.via
	reg := linkproto.CounterReg(link, linkproto.CntTxPackets)
	switch {
	case link <= b.id.Links:
	case b.id.Has(linkproto.FeatureRouter): // port 0 is the node itself
		reg = linkproto.PortCounterReg(0, linkproto.CntTxPackets)
	case b.id.Has(linkproto.FeatureRoutes) && b.id.Links == 1:
		reg = linkproto.CounterReg(1, linkproto.CntTxPackets)
	default:
		skipf("needs packets of the nodes' link to be counted, which no network interface does")
	}
	return try.Get(b.target.ReadRegister(ctx, reg))
}
