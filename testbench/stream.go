package testbench

import (
	"fmt"

	"github.com/stafflink/lmmc/verilator"
)

// Sender is a Source that coroutines wait on.
type Sender struct {
	*verilator.Source
	port string
	turn *Semaphore // of who sends a frame
}

// Sender feeds a channel of the design.
func (i *Instance) Sender(ch verilator.Channel) (*Sender, error) {
	i.bench.mark.Helper()
	s, err := i.Source(ch)
	return &Sender{s, ch.Data, NewSemaphore("sending on "+ch.Data, 1)}, err
}

// Put queues one item, when there is room.
func (s *Sender) Put(c *Task, v uint64, last bool) {
	for !s.Source.Put(v, last) {
		c.try(func() bool { return s.Room() > 0 }, 0, "room for an item for", s.port)
	}
}

// Send queues one frame, an item a byte, as room allows and when no other task sends one.
func (s *Sender) Send(c *Task, frame []byte) {
	s.turn.Acquire(c, 1)
	defer s.turn.Release(1)
	for i, v := range frame {
		s.Put(c, uint64(v), i == len(frame)-1)
	}
}

// Drain waits until the design has taken everything.
func (s *Sender) Drain(c *Task) {
	c.try(func() bool { return s.Pending() == 0 }, 0, "the design to take what is left on", s.port, s.Drained())
}

// Receiver is a Sink that coroutines wait on.
type Receiver struct {
	*verilator.Sink
	port string
}

// Receiver collects a channel of the design.
func (i *Instance) Receiver(ch verilator.Channel) (*Receiver, error) {
	i.bench.mark.Helper()
	s, err := i.Sink(ch)
	return &Receiver{s, ch.Data}, err
}

// Beat waits for the next item.
func (r *Receiver) Beat(c *Task) verilator.Beat {
	c.try(func() bool { return r.Len() > 0 }, 0, "an item of", r.port, r.Has(1))
	beat, _ := r.Get()
	return beat
}

// Frame waits for the next whole frame and returns its bytes. The bench fails if it has more than fit into the sink.
func (r *Receiver) Frame(c *Task) []byte {
	frame, ok := r.Sink.Frame(nil)
	if !ok {
		c.try(func() bool {
			frame, ok = r.Sink.Frame(nil)
			return ok || r.Len() == r.Depth()
		}, 0, "the end of a frame of", r.port, r.Ended(r.Frames()+1), r.Has(r.Depth()))
	}
	if !ok {
		c.Fatalf("a frame of %s has more than %d items: set Channel.Depth to more", r.port, r.Depth())
	}
	return frame
}

// Throttled is what RandomStall acts on: a Source, a Sink, a Sender or a Receiver.
type Throttled interface {
	SetThrottle(share float64)
}

// RandomStall starts a background coroutine that keeps changing a throttle at random: stretches without any hold, with
// some, and with nothing moving at all, of 1 to longest cycles each. Which, follows from the seed and the name.
func (b *Bench) RandomStall(name string, s Throttled, longest int) {
	rng := b.Rand("testbench.squeeze." + name)
	b.Background(fmt.Sprintf("squeeze %s", name), func(c *Task) {
		for {
			switch rng.Weighted(3, 3, 2) {
			case 0:
				s.SetThrottle(0)
			case 1:
				s.SetThrottle(rng.Float64())
			case 2:
				s.SetThrottle(1)
			}
			c.Cycles(uint64(rng.Between(1, longest)))
		}
	})
}
