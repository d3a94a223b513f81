package serve

import (
	"context"
	"fmt"
	"os"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// withoutPorts is for calls with an empty answer that could harm the ports of other programs.
func withoutPorts(do func(*client, context.Context, sharing.Message) error) run {
	return simple(func(c *client, ctx context.Context, m sharing.Message) error {
		if c.server.node.HasPorts() {
			return fmt.Errorf("%w: this network interface serves ports, which that could harm: open its target alone, without a server", hostdrv.ErrPort)
		}
		return do(c, ctx, m)
	})
}

func readRegister(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	if m.Value > uint64(^linkproto.Reg(0)) {
		return a, nil, fmt.Errorf("%w: no register %#x", hostdrv.ErrRange, m.Value)
	}
	v, err := c.server.node.ReadRegister(ctx, linkproto.Reg(m.Value))
	a.Value = uint64(v)
	return a, nil, err
}

func writeRegister(c *client, ctx context.Context, m sharing.Message) error {
	if m.Port > uint32(^linkproto.Reg(0)) || m.Value > uint64(^uint32(0)) {
		return fmt.Errorf("%w: no register %#x for %#x", hostdrv.ErrRange, m.Port, m.Value)
	}
	return c.server.node.WriteRegister(ctx, linkproto.Reg(m.Port), uint32(m.Value))
}

func readBuffer(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	if m.Value > sharing.MaxData {
		return a, nil, fmt.Errorf("%w: %d bytes at once, want at most %d", hostdrv.ErrRange, m.Value, sharing.MaxData)
	}
	a.Data = make([]byte, m.Value)
	err = c.server.node.ReadBuffer(ctx, a.Data, int(m.Port))
	return a, nil, err
}

func writeBuffer(c *client, ctx context.Context, m sharing.Message) error {
	return c.server.node.WriteBuffer(ctx, m.Data, int(m.Port))
}

func sendRouted(c *client, ctx context.Context, m sharing.Message) error {
	var p linkproto.Packet
	if err := p.Decode(m.Data); err != nil {
		return fmt.Errorf("%w: %w", hostdrv.ErrRange, err)
	}
	return c.server.node.SendRouted(ctx, int(m.Port), uint16(min(m.Value, 1<<16-1)), p)
}

func syncLink(c *client, ctx context.Context, m sharing.Message) error {
	return c.server.node.Sync(ctx, int(m.Port))
}
