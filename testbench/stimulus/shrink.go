package stimulus

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Shrink leaves rounds, packets and violations out of a program that fails for as long as what is left fails, and returns what is left when
// nothing more can go, or when ctx ends. fails reports whether a program fails in the same way.
func Shrink(ctx context.Context, p Program, fails func(Program) bool) Program {
	p.Rounds = fewer(ctx, p.Rounds, func(rounds []Round) bool {
		q := p
		q.Rounds = rounds
		return fails(q)
	})
	for i := range p.Rounds {
		try := func(change func(*Round)) bool {
			q := p
			q.Rounds = slices.Clone(p.Rounds)
			q.Rounds[i].Links = slices.Clone(p.Rounds[i].Links)
			q.Rounds[i].Violations = slices.Clone(p.Rounds[i].Violations)
			change(&q.Rounds[i])
			return fails(q)
		}
		r := &p.Rounds[i]
		r.Links, r.Violations = slices.Clone(r.Links), slices.Clone(r.Violations)
		r.Host = fewer(ctx, r.Host, func(l []Packet) bool { return try(func(r *Round) { r.Host = l }) })
		for k := range r.Links {
			r.Links[k].In = fewer(ctx, r.Links[k].In, func(l []Arrival) bool { return try(func(r *Round) { r.Links[k].In = l }) })
			r.Links[k].Out = fewer(ctx, r.Links[k].Out, func(l []Packet) bool { return try(func(r *Round) { r.Links[k].Out = l }) })
		}
		for k := range r.Violations {
			r.Violations[k] = fewer(ctx, r.Violations[k], func(l []Violation) bool { return try(func(r *Round) { r.Violations[k] = l }) })
		}
	}
	return p
}

// fewer leaves items out, in blocks of half of them first.
func fewer[T any](ctx context.Context, list []T, fails func([]T) bool) []T {
	for block := len(list); block > 0; block /= 2 {
		for at := 0; at < len(list) && ctx.Err() == nil; {
			if rest := slices.Concat(list[:at], list[min(at+block, len(list)):]); fails(rest) {
				list = rest
			} else {
				at += block
			}
		}
	}
	return list
}

// Size says how much there is of a program.
func (p Program) Size() string {
	var kinds []string
	packets, violations := 0, 0
	for _, r := range p.Rounds {
		kinds = append(kinds, r.Kind.String())
		packets += len(r.Host)
		for _, l := range r.Links {
			packets += len(l.In) + len(l.Out)
		}
		for _, v := range r.Violations {
			violations += len(v)
		}
	}
	return fmt.Sprintf("%d rounds (%s), %d packets, %d violations", len(p.Rounds), strings.Join(kinds, ", "), packets, violations)
}

// WriteFile keeps a program, as JSON.
func (p Program) WriteFile(path string) error {
	text, err := json.MarshalIndent(p, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("stimulus: program: %w", err)
	}
	return nil
}

// ReadFile reads what WriteFile has kept.
func ReadFile(path string) (p Program, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("stimulus: program: %w", err)
	}
	return p, p.check()
}

// check refuses what no player can play.
func (p Program) check() error {
	if p.Params != p.Params.WithDefaults() {
		return fmt.Errorf("stimulus: program: parameters %+v are not complete", p.Params)
	}
	for i, r := range p.Rounds {
		if len(r.Links) != p.Params.Links || len(r.Table) != p.Params.Frames || r.Kind == Violate && len(r.Violations) != p.Params.Links+1 {
			return fmt.Errorf("stimulus: program: round %d has %d links, %d frames and violations of %d ports; the parameters say %d, %d and %d", i,
				len(r.Links), len(r.Table), len(r.Violations), p.Params.Links, p.Params.Frames, p.Params.Links+1)
		}
		if r.Port < 0 || r.Port > p.Params.Links || r.Frame < 0 || r.Frame >= p.Params.Frames {
			return fmt.Errorf("stimulus: program: round %d is about port %d and frame %d; there are %d ports and %d frames", i, r.Port, r.Frame, p.Params.Links+1, p.Params.Frames)
		}
	}
	return nil
}
