package testbench

import (
	"fmt"
	"strings"
)

// ExpiredError says that what Task.Within ran had not ended in time.
type ExpiredError struct {
	// Time is how much time there was, in the unit of Config.Period.
	Time uint64
	// Waiting is what the task waited for when time was up.
	Waiting Waiting
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("testbench: not done after time %d: %v", e.Time, e.Waiting)
}

// expired unwinds a task to the Within whose time is up.
type expired struct{ waiting Waiting }

// Within calls body, which may wait as it likes, and gives it up when the limit, made by Cycles, Time or another wait
// for an edge, comes before its end: functions that body has deferred run, and the answer is an *ExpiredError that says
// what it waited for and where. What body has set on the design's inputs stays. What comes true at the very edge of the limit counts.
func (c *Task) Within(limit Wait, body func()) (err error) {
	begun, outer := c.b.now, c.limit
	own := limit.arm(c)
	if own.at == never && own.holds != nil {
		panic("testbench: Task.Within takes a time as its limit: Cycles, Time, Clock.Rises or Clock.Falls")
	}
	c.limit = min(outer, own.at)
	defer func() {
		c.limit = outer
		switch p := recover().(type) {
		case nil:
		case expired:
			if own.at > c.b.now {
				panic(p)
			}
			err = &ExpiredError{own.at - begun, p.waiting}
		default:
			panic(p)
		}
	}()
	body()
	return nil
}

// curb makes a wait end at the limit.
func (c *Task) curb() {
	if c.until != nil {
		c.cut = c.limit < c.expiry
		c.expiry = min(c.limit, c.expiry)
	} else {
		c.cut = c.limit < c.wake
	}
	c.wake = min(c.limit, c.wake)
}

// String says who waits for what and where, with the calls that led there, a line each.
func (w Waiting) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s waits for %s at %s", w.Coroutine, w.For, w.At)
	first := true
	for line := range strings.Lines(w.Stack) {
		if !first {
			s.WriteString("\n\t\tcalled at " + strings.TrimSuffix(line, "\n"))
		}
		first = false
	}
	return s.String()
}

// waiting says what the task waits for. It is to be called by itself.
func (c *Task) waiting() Waiting {
	return Waiting{c.name, strings.TrimSpace(c.what + " " + c.which), where(), stack()}
}
