package testbench

import (
	"fmt"

	"github.com/stafflink/lmmc/verilator"
)

// Inject plans the faults on a link of the runtime; symbols are its samples, counted from the next to arrive. Width is
// how many bits a sample has.
func (p FaultPlan) Inject(l *verilator.Link, width int) error { return p.InjectStretched(l, width, 1) }

// InjectStretched is Inject on a link that carries each symbol for several samples, as a line whose receiver samples it
// so often a bit: a fault of the plan lasts as many symbols as it says.
func (p FaultPlan) InjectStretched(l *verilator.Link, width int, samples uint64) error {
	start := l.Stats().Samples
	var faults []verilator.Fault
	for i, f := range p {
		hit := verilator.Fault{At: start + f.At*samples, Cycles: f.count() * samples, Value: f.Value}
		each := func(first, step, n uint64, fault func(i uint64) verilator.Fault) {
			for i := range n {
				hit := fault(i)
				hit.At, hit.Cycles = start+(f.At+first+i*step)*samples, samples
				faults = append(faults, hit)
			}
		}
		switch f.Kind {
		case FaultFlip:
			hit.Kind = verilator.Flip
		case FaultDrop:
			hit.Kind = verilator.Drop
		case FaultStuck:
			hit.Kind = verilator.Stuck
		case FaultUnplug:
			hit.Kind = verilator.Cut
		case FaultBurst:
			each(0, 1, f.count(), func(i uint64) verilator.Fault {
				return verilator.Fault{Kind: verilator.Flip, Value: f.noise(i, width)}
			})
			continue
		case FaultDuplicate:
			each(1, 2, f.count(), func(uint64) verilator.Fault { return verilator.Fault{Kind: verilator.Repeat} })
			continue
		default:
			return fmt.Errorf("testbench: fault plan, fault %d: a link of the runtime cannot do %s", i, f.Kind)
		}
		faults = append(faults, hit)
	}
	return l.Inject(faults...)
}
