package golden

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Result is what came of a Check.
type Result struct {
	Packets  uint64    // sent and received by hosts and peers of the world tested
	Coverage *Coverage // of the rounds that agreed
}

// Check plays a program on a world to be tested and on one with a model, round by round, up to the first difference or violation of the
// protocol.
func Check(p stimulus.Program, tested, reference *World) (Result, error) {
	have, want := NewPlayer(tested, p), NewPlayer(reference, p)
	r := Result{Coverage: NewCoverage()}
	for round := range p.Rounds {
		b, err := want.Play(round)
		if err != nil {
			return r, fmt.Errorf("the model: %w", err)
		}
		a, err := have.Play(round)
		r.Packets = have.Packets
		if err == nil {
			err = Compare(a, b)
		}
		if err != nil {
			return r, err
		}
		r.Coverage.Add(a, b)
	}
	return r, nil
}
