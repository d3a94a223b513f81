package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/stafflink/lmmc/linkproto"
)

// localBarrier is an end of a group of an NI of this process.
type localBarrier struct {
	n     *NI
	group BarrierGroup
	made  []bool // by switch: it may have the group from here

	// Under the NI's lock.
	phase   uint8 // that all members have entered
	used    bool  // there has been one
	entered bool  // the next one, by this member
	closed  bool
}

// network is the link of an NI with a router.
const network = 1

// Pauses between questions to the NI while a member waits: the first and the longest one.
const (
	firstPause = defaultSpin / 2
	mostPause  = time.Millisecond
)

// barrierLinger is for how long a router that others hear of a phase from keeps the group when it ends: each router says it again at least once in that time.
const barrierLinger = 2 * linkproto.BarrierGroups * linkproto.DefaultBarrierAgain

func (n *NI) openBarrier(ctx context.Context, g BarrierGroup) (barrierBackend, error) {
	if err := n.barriers(); err != nil {
		return nil, err
	}
	b := &localBarrier{n: n, group: g, made: make([]bool, len(g.Switches))}
	n.lock()
	if n.groups[g.Number] != nil {
		n.unlock()
		return nil, fmt.Errorf("%w: another program has it, or this one", ErrLimit)
	}
	n.groups[g.Number] = b
	n.unlock()
	err := b.set(ctx, g.Ports)
	if err == nil && g.Make {
		err = b.each(func(i int, s BarrierSwitch) error { return b.make(ctx, i, s) })
	}
	if err != nil {
		b.close(context.WithoutCancel(ctx), false)
		return nil, err
	}
	return b, nil
}

// barriers says why the NI has none, or nil.
func (n *NI) barriers() error {
	if err := n.Err(); err != nil {
		return err
	}
	if !n.identity.Has(linkproto.FeatureBarriers) {
		return fmt.Errorf("%w: the network interface: it must be built with BARRIER set, as lmmc net up --barriers has it", ErrNoBarriers)
	}
	return nil
}

// members is MEMBERS with some ports.
func (b *localBarrier) members(ports uint32) uint32 {
	return linkproto.BarrierPorts.In(ports) | linkproto.BarrierGeneration.In(uint32(b.group.Generation))
}

func (b *localBarrier) reg(r linkproto.BarrierReg) linkproto.Reg { return r.Reg(b.group.Number) }

// set has the NI begin the group anew, or none at all, and looks whether it has.
func (b *localBarrier) set(ctx context.Context, ports uint32) error {
	reg := b.reg(linkproto.BarrierRegMembers)
	for {
		have, err := b.n.ReadRegister(ctx, reg) // of a program that has died, perhaps
		if err == nil {
			batch := b.n.Batch()
			batch.WriteRegister(reg, linkproto.BarrierGeneration.In(linkproto.BarrierGeneration.Of(have)))
			batch.WriteRegister(reg, b.members(ports))
			batch.ReadRegister(reg, &have)
			err = batch.Run(ctx)
		}
		if _, restarted := errors.AsType[*RestartError](err); restarted {
			continue
		}
		if err == nil && have != b.members(ports) {
			err = fmt.Errorf("%w: the network interface has ports %#x of %#x", ErrRange, linkproto.BarrierPorts.Of(have), ports)
		}
		return err
	}
}

// each does something with all switches at once, and returns the first error in their order.
func (b *localBarrier) each(do func(i int, s BarrierSwitch) error) error {
	errs := make([]error, len(b.group.Switches))
	var work sync.WaitGroup
	for i, s := range b.group.Switches {
		work.Go(func() { errs[i] = do(i, s) })
	}
	work.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return fmt.Errorf("switch %d: %w", b.group.Switches[i].Node, errs[i])
	}
	return nil
}

// make claims the group's number at a switch, which takes it if no other group has it.
func (b *localBarrier) make(ctx context.Context, i int, s BarrierSwitch) error {
	reg := b.reg(linkproto.BarrierRegMembers)
	have, err := b.n.barrierAt(ctx, s.Node, reg)
	switch {
	case err != nil:
		return err
	case have == b.members(s.Ports):
		return fmt.Errorf("%w: it has had the same ports and generation before: use another generation", ErrBarrier)
	}
	b.made[i] = true
	if err = b.n.WriteRemote(ctx, network, s.Node, reg, b.members(s.Ports)); err != nil {
		return err
	}
	have, err = b.n.barrierAt(ctx, s.Node, reg)
	switch ports := linkproto.BarrierPorts.Of(have); {
	case err != nil || have == b.members(s.Ports):
		return err
	case have == b.members(ports) && ports&^s.Ports == 0:
		return fmt.Errorf("%w: it has ports %#x of %#x: look at its ports in the topology", ErrBarrier, ports, s.Ports)
	default:
		return fmt.Errorf("%w: another group has the number there, with ports %#x and generation %d: use another number, or end that group", ErrLimit, ports, linkproto.BarrierGeneration.Of(have))
	}
}

// barrierAt reads a register for barriers of a switch.
func (n *NI) barrierAt(ctx context.Context, node uint16, r linkproto.Reg) (uint32, error) {
	v, err := n.ReadRemote(ctx, network, node, r)
	if refused, is := errors.AsType[*RefusedError](err); is && refused.Status == linkproto.StatusBadAddress {
		err = ErrNoBarriers
	}
	return v, err
}

func (n *NI) freeBarriers(ctx context.Context, among uint32, switches []uint16) (free uint32, generation uint8, err error) {
	if err := n.barriers(); err != nil {
		return 0, 0, err
	}
	n.lock()
	for i, b := range n.groups {
		if b == nil {
			free |= among & (1 << i)
		}
	}
	n.unlock()
	var own [linkproto.BarrierGroups]uint32
	batch := n.Batch()
	for i := range own {
		batch.ReadRegister(linkproto.BarrierRegMembers.Reg(i), &own[i])
	}
	if err := batch.Run(ctx); err != nil {
		return 0, 0, err
	}
	var used uint32 // generations, a bit each
	for i := range own {
		if free>>i&1 == 0 {
			continue
		}
		used |= 1 << linkproto.BarrierGeneration.Of(own[i])
		for _, s := range switches {
			has, err := n.barrierAt(ctx, s, linkproto.BarrierRegMembers.Reg(i))
			if err != nil {
				return 0, 0, fmt.Errorf("switch %d: %w", s, err)
			}
			if used |= 1 << linkproto.BarrierGeneration.Of(has); linkproto.BarrierPorts.Of(has) != 0 {
				free &^= 1 << i
			}
		}
	}
	return free, uint8(bits.TrailingZeros32(^used)) % (1 << linkproto.BarrierBits), nil
}

// value is PHASE with a phase.
func (b *localBarrier) value(phase uint8) uint32 {
	return uint32(linkproto.BarrierValue(b.group.Generation, phase%(1<<linkproto.BarrierBits)))
}

// begin looks whether a call may begin, of a member that has entered the next phase or has not, and returns the phase that all have entered.
func (b *localBarrier) begin(entered bool) (phase uint8, err error) {
	b.n.lock()
	defer b.n.unlock()
	switch {
	case b.closed:
		return 0, ErrClosed
	case b.entered != entered && entered:
		return 0, fmt.Errorf("barrier group %d: %w: this member has not entered a phase: enter first", b.group.Number, ErrBarrier)
	case b.entered != entered:
		return 0, fmt.Errorf("barrier group %d: %w: this member has entered phase %d before: wait for the others first", b.group.Number, ErrBarrier, b.phase+1)
	}
	b.entered = true
	return b.phase, nil
}

func (b *localBarrier) enter(ctx context.Context) error {
	phase, err := b.begin(false)
	if err != nil {
		return err
	}
	for {
		err := b.n.WriteRegister(ctx, b.reg(linkproto.BarrierRegPhase), b.value(phase+1))
		if _, restarted := errors.AsType[*RestartError](err); restarted { // it may come twice
			continue
		}
		if err != nil {
			b.n.lock()
			b.entered = false
			b.n.unlock()
		}
		return err
	}
}

func (b *localBarrier) wait(ctx context.Context) error {
	phase, err := b.begin(true)
	if err != nil {
		return err
	}
	spin, pause := b.n.Now()+defaultSpin, firstPause
	for {
		switch v, err := b.n.ReadRegister(ctx, b.reg(linkproto.BarrierRegPhase)); {
		case err != nil:
			return b.waiting(err)
		case v == b.value(phase+1):
			b.n.lock()
			b.phase, b.entered, b.used = (phase+1)%(1<<linkproto.BarrierBits), false, true
			b.n.unlock()
			return nil
		case v != b.value(phase):
			return fmt.Errorf("barrier group %d: %w: the network interface's register PHASE is %#x, want %#x: make the group anew", b.group.Number, ErrBarrierLost, v, b.value(phase))
		}
		if b.n.Now() < spin {
			continue
		}
		if err := b.n.Sleep(ctx, pause); err != nil {
			return b.waiting(err)
		}
		pause = min(2*pause, mostPause)
	}
}

// waiting says what was waited for.
func (b *localBarrier) waiting(err error) error {
	return fmt.Errorf("barrier group %d: waiting for the other members: %w", b.group.Number, err)
}

func (b *localBarrier) states(ctx context.Context) ([]BarrierState, error) {
	states := make([]BarrierState, 1+len(b.group.Switches))
	set := func(s *BarrierState, node uint16, ports uint32, read func(linkproto.BarrierReg) (uint32, error)) error {
		var v [linkproto.NumBarrierRegs]uint32
		for r := range v {
			var err error
			if v[r], err = read(linkproto.BarrierReg(r)); errors.Is(err, ErrNoAnswer) {
				*s = BarrierState{Node: node, Silent: true}
				return nil
			} else if err != nil {
				return err
			}
		}
		*s = BarrierState{
			Node: node, Lost: v[linkproto.BarrierRegMembers] != b.members(ports),
			Phase: uint8(linkproto.BarrierPhase.Of(v[linkproto.BarrierRegPhase])), Entered: v[linkproto.BarrierRegEntered],
		}
		return nil
	}
	err := set(&states[0], b.n.node, b.group.Ports, func(r linkproto.BarrierReg) (uint32, error) { return b.n.ReadRegister(ctx, b.reg(r)) })
	if err != nil {
		return nil, err
	}
	return states, b.each(func(i int, s BarrierSwitch) error {
		return set(&states[1+i], s.Node, s.Ports, func(r linkproto.BarrierReg) (uint32, error) { return b.n.barrierAt(ctx, s.Node, b.reg(r)) })
	})
}

func (b *localBarrier) close(ctx context.Context, dissolve bool) error {
	b.n.lock()
	again, used := b.closed, b.used
	b.closed = true
	b.n.unlock()
	if again {
		return nil
	}
	inner := b.group.Make || bits.OnesCount32(b.group.Ports) > 2 // others hear of the last phase from here
	var err error
	if used && inner && !dissolve {
		err = b.n.Sleep(ctx, time.Duration(barrierLinger/b.n.timing.TicksPerSecond*float64(time.Second)))
	}
	ended := b.end(ctx, dissolve)
	if ctx.Err() != nil { // else the number stays taken
		brief, cancel := b.n.briefly()
		defer cancel()
		ended = b.end(brief, dissolve)
	}
	b.n.lock()
	b.n.groups[b.group.Number] = nil
	b.n.unlock()
	return errors.Join(err, ended)
}

// end ends the group at the NI, and at the switches that have it from here, or with dissolve at all.
func (b *localBarrier) end(ctx context.Context, dissolve bool) error {
	err := b.each(func(i int, s BarrierSwitch) error {
		if !dissolve && !b.made[i] {
			return nil
		}
		return b.leave(ctx, s)
	})
	return errors.Join(err, b.set(ctx, 0))
}

// leave ends the group at a switch, unless that has another one, or has gone.
func (b *localBarrier) leave(ctx context.Context, s BarrierSwitch) error {
	reg := b.reg(linkproto.BarrierRegMembers)
	have, err := b.n.barrierAt(ctx, s.Node, reg)
	if err == nil && have == b.members(s.Ports) {
		err = b.n.WriteRemote(ctx, network, s.Node, reg, b.members(0))
	}
	if errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrNoBarriers) {
		return nil
	}
	return err
}
