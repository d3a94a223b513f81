package axis

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Source sends frames into a design. Its method SetThrottle makes it what testbench.RandomStall acts on.
type Source struct {
	*layout
	*verilator.Source
	turn *testbench.Semaphore // of who sends a frame
}

// NewSource drives the stream of the input ports with a prefix.
func NewSource(b *testbench.Bench, prefix string, c Config) (*Source, error) {
	l, err := open(b, prefix, c, verilator.In)
	if err != nil {
		return nil, err
	}
	s, err := l.Instance.Source(l.channel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Port, err)
	}
	return &Source{l, s, testbench.NewSemaphore("sending on "+l.Port.String(), 1)}, nil
}

// Send queues a frame; it waits while there is no room, or another coroutine sends one. A frame that the stream cannot carry fails the bench.
func (s *Source) Send(c *testbench.Task, f Frame) {
	n, err := s.transfers(f)
	if err != nil {
		c.Fatalf("%w", err)
	}
	s.turn.Acquire(c, 1)
	defer s.turn.Release(1)
	for i := range n {
		if s.Room() == 0 {
			s.await(c, min(n-i, s.capacity()/2))
		}
		s.put(&f, i, n)
	}
}

// TrySend queues a frame if there is room for all of it, and tells whether. The error wraps ErrFrame: the stream cannot carry it.
func (s *Source) TrySend(f Frame) (bool, error) {
	n, err := s.transfers(f)
	if err != nil || s.Room() < n || s.turn.Free() == 0 {
		return false, err
	}
	for i := range n {
		s.put(&f, i, n)
	}
	return true, nil
}

func (s *Source) put(f *Frame, i, n int) {
	s.fill(f, i)
	s.PutParts(s.row[0], i == n-1, s.row[1:])
}

func (s *Source) capacity() int { return s.Room() + s.Pending() }

// await waits for room for n transfers, and for more, so that many frames are queued at once.
func (s *Source) await(c *testbench.Task, n int) {
	n = max(n, s.capacity()/2, 1)
	c.Await("room for a frame on "+s.Port.String(), s.HasRoom(n), func() bool { return s.Room() >= n })
}

// Drain waits until the design has taken everything.
func (s *Source) Drain(c *testbench.Task) {
	c.Await("the design to take what is left on "+s.Port.String(), s.Drained(), func() bool { return s.Pending() == 0 })
}
