package line

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// serialEnd is what phy_serial makes of the bits of a line, as its contract and that of comma_align say.
type serialEnd struct {
	take func(linkproto.Symbol) // gets the symbols, which come while locked only

	window       uint
	place, score int
	bordered, rd bool
	locked       bool
	losses       int // of the lock
}

func (e *serialEnd) bit(b bool) {
	e.window = e.window << 1 & (code8b10b.Groups - 1)
	if b {
		e.window |= 1
	}
	e.place++
	whole := e.place == 10
	sets := e.comma() && !e.locked && !(whole && e.bordered)
	if !whole && !sets {
		return
	}
	s, right := code8b10b.Decode(e.window, e.rd)
	if !right {
		s = linkproto.SymErr
	}
	e.place, e.rd = 0, code8b10b.After(e.window, e.rd)
	switch {
	case e.locked:
		e.take(s)
		if right {
			e.score = max(e.score-1, 0)
		} else if e.score += 4; e.score >= 32 {
			e.locked, e.bordered, e.score = false, false, 0
			e.losses++
		}
	case sets: // its disparity may be off
		e.bordered, e.score = true, 0
	case !right:
		e.bordered = false
	case e.bordered:
		if e.score++; e.score == 16 {
			e.locked, e.score = true, 0
		}
	}
}

func (e *serialEnd) comma() bool {
	for _, rd := range []bool{false, true} {
		if s, ok := code8b10b.Decode(e.window, rd); ok && s == linkproto.SymIdle {
			return true
		}
	}
	return false
}

// linkEnd counts what a link counts of the symbols that it receives while it is UP.
type linkEnd struct {
	deframer *linkproto.Deframer
	counts   [linkproto.NumCounters]uint32
	symbols  int
}

// newLinkEnd is that of a network interface's link to a peer.
func newLinkEnd(s *harness.Harness, p *ni.Port) *linkEnd {
	e := &linkEnd{deframer: linkproto.NewDeframer(s.Params.MaxPacket())}
	e.key(p)
	return e
}

// key takes what the two ends of the link seal with.
func (e *linkEnd) key(p *ni.Port) {
	e.deframer.SetKey(harness.KeyOf(p.Link))
}

func (e *linkEnd) take(s linkproto.Symbol) {
	e.symbols++
	line := [1]linkproto.Symbol{s}
	for n := 0; n == 0; {
		var ev linkproto.Event
		ev, n = e.deframer.Next(line[:])
		switch ev.Kind {
		case linkproto.EventBadFrame:
			e.counts[linkproto.CntRxCRC]++
		case linkproto.EventBadWord:
			e.counts[linkproto.CntBadWord]++
		case linkproto.EventStray:
			e.counts[linkproto.CntRxStray]++
		}
	}
}
