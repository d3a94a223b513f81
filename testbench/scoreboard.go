package testbench

import (
	"fmt"
	"strings"
)

// Scoreboard compares what comes with what is expected, in order. Bytes are shown in hex around the first difference.
type Scoreboard[T any] struct {
	name     string
	reporter Reporter
	expected []T
	compared int
}

// NewScoreboard makes a scoreboard that tells the reporter what is wrong; it may be nil, as the methods return it too.
func NewScoreboard[T any](r Reporter, name string) *Scoreboard[T] {
	return &Scoreboard[T]{name: name, reporter: r}
}

// Expect says what has to come next, after what is expected already. The value must not be changed afterwards.
func (s *Scoreboard[T]) Expect(v T) { s.expected = append(s.expected, v) }

// Got compares a value with the next one expected.
func (s *Scoreboard[T]) Got(v T) error {
	index := s.compared
	s.compared++
	if len(s.expected) == 0 {
		return report(s.reporter, fmt.Errorf("%s: item %d: got %s, want nothing", s.name, index, show(v)))
	}
	want := s.expected[0]
	s.expected = s.expected[1:]
	if d := difference(v, want); d != "" {
		return report(s.reporter, fmt.Errorf("%s: item %d: %s", s.name, index, d))
	}
	return nil
}

// Pending is how many values are expected and have not come.
func (s *Scoreboard[T]) Pending() int { return len(s.expected) }

// Compared is how many values have come.
func (s *Scoreboard[T]) Compared() int { return s.compared }

// Finish reports what is missing.
func (s *Scoreboard[T]) Finish() error {
	if len(s.expected) == 0 {
		return nil
	}
	return report(s.reporter, missing(s.name, s.compared, s.expected))
}

// mostShown is how many missing values are listed.
const mostShown = 4

func missing[T any](name string, index int, values []T) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %d missing after %d that came:", name, len(values), index)
	for i, v := range values {
		if i == mostShown {
			s.WriteString("\n…")
			break
		}
		s.WriteString("\n" + show(v))
	}
	return fmt.Errorf("%s", s.String())
}
