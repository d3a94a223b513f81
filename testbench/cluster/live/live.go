// Package live lets the network of a cluster live: programs of other processes use its network interfaces, people look at it in a browser, and cut cables.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Options describe a Network. Zero values do.
type Options struct {
	Dir     string // of the sockets, which is made; "": no sockets
	Ports   bool   // the nodes have ports to each other, over virtual links; then there is no traffic
	Traffic int    // percent of each link that background traffic takes, as SetTraffic has it
	Seed    uint64 // of the drivers and of the traffic
	Log     *slog.Logger
}

// Network is a cluster whose hosts are nodes, served to programs. Run it, and Close it.
type Network struct {
	world   *cluster.World
	options Options
	hosts   []*host        // in the order of Cluster.NIs
	pace    *lockstep.Host // whose driver waits for ever: time passes
	traffic *traffic
}

// host is the node of a network interface.
type host struct {
	*hostdrv.Node
	name   string
	target string // for programs; "" if it is not served
	tap    *capture.Tap
	socket *serve.Listener // nil if it is not served, and once Run has it
}

// Control is the name of the socket at which Handler is served in Options.Dir: no node can have it.
const Control = "@control"

// Open takes a cluster, which Close closes, also if it fails.
func Open(ctx context.Context, c *cluster.Cluster, o Options) (*Network, error) {
	n := &Network{world: c.LivePrograms(), options: o}
	err := try.Run(func() {
		try.OK(c.Watch())
		if o.Dir != "" {
			try.OK(os.MkdirAll(o.Dir, 0o700))
			n.options.Dir = try.Get(filepath.Abs(o.Dir))
		}
		try.OK(n.start(ctx))
		n.pace = try.Get(n.world.Host(len(c.NIs)))
		n.traffic = newTraffic(n)
		try.OK(n.SetTraffic(o.Traffic))
	})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// start starts all nodes: together, since the whole network runs while one of them waits.
func (n *Network) start(ctx context.Context) error {
	hosts, errs := make([]*host, len(n.world.Cluster.NIs)), make([]error, len(n.world.Cluster.NIs))
	var work sync.WaitGroup
	for i := range hosts {
		work.Go(func() { hosts[i], errs[i] = n.host(ctx, i) })
	}
	work.Wait()
	for i, h := range hosts {
		if errs[i] == nil {
			n.hosts = append(n.hosts, h)
		}
	}
	return errors.Join(errs...)
}

// host starts the node of a network interface, and makes its socket.
func (n *Network) host(ctx context.Context, i int) (h *host, err error) {
	c := n.world.Cluster
	h = &host{name: c.Topology.Nodes[c.NIs[i].Node].Name}
	if n.options.Dir != "" {
		path := filepath.Join(n.options.Dir, h.name)
		h.target = hostdrv.SharedScheme + ":" + path
		if h.socket, err = serve.Listen(path, ""); err != nil {
			return nil, fmt.Errorf("node %s: %w", h.name, err)
		}
	}
	err = try.Run(func() {
		h.tap = capture.NewTap(h.target)
		o := hostdrv.Options{}
		if n.options.Seed != 0 {
			o.Seed = n.options.Seed + uint64(i)
		}
		ni := try.Get(hostdrv.New(ctx, try.Get(n.world.Host(i)), h.tap.Options(o)))
		var err error
		node := hostdrv.NodeOptions{NoPorts: !n.options.Ports, Seed: o.Seed}
		if n.options.Ports {
			node.Peers = n.peers(i)
		}
		if h.Node, err = hostdrv.Start(ctx, ni, node); err != nil {
			try.OK(err, ni.Close())
		}
	})
	if err != nil && h.socket != nil {
		err = errors.Join(err, h.socket.Close())
	}
	return h, err
}

// peers are all nodes but one of a network interface.
func (n *Network) peers(i int) (peers []hostdrv.Peer) {
	c := n.world.Cluster
	for other, to := range c.NIs {
		if other != i {
			peers = append(peers, hostdrv.Peer{Node: c.Topology.Nodes[to.Node].ID, Link: c.Link(c.NIs[i], to.Node)})
		}
	}
	return peers
}

// Run serves the nodes until ctx ends, with its error, or the simulation fails, with why.
func (n *Network) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	also := func(do func(context.Context) error) {
		work.Go(func() {
			if err := do(ctx); err != nil {
				cancel(err)
			}
		})
	}
	for i, h := range n.hosts {
		also(func(ctx context.Context) error { return n.traffic.send(ctx, i) })
		socket := h.socket
		if h.socket = nil; socket == nil {
			continue
		}
		o := serve.Options{Tap: h.tap}
		if n.options.Log != nil {
			o.Log = n.options.Log.With("node", h.name)
		}
		also(func(ctx context.Context) error { return serve.Serve(ctx, h.Node, socket, o) })
	}
	also(n.keepPace)
	<-ctx.Done()
	work.Wait()
	return context.Cause(ctx)
}

// Targets are what programs open, by the name of the node, in the order of the topology's network interfaces.
func (n *Network) Targets() (names, targets []string) {
	for _, h := range n.hosts {
		names, targets = append(names, h.name), append(targets, h.target)
	}
	return names, targets
}

// Number is that of the network interface of a target, in packets.
func (n *Network) Number(i int) uint16 {
	return n.world.Cluster.Topology.Nodes[n.world.Cluster.NIs[i].Node].ID
}

// Look is what can be seen of the network from outside.
func (n *Network) Look() cluster.Look { return n.world.Cluster.Look() }

// Cut pulls a cable, or plugs it in again.
func (n *Network) Cut(cable int, cut bool) error {
	err := n.world.Between(func() error { return n.world.Cluster.Cut(cable, cut) })
	n.pace.Wake() // so that something comes of it
	return err
}

// CutLane pulls a lane of a cable, both ways, or makes it whole again.
func (n *Network) CutLane(cable, lane int, cut bool) error {
	err := n.world.Between(func() error {
		return errors.Join(n.world.Cluster.CutLane(cluster.LaneWay{Cable: cable, Lane: lane}, cut),
			n.world.Cluster.CutLane(cluster.LaneWay{Cable: cable, Way: 1, Lane: lane}, cut))
	})
	n.pace.Wake()
	return err
}

// Close ends the simulation.
func (n *Network) Close() error {
	var errs []error
	if n.pace != nil { // time would wait for it while nodes tell each other that they end
		errs = append(errs, n.pace.Close())
	}
	for _, h := range n.hosts {
		errs = append(errs, h.Node.Close())
		if h.socket != nil {
			errs = append(errs, h.socket.Close())
		}
	}
	return errors.Join(append(errs, n.world.Close())...)
}
