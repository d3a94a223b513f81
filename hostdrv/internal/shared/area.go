package shared

import "slices"

// area gives parts of the memory that a context's messages are in.
type area struct{ free []span } // in order, apart from each other

// span is bytes from start to end.
type span struct{ start, end int }

// partBytes is what parts are multiples of.
const partBytes = 64

func partOf(bytes int) int { return (bytes + partBytes - 1) &^ (partBytes - 1) }

// take takes a part of so many bytes, the first one that is long enough.
func (a *area) take(bytes int) (start int, ok bool) {
	bytes = partOf(bytes)
	if bytes == 0 {
		return 0, true
	}
	for i := range a.free {
		s := &a.free[i]
		if s.end-s.start < bytes {
			continue
		}
		start = s.start
		if s.start += bytes; s.start == s.end {
			a.free = slices.Delete(a.free, i, i+1)
		}
		return start, true
	}
	return 0, false
}

// give gives a part back.
func (a *area) give(start, bytes int) {
	bytes = partOf(bytes)
	if bytes == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(a.free, start, func(s span, start int) int { return s.start - start })
	a.free = slices.Insert(a.free, i, span{start, start + bytes})
	if i+1 < len(a.free) && a.free[i].end == a.free[i+1].start {
		a.free[i].end = a.free[i+1].end
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].end == a.free[i].start {
		a.free[i-1].end = a.free[i].end
		a.free = slices.Delete(a.free, i, i+1)
	}
}
