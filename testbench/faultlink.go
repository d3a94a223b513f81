package testbench

import (
	"fmt"

	"github.com/stafflink/lmmc/verilator"
)

// Inject plans the faults on a link of the runtime; symbols are its samples, counted from the next to arrive. Width is
// how many bits a sample has. A plan with duplicates is refused, and nothing of it happens.
func (p FaultPlan) Inject(l *verilator.Link, width int) error {
	start := l.Stats().Samples
	var faults []verilator.Fault
	for i, f := range p {
		hit := verilator.Fault{At: start + f.At, Cycles: f.count(), Value: f.Value}
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
			for i := range f.count() {
				faults = append(faults, verilator.Fault{Kind: verilator.Flip, At: hit.At + i, Cycles: 1, Value: f.noise(i, width)})
			}
			continue
		default:
			return fmt.Errorf("testbench: fault plan, fault %d: a link of the runtime cannot do %s", i, f.Kind)
		}
		faults = append(faults, hit)
	}
	return l.Inject(faults...)
}
