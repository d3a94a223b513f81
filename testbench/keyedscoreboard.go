package testbench

import "fmt"

// KeyedScoreboard compares what comes with what is expected when only values with equal keys keep their order.
type KeyedScoreboard[K comparable, T any] struct {
	name     string
	reporter Reporter
	key      func(T) K
	expected map[K][]T
	order    []K // of the expectations, for reports; those that were met stay until they are at the front
	pending  int
	compared int
}

// NewKeyed makes a scoreboard of values that are told apart by a key: a source, a channel, a tag.
func NewKeyed[K comparable, T any](r Reporter, name string, key func(T) K) *KeyedScoreboard[K, T] {
	return &KeyedScoreboard[K, T]{name: name, reporter: r, key: key, expected: map[K][]T{}}
}

// NewUnordered makes a scoreboard of values that come in any order, each as often as it is expected.
func NewUnordered[T any](r Reporter, name string) *KeyedScoreboard[string, T] {
	return NewKeyed(r, name, func(v T) string {
		if p, ok := any(v).([]byte); ok {
			return string(p)
		}
		return fmt.Sprintf("%#v", v)
	})
}

// Expect says what has to come, after what is expected already with the same key.
func (s *KeyedScoreboard[K, T]) Expect(v T) {
	k := s.key(v)
	s.expected[k] = append(s.expected[k], v)
	s.order = append(s.order, k)
	s.pending++
}

// Got compares a value with the next one expected with its key.
func (s *KeyedScoreboard[K, T]) Got(v T) error {
	index := s.compared
	s.compared++
	k := s.key(v)
	queue := s.expected[k]
	if len(queue) == 0 {
		return report(s.reporter, fmt.Errorf("%s: item %d: got %s, want none like it; %d others are missing",
			s.name, index, show(v), s.pending))
	}
	s.pending--
	if len(queue) == 1 {
		delete(s.expected, k)
	} else {
		s.expected[k] = queue[1:]
	}
	for len(s.order) > 0 && len(s.expected[s.order[0]]) == 0 {
		s.order = s.order[1:]
	}
	if d := difference(v, queue[0]); d != "" {
		return report(s.reporter, fmt.Errorf("%s: item %d, key %s: %s", s.name, index, show(k), d))
	}
	return nil
}

// Finish reports what is missing, by key in the order in which the keys were first expected.
func (s *KeyedScoreboard[K, T]) Finish() error {
	if s.pending == 0 {
		return nil
	}
	var values []T
	listed := map[K]bool{}
	for _, k := range s.order {
		if !listed[k] {
			listed[k] = true
			values = append(values, s.expected[k]...)
		}
	}
	return report(s.reporter, missing(s.name, s.compared, values))
}
