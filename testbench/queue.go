package testbench

// Queue carries items from task to task in order. The zero value has no limit. Tasks that wait are served in the order in
// which they came. An observer or the test may use TryPut and TryGet.
type Queue[T any] struct {
	// Name is what reports call it.
	Name string
	// Limit is how many items it holds before Put waits; 0 means any number.
	Limit int

	items          []T
	takers, givers line
	watched        line
}

// Len returns how many items are in the queue.
func (q *Queue[T]) Len() int { return len(q.items) }

func (q *Queue[T]) room() bool   { return q.Limit <= 0 || len(q.items) < q.Limit }
func (q *Queue[T]) filled() bool { return len(q.items) > 0 }

// Put adds an item, and waits while the queue is full.
func (q *Queue[T]) Put(c *Task, item T) {
	q.givers.turn(c, q.room, "room in queue", q.Name)
	q.put(item)
}

// TryPut adds an item if there is room, and reports whether it did.
func (q *Queue[T]) TryPut(item T) bool {
	if !q.room() || len(q.givers.tasks) > 0 {
		return false
	}
	q.put(item)
	return true
}

func (q *Queue[T]) put(item T) {
	q.items = append(q.items, item)
	q.takers.first()
	q.watched.all()
}

// Get takes the oldest item, and waits while there is none.
func (q *Queue[T]) Get(c *Task) T {
	q.takers.turn(c, q.filled, "an item of queue", q.Name)
	return q.get()
}

// TryGet takes the oldest item; false when there is none, or another task waits for it.
func (q *Queue[T]) TryGet() (item T, ok bool) {
	if !q.filled() || len(q.takers.tasks) > 0 {
		return item, false
	}
	return q.get(), true
}

func (q *Queue[T]) get() T {
	var none T
	item := q.items[0]
	q.items[0] = none
	q.items = q.items[1:]
	q.givers.first()
	return item
}

// Filled is for Task.First: that TryGet would return an item.
func (q *Queue[T]) Filled() Wait {
	return Wait{"an item of queue", q.Name, func(*Task) armed {
		return armed{holds: func() bool { return q.filled() && len(q.takers.tasks) == 0 }, at: never, line: &q.watched}
	}}
}
