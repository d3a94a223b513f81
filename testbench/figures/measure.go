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

// either returns how much a measurement does: quick under WithQuick, else long.
func either(ctx context.Context, long, quick int) int {
	if Quick(ctx) {
		return quick
	}
	return long
}

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

// Measure takes the figures and calls done, unless it is nil, after each. Those that a busy machine cannot spoil come first, as many at a time as
// there are CPUs; the others are taken one after the other, in order. A figure that could not be taken has Err set and does not stop the others. The
// error is that of ctx, or one that wraps verilator.ErrTool when a tool is missing; what was measured until then is returned with it, in the order of
// the figures.
func Measure(ctx context.Context, figures []Figure, done func(Measured)) ([]Measured, error) {
	all := make([]*Measured, len(figures))
	take := func(jobs int, chosen func(Figure) bool) error {
		var measurements []campaign.Job[Measurement]
		var of []int
		for i, f := range figures {
			if chosen(f) {
				of = append(of, i)
				measurements = append(measurements, campaign.Job[Measurement]{Name: f.Name, Run: f.Measure})
			}
		}
		o := campaign.Options{Jobs: jobs, Fatal: []error{verilator.ErrTool}}
		_, err := campaign.Run(ctx, measurements, o, func(p campaign.Progress, r campaign.Result[Measurement]) error {
			if r.Done && !errors.Is(r.Err, verilator.ErrTool) {
				m := measured(figures[of[p.Last]], r)
				all[of[p.Last]] = &m
				if done != nil {
					done(m)
				}
			}
			return nil
		})
		return err
	}
	err := take(0, Figure.exact)
	if err == nil {
		err = take(1, func(f Figure) bool { return !f.exact() })
	}
	var found []Measured
	for _, m := range all {
		if m != nil {
			found = append(found, *m)
		}
	}
	return found, err
}

// exact tells that a figure comes out the same on a busy machine, and soon.
func (f Figure) exact() bool { return !f.Timed && !f.Long && !f.Alone }

func measured(f Figure, r campaign.Result[Measurement]) Measured {
	m := Measured{Figure: f, Baseline: f.Baseline, Err: r.Err}
	if m.Err == nil && (math.IsNaN(r.Value.Value) || math.IsInf(r.Value.Value, 0)) {
		m.Err = fmt.Errorf("measured %v, which is no number", r.Value.Value)
	}
	if m.Err == nil {
		m.Value, m.Note = r.Value.Value, r.Value.Note
		if r.Value.Baseline != nil {
			m.Baseline = r.Value.Baseline
		}
	}
	return m
}
