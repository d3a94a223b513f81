package testbench

import "slices"

// line is the tasks that wait for the same thing, the first that came at its head.
type line struct{ tasks []*Task }

func (l *line) join(c *Task) { l.tasks = append(l.tasks, c) }

func (l *line) leave(c *Task) {
	if i := slices.Index(l.tasks, c); i >= 0 {
		l.tasks = slices.Delete(l.tasks, i, i+1)
	}
}

// first wakes the task at the head, all wakes every task.
func (l *line) first() {
	if len(l.tasks) > 0 {
		l.tasks[0].rouse()
	}
}

func (l *line) all() {
	for _, c := range l.tasks {
		c.rouse()
	}
}

// turn waits until the task is at the head of the line and ready holds. Who has what it waited for, or gives up, lets the next one look.
func (l *line) turn(c *Task, ready func() bool, what, which string) {
	if len(l.tasks) == 0 && ready() {
		return
	}
	l.join(c)
	defer func() {
		l.leave(c)
		l.first()
	}()
	for l.tasks[0] != c || !ready() {
		c.sleep(what, which)
	}
}

// sleep waits until another task, an observer or the test rouses this one.
func (c *Task) sleep(what, which string) {
	c.wake, c.what, c.which, c.listens = never, what, which, true
	c.pause()
	c.listens = false
}

// rouse lets a task that sleeps go on at this edge, or look whether what it waits for holds.
func (c *Task) rouse() {
	c.wake, c.cut = c.b.now, c.cut && c.until != nil
	c.b.roused = true
}
