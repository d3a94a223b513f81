package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
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

func writesInOrder(ctx context.Context, b *bench) {
	l := b.lane(ctx)
	try.OK(b.ni.WriteBuffer(ctx, make([]byte, 4), 0))
	last, count := uint32(0), uint32(b.symbols()/400)
	for i := range count {
		try.OK(b.ni.Write(ctx, l.via, 0, binary.LittleEndian.AppendUint32(nil, i+1)))
		if b.rng.IntN(8) > 0 {
			continue
		}
		have := make([]byte, 4)
		try.OK(b.ni.ReadBuffer(ctx, have, 0))
		v := binary.LittleEndian.Uint32(have)
		if v < last || v > i+1 {
			try.Failf("a word that counts up reads %d after %d, when %d were written", v, last, i+1)
		}
		last = v
	}
	try.OK(b.arrived(ctx, l))
	try.Wrap(b.holds(ctx, 0, binary.LittleEndian.AppendUint32(nil, count)), "of %d writes of a word the last is not what it holds", count)
	// Writes that overlap.
	m := b.blank(ctx, 0, 1)
	for range min(300, b.symbols()/100) {
		off := b.rng.IntN(24)
		data := b.noise(1 + b.rng.IntN(24))
		try.OK(b.ni.Write(ctx, l.via, off, data))
		m.write(off, data)
	}
	try.OK(b.arrived(ctx, l))
	try.OK(b.check(ctx, m))
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
func trapsInOrder(ctx context.Context, b *bench) {
	l := b.loop()
	frames := b.frames()
	events := try.Get(b.ni.Events())
	for round := range max(1, min(20, b.symbols()/4000)) {
		try.OK(b.ni.WriteBuffer(ctx, make([]byte, 4), 0))
		b.grant(ctx, l.at, 0)
		type stop struct {
			trap hostdrv.Trap
			sum  uint32 // what the word must hold
		}
		var stops []stop
		sum := uint32(0)
		writes := func() {
			for range b.rng.IntN(4) {
				sum++
				try.OK(b.ni.Write(ctx, l.via, 0, binary.LittleEndian.AppendUint32(nil, sum)))
			}
		}
		for range 1 + b.rng.IntN(5) {
			writes()
			t := hostdrv.Trap{Link: l.at, Type: linkproto.TypePage, Frame: b.rng.IntN(frames), Port: b.rng.Uint32()}
			if b.rng.IntN(2) == 0 {
				t.Type, t.Frame, t.Params = linkproto.TypeConnect, 0, b.noise(b.rng.IntN(20))
			}
			stops = append(stops, stop{t, sum})
			try.OK(b.ni.Send(ctx, l.via, linkproto.Packet{Type: t.Type, Frame: uint16(t.Frame), Port: t.Port, Data: t.Params}))
		}
		writes()
		try.OK(b.ni.Sync(ctx, l.via)) // though it is trapped
		for i, s := range stops {
			where := fmt.Sprintf("round %d, trap %d of %d", round, i+1, len(stops))
			try.Wrap(b.trapped(ctx, events, s.trap), "%s", where)
			for range 3 { // what must wait must not come later either
				try.Wrap(b.holds(ctx, 0, binary.LittleEndian.AppendUint32(nil, s.sum)), "%s, of a word that was written %d times before and %d times behind", where, s.sum, sum-s.sum)
			}
			try.Wrap(b.ni.Resume(ctx, l.at), "%s", where)
		}
		try.Wrap(b.arrived(ctx, l), "after the last RESUME")
		try.Wrap(b.holds(ctx, 0, binary.LittleEndian.AppendUint32(nil, sum)), "round %d, after the last RESUME", round)
	}
}

func trappedAlone(ctx context.Context, b *bench) {
	loops := b.loops()
	if len(loops) < 2 {
		skipf("needs two links that are cabled to each other or to themselves")
	}
	b.frames()
	events := try.Get(b.ni.Events())
	for _, l := range loops {
		trap := hostdrv.Trap{Link: l.at, Type: linkproto.TypePage, Port: b.rng.Uint32()}
		try.OK(b.ni.Send(ctx, l.via, linkproto.Packet{Type: trap.Type, Port: trap.Port}))
		try.OK(b.trapped(ctx, events, trap))
		for _, other := range loops {
			if other == l {
				continue
			}
			data := b.noise(8)
			b.grant(ctx, other.at, 0)
			try.Wrap(errors.Join(b.ni.Write(ctx, other.via, 0, data), b.arrived(ctx, other), b.holds(ctx, 0, data)),
				"link %d waits at a trap, and from link %d to link %d", l.at, other.via, other.at)
		}
		try.OK(b.ni.Resume(ctx, l.at))
		try.OK(b.arrived(ctx, l))
	}
}

func connects(ctx context.Context, b *bench) {
	l := b.loop()
	events := try.Get(b.ni.Events())
	most := min(linkproto.MaxParams, b.id.MaxPacket()-2*linkproto.HeaderBytes-4)
	for size := range most + 1 {
		trap := hostdrv.Trap{Link: l.at, Type: linkproto.TypeConnect, Port: b.rng.Uint32(), Params: b.noise(size)}
		try.OK(b.ni.Send(ctx, l.via, linkproto.Packet{Type: trap.Type, Port: trap.Port, Data: trap.Params}))
		try.OK(b.trapped(ctx, events, trap), b.ni.Resume(ctx, l.at))
	}
}
