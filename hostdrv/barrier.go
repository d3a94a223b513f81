package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/stafflink/lmmc/linkproto"
)

// Errors of barriers that callers tell apart with errors.Is.
var (
	ErrNoBarriers  = errors.New("carries out no barriers")         // an NI, or a switch
	ErrBarrier     = errors.New("barrier group cannot be used so") // wrapped by errors about the state of a group
	ErrBarrierLost = fmt.Errorf("%w: its routers do not have it any more", ErrBarrier)
)

// BarrierGroup is a group of a network's barriers as a member sees it. routing.BarrierTree has the ports, package collective makes groups of whole networks.
type BarrierGroup struct {
	Number     int             `json:"number"`     // 0 to linkproto.BarrierGroups - 1, the same at all members; of all groups that have a router in common none has the same
	Generation uint8           `json:"generation"` // 0 to 15, the same at all members, and another one than the group had before that had this number
	Ports      uint32          `json:"ports"`      // of the NI that lead to members, a bit each, bit 0 the node itself
	Switches   []BarrierSwitch `json:"switches"`   // of the group
	Make       bool            `json:"make"`       // this node makes the group at the switches: one member does
}

// BarrierSwitch is a switch of a group.
type BarrierSwitch struct {
	Node  uint16 `json:"node"`  // its number
	Ports uint32 `json:"ports"` // as of BarrierGroup
}

// BarrierState is how far a router is in a group.
type BarrierState struct {
	Node    uint16 `json:"node"`    // its number
	Silent  bool   `json:"silent"`  // it does not answer
	Lost    bool   `json:"lost"`    // it does not have the group
	Phase   uint8  `json:"phase"`   // that all members have entered, modulo 16
	Entered uint32 `json:"entered"` // ports by which the next phase has been said, a bit each
}

// Barrier is a member's end of a group. One Enter and one Wait make a barrier. Methods may be called from any goroutine.
type Barrier struct{ backend barrierBackend }

// barrierBackend is what the end of an NI of this process does in another way than that of another one's.
type barrierBackend interface {
	enter(ctx context.Context) error
	wait(ctx context.Context) error
	states(ctx context.Context) ([]BarrierState, error)
	close(ctx context.Context, dissolve bool) error
}

// OpenBarrier makes the node a member of a group, and with Make the switches routers of it. The NI and the switches must carry out barriers, else it fails with ErrNoBarriers;
// if another program that uses the NI has a group of this number, or another group has it at a switch, with ErrLimit. It does not wait for the other members. Of the programs that share an NI those of the
// server's user may have groups, and theirs end with them.
func (node *Node) OpenBarrier(ctx context.Context, g BarrierGroup) (*Barrier, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	b, err := node.on().openBarrier(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("barrier group %d: %w", g.Number, err)
	}
	return &Barrier{b}, nil
}

// FreeBarriers finds out which of some numbers, a bit each, no group has at the NI and at some switches, and a generation that none of those numbers had there last. It fails with
// ErrNoBarriers as OpenBarrier does.
func (node *Node) FreeBarriers(ctx context.Context, among uint32, switches []uint16) (free uint32, generation uint8, err error) {
	return node.on().freeBarriers(ctx, among, switches)
}

// check says what is wrong with a group.
func (g BarrierGroup) check() error {
	known := map[uint16]bool{}
	for _, s := range g.Switches {
		if s.Node == 0 || s.Node > linkproto.MaxNode || known[s.Node] {
			return fmt.Errorf("%w: switch %d of barrier group %d: want each once, 1 to %d", ErrRange, s.Node, g.Number, linkproto.MaxNode)
		}
		known[s.Node] = true
	}
	switch {
	case g.Number < 0 || g.Number >= linkproto.BarrierGroups:
		return fmt.Errorf("%w: no barrier group %d, want 0 to %d", ErrRange, g.Number, linkproto.BarrierGroups-1)
	case g.Generation >= 1<<linkproto.BarrierBits:
		return fmt.Errorf("%w: generation %d of barrier group %d, want 0 to %d", ErrRange, g.Generation, g.Number, 1<<linkproto.BarrierBits-1)
	case g.Ports&1 == 0:
		return fmt.Errorf("%w: the node is no member of barrier group %d: its own bit is missing in ports %#x", ErrRange, g.Number, g.Ports)
	case bits.OnesCount32(g.Ports) < 2:
		return fmt.Errorf("%w: ports %#x of barrier group %d lead to no other member", ErrRange, g.Ports, g.Number)
	}
	return nil
}

// Enter says that this member has entered the next phase. It fails with ErrBarrier if the member has entered it already and not waited for the others.
func (b *Barrier) Enter(ctx context.Context) error {
	if b.backend == nil {
		return ErrClosed
	}
	return b.backend.enter(ctx)
}

// Wait waits until all members have entered the phase that this one has entered. It asks the NI again and again: for 20 microseconds of the
// target's time without a pause, then with pauses that grow to a millisecond. It fails with ErrBarrierLost if the NI does not have the group any more, and with ErrBarrier if this member has not entered;
// of members that do not enter it knows nothing: a context ends it, and States tells.
func (b *Barrier) Wait(ctx context.Context) error {
	if b.backend == nil {
		return ErrClosed
	}
	return b.backend.wait(ctx)
}

// States are those of the NI, first, and of all switches of the group. A switch that does not answer takes 2 ms of the target's time.
func (b *Barrier) States(ctx context.Context) ([]BarrierState, error) {
	if b.backend == nil {
		return nil, ErrClosed
	}
	return b.backend.states(ctx)
}

// Close ends this member's part, and with BarrierGroup.Make the group at the switches. It waits so long that others who have still to hear of the last phase hear of it.
func (b *Barrier) Close(ctx context.Context) error {
	if b.backend == nil {
		return nil
	}
	return b.backend.close(ctx, false)
}

// Dissolve is Close for a group in which a member has died: it ends the group at the switches too, whoever has made it, and at once.
func (b *Barrier) Dissolve(ctx context.Context) error {
	if b.backend == nil {
		return nil
	}
	return b.backend.close(ctx, true)
}
