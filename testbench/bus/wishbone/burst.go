package wishbone

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Cycle types, as CTI has them (section 4.3).
const (
	classic, constantAddress, incrementing, endOfBurst = 0, 1, 2, 7
)

// Burst is how the addresses of a burst go on (sections 4.4.3 and 4.4.4).
type Burst int

// Kinds of bursts. One that wraps stays within the 4, 8 or 16 words that lie around its first, which is as many as it has at most.
const (
	Linear Burst = iota
	Wrap4
	Wrap8
	Wrap16
	Constant
)

func (k Burst) String() string {
	return [...]string{"linear", "wrap 4", "wrap 8", "wrap 16", "constant"}[k]
}

// size is how many words a burst wraps within; 0 if it does not.
func (k Burst) size() uint64 {
	if k == Linear || k == Constant {
		return 0
	}
	return 2 << k
}

// after returns the address that follows, in units of which a word has so many.
func (k Burst) after(adr, word uint64) uint64 {
	switch {
	case k == Constant:
		return adr
	case k == Linear:
		return adr + word
	}
	mask := k.size()*word - 1
	return adr&^mask | (adr+word)&mask
}

// burst is a burst that goes on after the last word that was taken.
type burst struct {
	kind  Burst
	words uint64 // that were taken; 0 if no burst is under way
	last  now
}

// next returns the address of the next word; known says that there is one and that it follows from the last.
func (b *burst) next(unit, bytes uint64) (adr uint64, known bool) {
	if b.words == 0 || b.kind.size() > 0 && b.words >= b.kind.size() {
		return 0, false
	}
	return b.kind.after(b.last.adr, bytes/unit), true
}

// checkBurst checks requests that are taken against the burst that they belong to.
func (m *Monitor) checkBurst(n *now) {
	if m.cti == nil {
		return
	}
	was := m.burst
	if was.words > 0 && !n.cyc {
		m.Violate(RuleEnd, "CYC fell after %d words of a burst (%s) without End-of-Burst", was.words, was.kind)
		m.burst = burst{}
	}
	if !m.taken {
		return
	}
	cycle := n.cti
	if cycle == incrementing {
		cycle += n.bte << 3
	}
	m.cycle.Sample(int64(cycle))
	if was.words > 0 {
		m.follows(&was, n)
	}
	m.burst = burst{}
	switch {
	case n.cti > incrementing && n.cti != endOfBurst:
		m.Violate(RuleCycles, "CTI is %d, which is reserved", n.cti)
	case n.err || n.rty: // the master may give up
	case n.cti == constantAddress:
		m.burst = burst{Constant, was.words + 1, *n}
	case n.cti == incrementing:
		m.burst = burst{Burst(n.bte), was.words + 1, *n}
	}
}

// follows checks that a request goes on with a burst.
func (m *Monitor) follows(b *burst, n *now) {
	rule := RuleIncrease
	if b.kind == Constant {
		rule = RuleConstant
	}
	want, known := b.next(m.config.unit(m.bytes()), uint64(m.bytes()))
	switch {
	case n.cti != b.last.cti && n.cti != endOfBurst:
		m.Violate(RuleEnd, "CTI is %d after %d words of a burst (%s) without End-of-Burst", n.cti, b.words, b.kind)
	case n.we != b.last.we || n.sel != b.last.sel:
		m.Violate(rule, "WE is %d and SEL is %#x within a burst (%s) that began with %d and %#x", bus.Bit(n.we), n.sel, b.kind, bus.Bit(b.last.we), b.last.sel)
	case b.kind != Constant && n.bte != b.last.bte:
		m.Violate(rule, "BTE is %d within a burst that began with %d", n.bte, b.last.bte)
	case known && n.adr != want:
		m.Violate(rule, "ADR is %#x after %#x within a burst (%s), want %#x", n.adr, b.last.adr, b.kind, want)
	}
}

// request is an access with its tags.
type request struct {
	*bus.Pending
	cti, bte uint64
}

// StartBurst queues a burst of words from a byte address on: reads, or writes of data. The bench fails if the bus cannot carry it.
func (m *Master) StartBurst(kind Burst, address uint64, words int, data []uint64) []*bus.Pending {
	if data != nil {
		words = len(data)
	}
	most := int(kind.size())
	switch {
	case m.cti == nil || m.bte == nil && most > 0:
		m.Bench.Errorf("%s: burst (%s): the design lacks CTI or BTE: start single accesses", m, kind)
		return nil
	case words < 1 || most > 0 && words > most:
		m.Bench.Errorf("%s: burst (%s) of %d words: want 1 or more, and %d at most in one that wraps", m, kind, words, most)
		return nil
	}
	unit := m.config.unit(m.bytes())
	adr, all := address/unit, make([]*bus.Pending, words)
	var queue []request
	for i := range all {
		p := &bus.Pending{Access: bus.Access{Addr: adr * unit}}
		if data != nil {
			p.Write, p.Data = true, data[i]
		}
		r := request{p, incrementing, uint64(kind) & 3}
		switch {
		case i == words-1:
			r.cti = endOfBurst
		case kind == Constant:
			r.cti = constantAddress
		}
		if err := m.carries(p.Access); err != nil {
			p.Refuse(m.Bench, err)
			return nil
		}
		all[i], queue = p, append(queue, r)
		adr = kind.after(adr, uint64(m.bytes())/unit)
	}
	m.queue = append(m.queue, queue...)
	return all
}

// ReadBurst reads words by a burst. The error is the first of those of Read.
func (m *Master) ReadBurst(c *testbench.Task, kind Burst, address uint64, words int) (data []uint64, err error) {
	for _, p := range m.StartBurst(kind, address, words, nil) {
		v, failed := p.Wait(c)
		if data = append(data, v); err == nil && failed != nil {
			err = fmt.Errorf("burst (%s) from %#x, word %d at %#x: %w", kind, address, len(data), p.Addr, failed)
		}
	}
	return data, err
}

// WriteBurst writes words by a burst. The error is the first of those of Write.
func (m *Master) WriteBurst(c *testbench.Task, kind Burst, address uint64, data ...uint64) (err error) {
	for i, p := range m.StartBurst(kind, address, len(data), data) {
		if _, failed := p.Wait(c); err == nil && failed != nil {
			err = fmt.Errorf("burst (%s) from %#x, word %d at %#x: %w", kind, address, i+1, p.Addr, failed)
		}
	}
	return err
}
