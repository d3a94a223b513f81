package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

// ErrSkip is wrapped by the error of a figure that takes a program which is not there and need not be.
var ErrSkip = errors.New("skipped")

type quickKey struct{}

// WithQuick asks measurements under ctx for less precision in less time.
func WithQuick(ctx context.Context) context.Context { return context.WithValue(ctx, quickKey{}, true) }

// Quick reports whether WithQuick was called: a Figure's Measure should then take a second or two. What counts cycles is
// exact all the same; what is a rate has fewer repetitions.
func Quick(ctx context.Context) bool { return ctx.Value(quickKey{}) != nil }

// Measured is a figure with what was found.
type Measured struct {
	Figure
	Value    float64 // 0 when Err is set
	Baseline *float64
	Note     string
	Err      error // why there is no value
}

// MeetsMust reports whether the value is there and as good as Must, if that is set.
func (m Measured) MeetsMust() bool { return m.meets(m.Must) }

// MeetsAim reports whether the value is there and as good as Aim, if that is set.
func (m Measured) MeetsAim() bool { return m.meets(m.Aim) }

func (m Measured) meets(bound *float64) bool {
	switch {
	case errors.Is(m.Err, ErrSkip):
		return true
	case m.Err != nil:
		return false
	case bound == nil:
		return true
	case m.Better == Lower:
		return m.Value <= *bound
	}
	return m.Value >= *bound
}

// Choose returns the figures of these names, in the order given; no names means all of them.
func Choose(all []Figure, names ...string) ([]Figure, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: there are no figures", suite.ErrOptions)
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Figure
	for _, name := range names {
		i := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name })
		if i < 0 {
			var known []string
			for _, f := range all {
				known = append(known, f.Name)
			}
			return nil, fmt.Errorf("%w: no figure is called %q; there are: %s", suite.ErrOptions, name, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// Measure takes the figures one after the other and calls done, unless it is nil, after each. A figure that could not
// be taken has Err set and does not stop the others. The error is that of ctx, or one that wraps verilator.ErrTool
// when a tool is missing; what was measured until then is returned with it.
func Measure(ctx context.Context, figures []Figure, done func(Measured)) ([]Measured, error) {
	var all []Measured
	for _, f := range figures {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		m := Measured{Figure: f, Baseline: f.Baseline}
		var found Measurement
		m.Err = campaign.Protect(func() (err error) {
			found, err = f.Measure(ctx)
			return err
		})
		if m.Err == nil && (math.IsNaN(found.Value) || math.IsInf(found.Value, 0)) {
			m.Err = fmt.Errorf("measured %v, which is no number", found.Value)
		}
		switch {
		case errors.Is(m.Err, verilator.ErrTool):
			return all, m.Err
		case ctx.Err() != nil && (errors.Is(m.Err, context.Canceled) || errors.Is(m.Err, context.DeadlineExceeded)):
			return all, ctx.Err()
		case m.Err == nil:
			m.Value, m.Note = found.Value, found.Note
			if found.Baseline != nil {
				m.Baseline = found.Baseline
			}
		}
		all = append(all, m)
		if done != nil {
			done(m)
		}
	}
	return all, nil
}
