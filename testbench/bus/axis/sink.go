package axis

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// stream tells frames apart whose transfers are interleaved (IHI 0051A, section 2.6).
type stream struct{ id, dest uint64 }

// assembler makes frames of transfers.
type assembler struct {
	*layout
	open    map[stream]*Frame
	current *Frame // of open
	key     stream // of current
	size    int    // of the frame before, as a hint
}

// add takes the transfer in the row, and returns the frame that it ends.
func (a *assembler) add(last bool) (f Frame, ended bool) {
	key := stream{a.value(a.id), a.value(a.dest)}
	if a.current == nil || a.key != key {
		a.current, a.key = a.open[key], key
		if a.current == nil {
			a.current = &Frame{ID: key.id, Dest: key.dest, Data: make([]byte, 0, a.size)}
			if a.open == nil {
				a.open = map[stream]*Frame{}
			}
			a.open[key] = a.current
		}
	}
	a.extract(a.current)
	if !last && a.channel.Last != "" {
		return Frame{}, false
	}
	f, a.size = *a.current, len(a.current.Data)
	a.current = nil
	delete(a.open, key)
	return f, true
}

// reset forgets frames that have not ended.
func (a *assembler) reset() {
	clear(a.open)
	a.current = nil
}

// Sink takes frames from a design. Its method SetThrottle makes it what testbench.RandomStall acts on.
type Sink struct {
	assembler
	*verilator.Sink
	ready []Frame
	next  int // of ready
	ended uint64
	edge  uint64
}

// NewSink takes what comes on the stream of the output ports with a prefix.
func NewSink(b *testbench.Bench, prefix string, c Config) (*Sink, error) {
	l, err := open(b, prefix, c, verilator.Out)
	if err != nil {
		return nil, err
	}
	s, err := l.Instance.Sink(l.channel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Port, err)
	}
	return &Sink{assembler: assembler{layout: l}, Sink: s}, nil
}

// Receive waits for the next frame. Of frames that are interleaved, the one that ends first comes first.
func (s *Sink) Receive(c *testbench.Task) Frame {
	f, ok := s.TryReceive()
	if !ok {
		hint := s.Ended(s.ended + 1)
		if s.channel.Last == "" {
			hint = s.Has(1)
		}
		c.Await("the end of a frame on "+s.Port.String(), hint, func() bool {
			f, ok = s.TryReceive()
			return ok
		}, s.Has(s.Depth())) // the frame may be longer
	}
	return f
}

// TryReceive returns the next frame that has come; false means that there is none.
func (s *Sink) TryReceive() (Frame, bool) {
	if s.next == len(s.ready) {
		s.ready, s.next = s.ready[:0], 0
		s.collect()
	}
	if s.next == len(s.ready) {
		return Frame{}, false
	}
	s.next++
	f := s.ready[s.next-1]
	s.ready[s.next-1] = Frame{}
	return f, true
}

// Discard drops what has come, frames that have not ended too, and returns how many transfers waited to be read: after a reset, for example.
func (s *Sink) Discard() int {
	s.reset()
	s.ready, s.next = nil, 0
	n := s.Sink.Discard()
	s.ended = s.Frames()
	return n
}

// Edge returns the rising edge, counted from 1, at which the last transfer moved of those that were collected.
func (s *Sink) Edge() uint64 { return s.edge }

func (s *Sink) collect() {
	for {
		beat, ok := s.GetParts(s.row[1:])
		if !ok {
			return
		}
		s.row[0], s.edge = beat.Data, beat.Cycle
		if beat.Last {
			s.ended++
		}
		if f, ended := s.add(beat.Last); ended {
			s.ready = append(s.ready, f)
		}
	}
}
