package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// networkPlace is where in a network a network interface is that lmmc serve shares. The zero one is in none.
type networkPlace struct {
	number uint16
	peers  []hostdrv.Peer
	relay  map[uint16]int
	uplink *hostdrv.NI // or nil
}

// networkPlaceOf reads the flags --network and --name.
func networkPlaceOf(ctx *cli.Context) (p networkPlace) {
	file, name := ctx.String("network"), ctx.String("name")
	switch {
	case (file == "") != (name == "") || file == "" && (ctx.IsSet("peers") || ctx.IsSet("uplink")):
		try.OK(usagef("--network FILE and --name NODE go together, and --peers and --uplink with them"))
	case file == "":
		return networkPlace{number: uint16(ctx.Int("node"))}
	case ctx.IsSet("node"):
		try.OK(usagef("--node cannot go with --network, which gives the node its number"))
	}
	t := try.Get(topology.ReadFile(file))
	at, ok := t.Find(name)
	if !ok || t.Nodes[at].Kind != topology.NI {
		try.Failf("--name %s: %s has no network interface of this name%s", name, file, nearest.Hint(name, t.Names(topology.NI)))
	}
	tables := try.Get(routing.Build(t, ""))
	p = networkPlace{number: t.Nodes[at].ID, relay: map[uint16]int{}}
	wanted := nodesOf(ctx.String("peers"))
	for to, n := range t.Nodes {
		port, _ := tables.Route(at, to)
		if port == 0 || n.Kind != topology.NI {
			continue
		}
		p.relay[n.ID] = int(port)
		if wanted == nil || slices.Contains(wanted, n.ID) {
			p.peers = append(p.peers, hostdrv.Peer{Node: n.ID, Link: int(port)})
		}
	}
	return p
}

// start starts a node there.
func (p networkPlace) start(ctx *cli.Context, n *hostdrv.NI) (*hostdrv.Node, error) {
	if p.relay != nil && n.Identity().Has(linkproto.FeatureRouter) {
		return nil, usagef("--network is for network interfaces without a router, whose tables nobody would set; lmmc net up serves networks of those")
	}
	if p.uplink != nil {
		beyond := func(port int) bool { return port > n.Identity().Links }
		maps.DeleteFunc(p.relay, func(_ uint16, port int) bool { return beyond(port) })
		for i := range p.peers {
			if beyond(p.peers[i].Link) {
				p.peers[i].Link = 0
			}
		}
	}
	o := hostdrv.NodeOptions{Peers: p.peers, Relay: p.relay, Uplink: p.uplink}
	if id := n.Identity(); p.relay != nil && !id.Has(linkproto.FeatureRoutes) { // a frame of each cable is its ring, and no other is for the cable itself
		spare := id.Frames - id.Links
		if spare < len(p.peers) {
			return nil, fmt.Errorf("%d frames are too few for %d cables and ports to %d nodes: choose nodes by --peers", id.Frames, id.Links, len(p.peers))
		}
		o.Frames = make([]int, id.Links)
		for i := range p.peers {
			o.Frames = append(o.Frames, (spare+i)/len(p.peers))
		}
	}
	return hostdrv.Start(ctx.Context, n, o)
}
