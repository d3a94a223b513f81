package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

var orderingCases = []Case{
	{"ordering/writes", "Remote writes by a link are carried out in the order in which they were sent: a word that counts up never goes back.",
		staffLink, "protocol.md#sending-and-receiving", writesInOrder},
	{"ordering/trap", "A PAGE or CONNECT is reported after all that was sent before it has been carried out; what is behind it waits for RESUME.",
		remotePaging, "protocol.md#traps", trapsInOrder},
	{"ordering/trapped", "While a link waits at a trap, the host's requests, what the host sends by this link, and all other links go on.",
		remotePaging, "protocol.md#traps", trappedAlone},
	{"ordering/connect", "A CONNECT traps with its port and its parameters, of each length, as they were sent.",
		ports, "protocol.md#traps", connects},
}

func writesInOrder(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	if _, err := b.frames(); err != nil {
		return err
	}
	if err := errors.Join(b.ni.WriteBuffer(ctx, make([]byte, 4), 0), b.grant(ctx, l.at, 0)); err != nil {
		return err
	}
	last, count := uint32(0), uint32(b.symbols()/400)
	for i := range count {
		if err := b.ni.Write(ctx, l.via, 0, binary.LittleEndian.AppendUint32(nil, i+1)); err != nil {
			return err
		}
		if b.rng.IntN(8) > 0 {
			continue
		}
		have := make([]byte, 4)
		if err := b.ni.ReadBuffer(ctx, have, 0); err != nil {
			return err
		}
		v := binary.LittleEndian.Uint32(have)
		if v < last || v > i+1 {
			return fmt.Errorf("a word that counts up reads %d after %d, when %d were written", v, last, i+1)
		}
		last = v
	}
	if err := b.arrived(ctx, l); err != nil {
		return err
	}
	if err := b.holds(ctx, 0, binary.LittleEndian.AppendUint32(nil, count)); err != nil {
		return fmt.Errorf("of %d writes of a word the last is not what it holds: %w", count, err)
	}
	// Writes that overlap.
	m, err := b.blank(ctx, 0, 1)
	if err != nil {
		return err
	}
	for range min(300, b.symbols()/100) {
		off := b.rng.IntN(24)
		data := b.noise(1 + b.rng.IntN(24))
		if err := b.ni.Write(ctx, l.via, off, data); err != nil {
			return err
		}
		m.write(off, data)
	}
	if err := b.arrived(ctx, l); err != nil {
		return err
	}
	return b.check(ctx, m)
}

// trap waits for the next trap.
func (b *bench) trap(ctx context.Context, events *hostdrv.Events) (*hostdrv.Trap, error) {
	limit, cancel := b.soon(ctx, 1)
	defer cancel()
	for {
		ev, err := events.Next(limit)
		if err != nil {
			return nil, err
		}
		if t, ok := ev.(*hostdrv.Trap); ok {
			return t, nil
		}
	}
}

// trapped waits for a trap and checks that it is the one expected, and that its link says so.
func (b *bench) trapped(ctx context.Context, events *hostdrv.Events, want hostdrv.Trap) error {
	t, err := b.trap(ctx, events)
	if err != nil {
		return fmt.Errorf("the trap at %v of port %d is not told: %w", want.Type, want.Port, err)
	}
	if t.Link != want.Link || t.Type != want.Type || t.Frame != want.Frame || t.Port != want.Port || string(t.Params) != string(want.Params) {
		return fmt.Errorf("trapped at %+v, want %+v", *t, want)
	}
	s, err := b.ni.LinkStatus(ctx, want.Link)
	if err == nil && !s.Trapped {
		err = fmt.Errorf("LINK_STATUS of link %d does not say TRAPPED after its trap was told", want.Link)
	}
	return err
}

// trapsInOrder sends a count to one word, with PAGEs and CONNECTs between.
func trapsInOrder(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	frames, err := b.frames()
	if err != nil {
		return err
	}
	events, err := b.ni.Events()
	if err != nil {
		return err
	}
	for round := range max(1, min(20, b.symbols()/4000)) {
		if err := errors.Join(b.ni.WriteBuffer(ctx, make([]byte, 4), 0), b.grant(ctx, l.at, 0)); err != nil {
			return err
		}
		type stop struct {
			trap hostdrv.Trap
			sum  uint32 // what the word must hold
		}
		var stops []stop
		sum := uint32(0)
		writes := func() error {
			for range b.rng.IntN(4) {
				sum++
				if err := b.ni.Write(ctx, l.via, 0, binary.LittleEndian.AppendUint32(nil, sum)); err != nil {
					return err
				}
			}
			return nil
		}
		for range 1 + b.rng.IntN(5) {
			if err := writes(); err != nil {
				return err
			}
			t := hostdrv.Trap{Link: l.at, Type: linkproto.TypePage, Frame: b.rng.IntN(frames), Port: b.rng.Uint32()}
			if b.rng.IntN(2) == 0 {
				t.Type, t.Frame, t.Params = linkproto.TypeConnect, 0, b.noise(b.rng.IntN(20))
			}
			stops = append(stops, stop{t, sum})
			if err := b.ni.Send(ctx, l.via, linkproto.Packet{Type: t.Type, Frame: uint16(t.Frame), Port: t.Port, Data: t.Params}); err != nil {
				return err
			}
		}
		if err := writes(); err != nil {
			return err
		}
		if err := b.ni.Sync(ctx, l.via); err != nil { // though it is trapped
			return err
		}
		for i, s := range stops {
			where := fmt.Sprintf("round %d, trap %d of %d", round, i+1, len(stops))
			if err := b.trapped(ctx, events, s.trap); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
			for range 3 { // what must wait must not come later either
				if err := b.holds(ctx, 0, binary.LittleEndian.AppendUint32(nil, s.sum)); err != nil {
					return fmt.Errorf("%s, of a word that was written %d times before and %d times behind: %w", where, s.sum, sum-s.sum, err)
				}
			}
			if err := b.ni.Resume(ctx, l.at); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		}
		if err := b.arrived(ctx, l); err != nil {
			return fmt.Errorf("after the last RESUME: %w", err)
		}
		if err := b.holds(ctx, 0, binary.LittleEndian.AppendUint32(nil, sum)); err != nil {
			return fmt.Errorf("round %d, after the last RESUME: %w", round, err)
		}
	}
	return nil
}

func trappedAlone(ctx context.Context, b *bench) error {
	loops, err := b.loops()
	if err != nil {
		return err
	}
	if len(loops) < 2 {
		return skipf("needs two links that are cabled to each other or to themselves")
	}
	if _, err := b.frames(); err != nil {
		return err
	}
	events, err := b.ni.Events()
	if err != nil {
		return err
	}
	for _, l := range loops {
		trap := hostdrv.Trap{Link: l.at, Type: linkproto.TypePage, Port: b.rng.Uint32()}
		if err := b.ni.Send(ctx, l.via, linkproto.Packet{Type: trap.Type, Port: trap.Port}); err != nil {
			return err
		}
		if err := b.trapped(ctx, events, trap); err != nil {
			return err
		}
		for _, other := range loops {
			if other == l {
				continue
			}
			data := b.noise(8)
			if err := errors.Join(b.grant(ctx, other.at, 0), b.ni.Write(ctx, other.via, 0, data), b.arrived(ctx, other), b.holds(ctx, 0, data)); err != nil {
				return fmt.Errorf("link %d waits at a trap, and from link %d to link %d: %w", l.at, other.via, other.at, err)
			}
		}
		if err := b.ni.Resume(ctx, l.at); err != nil {
			return err
		}
		if err := b.arrived(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func connects(ctx context.Context, b *bench) error {
	l, err := b.loop()
	if err != nil {
		return err
	}
	events, err := b.ni.Events()
	if err != nil {
		return err
	}
	most := min(linkproto.MaxParams, b.id.MaxPacket()-2*linkproto.HeaderBytes-4)
	for size := range most + 1 {
		trap := hostdrv.Trap{Link: l.at, Type: linkproto.TypeConnect, Port: b.rng.Uint32(), Params: b.noise(size)}
		if err := b.ni.Send(ctx, l.via, linkproto.Packet{Type: trap.Type, Port: trap.Port, Data: trap.Params}); err != nil {
			return err
		}
		if err := errors.Join(b.trapped(ctx, events, trap), b.ni.Resume(ctx, l.at)); err != nil {
			return err
		}
	}
	return nil
}
