package debug

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// planStart is how many clocks after CONTROL stops a plan, or cuts, it begins one.
const planStart = 3

// sent is what must leave the first twin if a write of CONTROL takes effect that many clocks after it has come.
type sent struct {
	*twins
	after    uint64
	injector *testbench.Injector // nil: no plan runs
	left     uint32              // symbols of the plan; 0: there is no end
	symbols  uint32
	hits     testbench.FaultCounts
	cut      bool
	open     linkproto.Symbol
	again    []uint16           // the second of two
	waiting  []linkproto.Symbol // that a duplicate delays
	doubles  int                // symbols, other than IDLE, that went out twice
	all      uint64             // hits
}

// symbol is what leaves in a clock.
func (s *sent) symbol(clock uint64) linkproto.Symbol {
	in, some := s.twins.out[1][clock]
	if some && (len(s.waiting) > 0 || len(s.again) > 0) {
		s.waiting = append(s.waiting, in)
	}
	out := s.again
	if s.again = nil; out == nil {
		switch {
		case len(s.waiting) > 0:
			in, s.waiting = s.waiting[0], s.waiting[1:]
		case !some:
			in = linkproto.SymIdle
		}
		out = s.pass(in)
	}
	if len(out) > 1 {
		s.again = out[1:]
		if in != linkproto.SymIdle {
			s.doubles++
		}
	}
	if s.cut {
		return s.open
	}
	return linkproto.Symbol(out[0])
}

// pass is a symbol behind the plan.
func (s *sent) pass(in linkproto.Symbol) []uint16 {
	if s.injector == nil {
		return []uint16{uint16(in)}
	}
	s.symbols++
	out := s.injector.Pass(nil, uint16(in))
	s.hits = s.injector.Counts()
	if s.left--; s.left == 0 {
		s.injector = nil
	}
	if len(out) == 0 {
		return []uint16{uint16(linkproto.SymIdle)}
	}
	return out
}

// compare goes through a round.
func (s *sent) compare() {
	for i := range s.orders {
		o := &s.orders[i]
		end := o.clock + o.clocks
		if i+1 < len(s.orders) {
			end = s.orders[i+1].clock + s.after
		}
		s.all += s.hits.Total()
		s.injector, s.cut, s.open = nil, linkproto.InjectCut.Of(o.value) == 1, linkproto.Symbol(o.plan.Open)
		begins := linkproto.InjectRun.Of(o.value) == 1
		if begins {
			s.symbols, s.hits, s.left = 0, testbench.FaultCounts{}, o.count
		}
		over := false // since before it was read
		for t := o.clock + s.after; t < end; t++ {
			if begins && t == o.clock+s.after+planStart {
				source := o.plan
				s.injector, begins = source.Plan(uint64(o.clocks)+3000).Injector(9), false
			}
			if t == o.clock+o.clocks {
				over = s.injector == nil && !begins
			}
			if s.doubles > 0 && s.twins.out[1][t] == linkproto.SymLSW {
				return // when this word goes out is not to be told
			}
			want := s.symbol(t)
			have, some := s.twins.out[0][t]
			if !some {
				have = linkproto.SymIdle
			}
			if have != want {
				try.Failf("order %d (%d, count %d): in clock %d, %d behind it, %#x went out, want %#x", i, o.value, o.count, t, t-o.clock, uint16(have), uint16(want))
			}
		}
		running := linkproto.InjectRun.Of(o.control) == 1
		switch {
		case linkproto.InjectCut.Of(o.control) == 1 != s.cut, over && running, s.injector != nil && !running:
			try.Failf("order %d (%d, count %d): CONTROL reads %d, want running: %v", i, o.value, o.count, o.control, s.injector != nil)
		case over && (o.symbols != s.symbols || uint64(o.hits) != s.hits.Total()):
			try.Failf("order %d (%d, count %d): %d symbols and %d hits, want %d and %s", i, o.value, o.count, o.symbols, o.hits, s.symbols, s.hits)
		}
	}
}
