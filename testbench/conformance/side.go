package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// side is one of the two targets of Compare.
type side struct {
	*bench
	tape   *tape
	events *hostdrv.Events
	traps  []*hostdrv.Trap // that have been reported, and are not in the transcript
	told   map[int]hostdrv.Notify
	before map[linkproto.Reg]uint32 // counters when the script began
}

func openSide(ctx context.Context, target string, seed uint64) (_ *side, err error) {
	l, err := plug(ctx, target, "")
	if err != nil {
		return nil, err
	}
	s := &side{bench: newBench(l, seed), tape: l.record(target, seed), told: map[int]hostdrv.Notify{}, before: map[linkproto.Reg]uint32{}}
	err = try.Run(func() {
		s.open(ctx)
		s.links = try.Get(s.trace(ctx))
		s.events = try.Get(s.ni.Events())
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", target, err), s.close())
	}
	return s, nil
}

// inCommon is what a script for two targets may use.
func inCommon(sides [2]*side) (shape, error) {
	a, b := sides[0].id, sides[1].id
	if a.PageBytes != b.PageBytes {
		return shape{}, fmt.Errorf("%w: pages of %d and of %d bytes cannot be compared", ErrOptions, a.PageBytes, b.PageBytes)
	}
	c := shape{ids: [2]hostdrv.Identity{a, b}, page: a.PageBytes, frames: min(a.Frames-1, b.Frames-1, mostFrames)}
	c.ahead = min(a.ReplayBytes, b.ReplayBytes, a.RxBytes, b.RxBytes) / 2
	c.window = min(a.Window, b.Window) / 2
	if c.frames < 1 {
		return shape{}, fmt.Errorf("%w: targets with %d and %d frames: two are needed", ErrOptions, a.Frames, b.Frames)
	}
	for i, l := range sides[0].links {
		if l.Peer > 0 && i < len(sides[1].links) && sides[1].links[i] == l {
			c.loops = append(c.loops, loop{l.Link, l.Peer})
		}
	}
	if len(c.loops) == 0 {
		return shape{}, fmt.Errorf("%w: no cable comes back to its network interface in the same way on both: %v; %v", ErrOptions, sides[0].links, sides[1].links)
	}
	return c, nil
}

// carryOut carries out a step.
func (s *side) carryOut(ctx context.Context, step step) (out said) {
	limit, cancel := s.limit(ctx)
	defer cancel()
	var found any
	if err := try.Run(func() { found = step.run(limit, s) }); err != nil {
		found = err
	}
	switch found := found.(type) {
	case nil:
		out.text = "carried out"
	case string:
		out.text = found
	case error:
		var refused *hostdrv.RefusedError
		if out.text = found.Error(); !errors.As(found, &refused) {
			out.err = found
		}
	case []byte:
		if out.data = found; len(found) > 16 {
			out.text = fmt.Sprintf("%d bytes, CRC-32C %08x", len(found), crc32.Checksum(found, crc32.MakeTable(crc32.Castagnoli)))
		} else {
			out.text = fmt.Sprintf("% x", found)
		}
	}
	return out
}

// quiet says what is underway, and how it comes to rest.
type quiet struct {
	free  []loop // whose packets are all carried out
	traps []int  // links that must trap
	fence bool   // notifications are on, and a loop is free
}

// settle waits until all is quiet, and tells what was reported.
func (s *side) settle(ctx context.Context, q quiet) string {
	for _, l := range q.free {
		try.OK(s.arrived(ctx, l))
	}
	for _, link := range q.traps {
		s.reported(ctx, fmt.Sprintf("the trap of link %d is not told", link), func() bool {
			return slices.ContainsFunc(s.traps, func(t *hostdrv.Trap) bool { return t.Link == link })
		})
	}
	if q.fence {
		// The tokens of arrived are at the beginning of the frame, so that what is told of them does not cover these. Frames
		// take turns: another frame may be told after the spare one that was written earlier, but not after it twice.
		last := s.spare()*s.id.PageBytes + 2*tokenBytes
		for range 2 {
			try.OK(s.token(ctx, q.free[0], last-tokenBytes))
			delete(s.told, s.spare())
			s.reported(ctx, fmt.Sprintf("a write to frame %d is not notified", s.spare()), func() bool { return s.told[s.spare()].Last >= 2*tokenBytes-1 })
		}
	}
	return s.report(q.fence)
}

// reported takes events until something holds; complaint is what to say if that does not come.
func (s *side) reported(ctx context.Context, complaint string, holds func() bool) {
	limit, cancel := s.soon(ctx, 1)
	defer cancel()
	for !holds() {
		ev, err := s.events.Next(limit)
		try.Wrap(err, "%s", complaint)
		switch ev := ev.(type) {
		case *hostdrv.Trap:
			s.traps = append(s.traps, ev)
		case hostdrv.Notify:
			widen(s.told, ev)
		default:
			try.Failf("%s: the network interface reports %+v", complaint, ev)
		}
	}
}

// report writes the traps, and the notifications if all have come.
func (s *side) report(notified bool) string {
	var all []string
	slices.SortFunc(s.traps, func(a, b *hostdrv.Trap) int { return a.Link - b.Link })
	for _, t := range s.traps {
		if t.Type == linkproto.TypePage {
			all = append(all, fmt.Sprintf("link %d traps at PAGE of port %d to frame %d", t.Link, t.Port, t.Frame))
		} else {
			all = append(all, fmt.Sprintf("link %d traps at %v of port %d with %d bytes % x", t.Link, t.Type, t.Port, len(t.Params), t.Params))
		}
	}
	s.traps = nil
	if notified {
		delete(s.told, s.spare())
		for _, frame := range slices.Sorted(maps.Keys(s.told)) {
			all = append(all, fmt.Sprintf("bytes %d to %d of frame %d have changed", s.told[frame].First, s.told[frame].Last, frame))
		}
		clear(s.told)
	}
	if len(all) == 0 {
		return "quiet"
	}
	return strings.Join(all, "; ")
}

// identity tells whether an identity is that which the target had when the script began.
func (s *side) identity(have hostdrv.Identity) string {
	if have == s.id {
		return "the same"
	}
	return fmt.Sprintf("%+v, it was %+v", have, s.id)
}

// growing are the counters that do not depend on time, at the ends of a loop.
func (l loop) growing() map[linkproto.Counter]int {
	return map[linkproto.Counter]int{
		linkproto.CntTxPackets: l.via, linkproto.CntLostPackets: l.via, linkproto.CntRxPackets: l.at, linkproto.CntDenied: l.at, linkproto.CntBadPacket: l.at,
	}
}

// counts tells how counters have grown since the first call.
func (s *side) counts(ctx context.Context, loops []loop) string {
	var regs []linkproto.Reg
	for _, l := range loops {
		try.OK(s.ni.Sync(ctx, l.via))
		for c, link := range l.growing() {
			regs = append(regs, linkproto.CounterReg(link, c))
		}
	}
	slices.Sort(regs)
	regs = slices.Compact(regs)
	var all []string
	for i, value := range s.registers(ctx, regs...) {
		r := regs[i]
		if _, ok := s.before[r]; !ok {
			s.before[r] = value
		}
		link, c := (r-linkproto.RegCounters)/linkproto.CounterStride, linkproto.Counter((r-linkproto.RegCounters)%linkproto.CounterStride)
		all = append(all, fmt.Sprintf("link %d %v %d", link, c, value-s.before[r]))
	}
	return strings.Join(all, ", ")
}
