package golden

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Result is what came of a Check.
type Result struct {
	Packets  uint64    // sent and received by hosts and peers of the world tested
	Coverage *Coverage // of the rounds that agreed
}

// Alike reports whether two errors of Check are about the same: differences in one lane of rounds of one kind, or violations that are worded
// alike up to their first number.
func Alike(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	var x, y *Difference
	if errors.As(a, &x) != errors.As(b, &y) {
		return false
	}
	if x != nil {
		return x.Kind == y.Kind && x.Lane == y.Lane
	}
	words := func(err error) string {
		text := err.Error()
		if _, after, found := strings.Cut(text, "): "); found { // behind the round
			text = after
		}
		return text[:max(strings.IndexAny(text, "0123456789"), 0)]
	}
	return words(a) == words(b)
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
