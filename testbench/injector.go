package testbench

import "cmp"

// Injector applies a plan to a stream of symbols in Go, one after the other.
type Injector struct {
	plan   FaultPlan // those that are not over
	width  int
	index  uint64
	counts FaultCounts
}

// Injector begins at symbol 0. Width is how many bits a symbol has, at most 16; 0 means 9.
func (p FaultPlan) Injector(width int) *Injector {
	return &Injector{plan: p, width: cmp.Or(width, 9)}
}

// Pass appends to dst what arrives for the next symbol sent. Faults that hit the same symbol act in order of the plan.
func (j *Injector) Pass(dst []uint16, symbol uint16) []uint16 {
	v, copies := uint64(symbol), 1
	over := 0
	for i, f := range j.plan {
		if f.At > j.index {
			break
		}
		if !f.hits(j.index) {
			if i == over {
				over++
			}
			continue
		}
		j.counts[f.Kind]++
		switch f.Kind {
		case FaultFlip:
			v ^= f.Value
		case FaultBurst:
			v ^= f.noise(j.index-f.At, j.width)
		case FaultDrop:
			copies = 0
		case FaultDuplicate:
			copies *= 2
		case FaultStuck, FaultUnplug:
			v = f.Value
		}
	}
	j.plan = j.plan[over:]
	j.index++
	for range copies {
		dst = append(dst, uint16(v&(1<<j.width-1)))
	}
	return dst
}

// Counts returns how many symbols were hit so far.
func (j *Injector) Counts() FaultCounts { return j.counts }

// Apply passes symbols through an Injector of the plan and returns what arrives.
func (p FaultPlan) Apply(symbols []uint16, width int) ([]uint16, FaultCounts) {
	j := p.Injector(width)
	arrived := make([]uint16, 0, len(symbols))
	for _, s := range symbols {
		arrived = j.Pass(arrived, s)
	}
	return arrived, j.counts
}
