package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Gates finds a board's configuration: the parameters of the network interface in it, and what synthesises its netlist.
type Gates func(board string) (p rtl.Params, netlist func(context.Context) (verilator.Design, error), err error)

// chip is a netlist.
type chip struct {
	design verilator.Design
	params rtl.Params
}

// gates is the board that a node is the netlist of.
func (c Config) gates(n topology.Node) (board string, ok bool) {
	return strings.CutPrefix(c.rung(n), "gates:")
}

// withChips synthesises the boards of a topology, whose pages and frames all network interfaces then have.
func (c Config) withChips(ctx context.Context) (Config, map[string]chip, error) {
	chips := map[string]chip{}
	for _, node := range c.Topology.Nodes {
		board, ok := c.gates(node)
		if !ok || c.Gates == nil || chips[board].params.Links > 0 {
			continue
		}
		if c.Parts != nil || c.Arrivals {
			return c, nil, fmt.Errorf("cluster: node %s is the netlist of a board, which is simulated in one process and not measured: give it the rung rtl or model", node.Name)
		}
		p, netlist, err := c.Gates(board)
		if err != nil {
			return c, nil, fmt.Errorf("cluster: node %s: %w", node.Name, err)
		}
		if p = p.WithDefaults(); !p.Routes || p.Links != 1 || p.LinkPHY != rtl.Serial || p.HostPHY != rtl.UART {
			return c, nil, fmt.Errorf("cluster: node %s: %s cannot be in a network: want a configuration of one serial link with routes, such as hx8k/routed-link", node.Name, board)
		}
		if c.Params.Frames == 0 {
			c.Params.Frames = p.Frames
		}
		if c.Params.PageBytes == 0 {
			c.Params.PageBytes = p.PageBytes
		}
		if c.Params.Frames != p.Frames || c.Params.PageBytes != p.PageBytes {
			return c, nil, fmt.Errorf("cluster: node %s: %s has %d frames of %d bytes, and others have %d of %d: all must have the same", node.Name, board,
				p.Frames, p.PageBytes, c.Params.Frames, c.Params.PageBytes)
		}
		design, err := netlist(ctx)
		if err != nil {
			return c, nil, fmt.Errorf("cluster: node %s: %w", node.Name, err)
		}
		chips[board] = chip{design, p}
	}
	return c, chips, nil
}

// wired says why the netlist of a board cannot be cabled as it is: its links are serial, and only switches in RTL have such ports.
func (n *Cluster) wired(at int) error {
	cables := 0
	for _, cable := range n.Topology.Cables {
		for i, end := range cable.Ends {
			if end.Node != at {
				continue
			}
			cables++
			if peer := n.Topology.Nodes[cable.Ends[1-i].Node]; peer.Kind != topology.Switch || n.config.rung(peer) != RTL || cable.Lanes > 1 {
				return fmt.Errorf("cluster: cable %s is serial, as the links of boards are: want one lane, and a switch of rung rtl at its other end", n.Topology.CableName(cable))
			}
		}
	}
	if n.Topology.Nodes[at].Kind != topology.NI || cables != 1 {
		return errors.New("cluster: node " + n.Topology.Nodes[at].Name + " is the netlist of a board: want a network interface with one cable")
	}
	return nil
}

// serial are the ports of a switch with serial cables, a bit each, and the clocks of a bit on these.
func (n *Cluster) serial(at int) (ports uint, oversample int) {
	for port, peer := range n.peers[at] {
		if peer < 0 {
			continue
		}
		if board, ok := n.config.gates(n.Topology.Nodes[peer]); ok {
			ports |= 1 << (port - 1)
			if own := n.chips[board].params.Oversample; oversample != 0 && oversample != own {
				try.Failf("cluster: the boards at %s take %d and %d clocks for a bit on their links: want the same", n.Topology.Nodes[at].Name, oversample, own)
			} else {
				oversample = own
			}
		}
	}
	return ports, oversample
}

// makeChip makes a node that is the netlist of a board, behind its pins.
func (n *Cluster) makeChip(b *builder, i int, board string, epoch uint8, seed uint64) node {
	c := n.chips[board]
	lines := func(port, _ int) (rx, tx string) { return c.params.Lines(port) }
	m := b.open(c.design, board, n.Topology.Nodes[i].Name, seed, lines)
	m.serial = 1
	rx, tx := c.params.Lines(0)
	line := try.Get(ni.NewUARTLine(m.Model, m.clock, rx, tx, c.params.HostDivisor))
	n.host(i, try.Get(ni.NewUARTHost(line, c.params, epoch)))
	return m
}

// idle is what is on a cable while nothing is sent.
func (s socket) idle() uint64 {
	if s.serial {
		return 0
	}
	return uint64(linkproto.SymIdle)
}
