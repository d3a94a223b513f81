package hostdrv

import "slices"

// lateWrites holds what was written to a port and not sent yet.
type lateWrites struct {
	image []byte // what the page is to hold
	spans []span // of it that were written, in order, apart from each other
}

// span is bytes first to end, the latter not included.
type span struct{ first, end int }

func (l *lateWrites) write(data []byte, off int) {
	if len(data) == 0 {
		return
	}
	copy(l.image[off:], data)
	s := span{off, off + len(data)}
	from, _ := slices.BinarySearchFunc(l.spans, s.first, func(x span, first int) int { return x.end - first }) // the first that touches s or is behind it
	to := from
	for to < len(l.spans) && l.spans[to].first <= s.end {
		s = span{min(s.first, l.spans[to].first), max(s.end, l.spans[to].end)}
		to++
	}
	l.spans = slices.Replace(l.spans, from, to, s)
}
