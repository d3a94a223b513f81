package serve

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

func freeBarriers(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	var switches []uint16
	for data := m.Data; len(data) >= 2; data = data[2:] {
		switches = append(switches, binary.LittleEndian.Uint16(data))
	}
	free, generation, err := c.server.node.FreeBarriers(ctx, uint32(m.Value), switches)
	a.Port, a.Value = free, uint64(generation)
	return a, nil, err
}

func openBarrier(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	var g hostdrv.BarrierGroup
	if err := json.Unmarshal(m.Data, &g); err != nil {
		return a, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	c.mu.Lock()
	err = c.full()
	c.mu.Unlock()
	if err != nil {
		return a, nil, err
	}
	b, err := c.server.node.OpenBarrier(ctx, g)
	if err != nil {
		return a, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Port = c.handle()
	c.barriers[a.Port] = b
	return a, nil, nil
}

// barrier returns a barrier group by its handle.
func (c *client) barrier(handle uint32) (*hostdrv.Barrier, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.barriers[handle]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("%w: the program has no barrier group with this handle", hostdrv.ErrRange)
}

// onBarrier is for calls about a barrier group, with an empty answer.
func onBarrier(do func(b *hostdrv.Barrier, ctx context.Context) error) run {
	return simple(func(c *client, ctx context.Context, m sharing.Message) error {
		b, err := c.barrier(m.Port)
		if err != nil {
			return err
		}
		return do(b, ctx)
	})
}

func barrierStates(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, file *os.File, err error) {
	b, err := c.barrier(m.Port)
	if err != nil {
		return a, nil, err
	}
	states, err := b.States(ctx)
	if err == nil {
		file, err = fileWith(states)
	}
	return a, file, err
}

func closeBarrier(c *client, ctx context.Context, m sharing.Message) error {
	b, err := c.barrier(m.Port)
	if err != nil {
		return err
	}
	end := b.Close
	if m.Value != 0 {
		end = b.Dissolve
	}
	err = end(context.WithoutCancel(ctx)) // the group ends also if the program does not wait for that
	c.mu.Lock()
	delete(c.barriers, m.Port)
	c.mu.Unlock()
	return err
}
