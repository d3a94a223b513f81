package hostdrv

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// GroupPorts are the ports by which packets for a multicast group leave a router, but that by which they come. Bit 0 is the node itself.
type GroupPorts struct {
	Node  uint16
	Ports uint32
}

// MakeGroup tells routers by which ports packets for a multicast group leave, as routing.Tables.Tree finds them: switches, which this NI must reach by its link 1, and its own router. The
// group's address is linkproto.MulticastBase and its number. A router without ports drops what comes for the group.
func (n *NI) MakeGroup(ctx context.Context, group int, of []GroupPorts) error {
	if group < 0 || linkproto.MulticastBase+group > 0xFFFF {
		return fmt.Errorf("%w: no multicast group %d", ErrRange, group)
	}
	reg := linkproto.RegGroupTable + linkproto.Reg(group)
	for _, g := range of {
		write := func() error { return n.WriteRemote(ctx, 1, g.Node, reg, g.Ports) }
		if g.Node == n.node {
			write = func() error { return n.WriteRegister(ctx, reg, g.Ports) }
		}
		if err := write(); err != nil {
			return fmt.Errorf("multicast group %d: node %d: %w", group, g.Node, err)
		}
	}
	return nil
}
