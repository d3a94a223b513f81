package pagemem

import (
	"errors"
	"fmt"
	"slices"
)

// Late holds what was written to a page and not sent yet. The caller serialises all use of it.
type Late struct {
	// Image is what the page is to hold.
	Image []byte
	// Failed is an error of a periodic flush, for the next Flush to return.
	Failed error

	spans    []span   // of Image that were written
	sent     []span   // that were sent
	settling []span   // that were sent before, and are not known to have been carried out
	watched  *watched // memory that programs write, or nil; it differs from Image by what Collect has not found yet
}

// span is bytes first to end, the latter not included.
type span struct{ first, end int }

// Write takes data that is to be sent.
func (l *Late) Write(data []byte, off int) {
	if len(data) == 0 {
		return
	}
	copy(l.Image[off:], data)
	if l.watched != nil {
		copy(l.watched.memory[off:], data)
	}
	l.spans = add(l.spans, span{off, off + len(data)})
}

// add adds a span to others, which are in order, and apart from each other.
func add(spans []span, s span) []span {
	from, _ := slices.BinarySearchFunc(spans, s.first, func(x span, first int) int { return x.end - first }) // the first that touches s or is behind it
	to := from
	for to < len(spans) && spans[to].first <= s.end {
		s = span{min(s.first, spans[to].first), max(s.end, spans[to].end)}
		to++
	}
	return slices.Replace(spans, from, to, s)
}

// Collect finds what was written as memory.
func (l *Late) Collect() error {
	if l.watched == nil {
		return nil
	}
	return l.watched.written(func(first, end int) {
		for at := first; at < min(end, len(l.Image)); at++ {
			if v := l.watched.memory[at]; v != l.Image[at] {
				l.Image[at] = v
				l.spans = add(l.spans, span{at, at + 1})
			}
		}
	})
}

// Send sends what was written, each span by one call of write, until that returns false or an error.
func (l *Late) Send(write func(data []byte, off int) (bool, error)) (done bool, err error) {
	for len(l.spans) > 0 {
		s := l.spans[0]
		if sent, err := write(l.Image[s.first:s.end], s.first); !sent {
			return false, err
		}
		l.spans, l.sent = l.spans[1:], add(l.sent, s)
	}
	return true, nil
}

// Settle says that the caller finds out whether what was sent until now is carried out: Settled says that it was.
func (l *Late) Settle() { l.settling, l.sent = l.sent, l.settling[:0] }

// Settled: see Settle.
func (l *Late) Settled() { l.settling = l.settling[:0] }

// Unsend makes what was sent and not Settled count as not sent.
func (l *Late) Unsend() {
	for _, s := range slices.Concat(l.settling, l.sent) {
		l.spans = add(l.spans, s)
	}
	l.settling, l.sent = l.settling[:0], l.sent[:0]
}

// Unsent is how many bytes were written and not sent.
func (l *Late) Unsent() (n int) {
	for _, s := range l.spans {
		n += s.end - s.first
	}
	return n
}

// Memory returns what the page is to hold as memory, until Unmap.
func (l *Late) Memory() ([]byte, error) {
	if l.watched == nil {
		m, err := newWatched(l.Image)
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", err, errors.ErrUnsupported)
		}
		l.watched = m
	}
	return l.watched.memory[:len(l.Image):len(l.Image)], nil
}

// Mapped reports whether the page is memory.
func (l *Late) Mapped() bool { return l.watched != nil }

// Unmap ends what Memory gave; what was written to it is kept.
func (l *Late) Unmap() error {
	if l.watched == nil {
		return nil
	}
	err := errors.Join(l.Collect(), l.watched.close())
	l.watched = nil
	return err
}
