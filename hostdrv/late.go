package hostdrv

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// lateWrites holds what was written to a port and not sent yet.
type lateWrites struct {
	image []byte // what the page is to hold
	spans []span // of it that were written, in order, apart from each other

	memory *watched // that programs write, or nil; it differs from image by what has not been found yet
	every  *timer   // of FlushEvery, or nil
	failed error    // of it, for the next Flush
}

// span is bytes first to end, the latter not included.
type span struct{ first, end int }

func (l *lateWrites) write(data []byte, off int) {
	if len(data) == 0 {
		return
	}
	copy(l.image[off:], data)
	if l.memory != nil {
		copy(l.memory.memory[off:], data)
	}
	l.mark(span{off, off + len(data)})
}

// mark takes a span among those that were written.
func (l *lateWrites) mark(s span) {
	from, _ := slices.BinarySearchFunc(l.spans, s.first, func(x span, first int) int { return x.end - first }) // the first that touches s or is behind it
	to := from
	for to < len(l.spans) && l.spans[to].first <= s.end {
		s = span{min(s.first, l.spans[to].first), max(s.end, l.spans[to].end)}
		to++
	}
	l.spans = slices.Replace(l.spans, from, to, s)
}

// collect finds what was written as memory.
func (l *lateWrites) collect() error {
	if l == nil || l.memory == nil {
		return nil
	}
	return l.memory.written(func(first, end int) {
		for at := first; at < min(end, len(l.image)); at++ {
			if v := l.memory.memory[at]; v != l.image[at] {
				l.image[at] = v
				l.mark(span{at, at + 1})
			}
		}
	})
}

// bytes gives what the page is to hold as memory.
func (l *lateWrites) bytes() ([]byte, error) {
	if l.memory == nil {
		m, err := newWatched(l.image)
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", err, errors.ErrUnsupported)
		}
		l.memory = m
	}
	return l.memory.memory[:len(l.image):len(l.image)], nil
}

func (l *lateWrites) unmap() error {
	if l == nil || l.memory == nil {
		return nil
	}
	err := errors.Join(l.collect(), l.memory.close())
	l.memory = nil
	return err
}

// flush sends what was written until there is no room; done is false then.
func (p *Port) flush() (done bool, err error) {
	for len(p.late.spans) > 0 {
		s := p.late.spans[0]
		sent, err := p.write(p.late.image[s.first:s.end], s.first)
		if !sent {
			return false, err
		}
		p.late.spans = p.late.spans[1:]
		p.node.ni.wakeOwner()
	}
	return true, nil
}

// FlushEvery makes the driver flush a port with policy Late again and again, each time that so much of the target's time has passed; 0 ends it.
// What goes wrong the next Flush tells.
func (p *Port) FlushEvery(d time.Duration) error {
	if p.remote != nil {
		return p.remote.setFlush(d)
	}
	n := p.node.ni
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := p.usable(Send); err != nil {
		return err
	}
	if p.policy != Late {
		return notFlushed(p.id)
	}
	l := p.late
	if l.every != nil {
		n.core.timers.remove(l.every)
		l.every = nil
	}
	if d <= 0 {
		return nil
	}
	ticks := uint64(max(d.Seconds()*n.timing.TicksPerSecond, 1))
	again := &timer{}
	again.fire = func() {
		if l.every != again || p.state == ended || n.core.err != nil {
			return
		}
		err := l.collect()
		if err == nil {
			_, err = p.flush()
		}
		if l.failed == nil {
			l.failed = err
		}
		n.core.timers.add(again, n.core.now+ticks)
	}
	l.every = again
	n.core.timers.add(again, n.core.now+ticks)
	n.wakeOwner()
	return nil
}

func notFlushed(id uint32) error {
	return fmt.Errorf("%w %d: only a port with policy %v is flushed", ErrPort, id, Late)
}
