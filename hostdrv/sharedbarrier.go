package hostdrv

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// sharedBarrier is an end of a group of an NI of another process.
type sharedBarrier struct {
	node   sharedNode
	handle uint32

	mu     sync.Mutex
	closed bool
}

func (n sharedNode) freeBarriers(ctx context.Context, among uint32, switches []uint16) (free uint32, generation uint8, err error) {
	m := sharing.Message{Op: sharing.OpBarriers, Value: uint64(among)}
	for _, s := range switches {
		m.Data = binary.LittleEndian.AppendUint16(m.Data, s)
	}
	a, err := n.Call(ctx, "the server", m)
	return a.Port, uint8(a.Value), err
}

func (n sharedNode) openBarrier(ctx context.Context, g BarrierGroup) (barrierBackend, error) {
	group, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	a, err := n.CallSure(ctx, "the server", sharing.Message{Op: sharing.OpBarrier, Data: group})
	if err != nil {
		return nil, err
	}
	return &sharedBarrier{node: n, handle: a.Port}, nil
}

// ask makes a call about the group.
func (b *sharedBarrier) ask(ctx context.Context, op sharing.Op, what string) error {
	b.mu.Lock()
	closed := b.closed
	b.mu.Unlock()
	if closed {
		return ErrClosed
	}
	_, err := b.node.CallSure(ctx, what, sharing.Message{Op: op, Port: b.handle})
	return err
}

func (b *sharedBarrier) enter(ctx context.Context) error {
	return b.ask(ctx, sharing.OpBarrierEnter, "the server")
}

func (b *sharedBarrier) wait(ctx context.Context) error {
	return b.ask(ctx, sharing.OpBarrierWait, "the other members of a barrier group")
}

func (b *sharedBarrier) states(ctx context.Context) (states []BarrierState, err error) {
	err = b.node.Fetch(ctx, sharing.Message{Op: sharing.OpBarrierStates, Port: b.handle}, &states)
	return states, err
}

func (b *sharedBarrier) close(ctx context.Context, dissolve bool) error {
	b.mu.Lock()
	again := b.closed
	b.closed = true
	b.mu.Unlock()
	if again {
		return nil
	}
	if ctx.Err() != nil { // the group ends nevertheless
		brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*hangUpLimit)
		defer cancel()
		ctx = brief
	}
	m := sharing.Message{Op: sharing.OpBarrierClose, Port: b.handle}
	if dissolve {
		m.Value = 1
	}
	_, err := b.node.Call(ctx, "the server", m)
	return err
}
