package msg

// ring is a queue of bounded length that takes its memory once.
type ring[T any] struct {
	slots []T
	first int
	count int
}

func newRing[T any](size int) ring[T] { return ring[T]{slots: make([]T, size)} }

func (r *ring[T]) len() int { return r.count }

// push adds an element behind the others; there is room.
func (r *ring[T]) push(v T) {
	at := r.first + r.count
	if at >= len(r.slots) {
		at -= len(r.slots)
	}
	r.slots[at] = v
	r.count++
}

// unpop puts an element before the others; there is room.
func (r *ring[T]) unpop(v T) {
	r.first = (r.first + len(r.slots) - 1) % len(r.slots)
	r.slots[r.first] = v
	r.count++
}

// head is the first element.
func (r *ring[T]) head() T { return r.slots[r.first] }

// pop takes the first element.
func (r *ring[T]) pop() (v T) {
	slot := &r.slots[r.first]
	v = *slot
	var none T
	*slot = none
	if r.first++; r.first == len(r.slots) {
		r.first = 0
	}
	r.count--
	return v
}
