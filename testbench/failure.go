package testbench

import (
	"errors"
	"fmt"
	"strings"
)

// Failure is what a coroutine, an observer or a check found wrong.
type Failure struct {
	// Coroutine is the name of the coroutine that ran; "" when none did.
	Coroutine string
	// Cycle is how often the main clock had risen.
	Cycle uint64
	// Err says what is wrong.
	Err error
	// Stack is where, a line a call, the innermost first.
	Stack string
}

func (f *Failure) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "cycle %d: ", f.Cycle)
	if f.Coroutine != "" {
		fmt.Fprintf(&s, "coroutine %s: ", f.Coroutine)
	}
	s.WriteString(f.Err.Error())
	for line := range strings.Lines(f.Stack) {
		s.WriteString("\n\tat " + strings.TrimSuffix(line, "\n"))
	}
	return s.String()
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// Waiting says what a coroutine waits for.
type Waiting struct {
	// Coroutine is its name.
	Coroutine string
	// For is what it waits for.
	For string
	// At is the file and line of the call that waits.
	At string
	// Stack is that call and those that led to it, a line each, the innermost first.
	Stack string
}

// TimeoutError says that Run ended though coroutines had not.
type TimeoutError struct {
	// Cycles is how many cycles Run was allowed.
	Cycles uint64
	// Deadlock says that more cycles would not have helped, or not after Config.Idle.
	Deadlock bool
	// Waiting lists the coroutines that have not ended, in the order of their creation, without background ones.
	Waiting []Waiting
}

func (e *TimeoutError) Error() string {
	var s strings.Builder
	if e.Deadlock {
		s.WriteString("testbench: deadlock: coroutines wait for each other:")
	} else {
		fmt.Fprintf(&s, "testbench: coroutines still wait after %d cycles:", e.Cycles)
	}
	for _, w := range e.Waiting {
		fmt.Fprintf(&s, "\n\t%v", w)
	}
	return s.String()
}

// timeout asks every coroutine that is left where it waits.
func (b *Bench) timeout(cycles uint64, deadlock bool) error {
	e := &TimeoutError{Cycles: cycles, Deadlock: deadlock}
	for _, c := range b.coroutines {
		if c.background {
			continue
		}
		c.asked = true
		c.resume()
		e.Waiting = append(e.Waiting, c.answer)
	}
	return e
}

// Errorf reports a failure. Run ends at this edge, when the coroutines that are due have run.
func (b *Bench) Errorf(format string, args ...any) {
	b.fail(&Failure{Coroutine: nameOf(b.running), Cycle: b.Cycle(), Err: fmt.Errorf(format, args...), Stack: where()})
}

// Fatalf is Errorf, and ends the running coroutine. Called by none it ends the test; without a test it is Errorf.
func (b *Bench) Fatalf(format string, args ...any) {
	b.mark.Helper()
	b.fail(&Failure{Coroutine: nameOf(b.running), Cycle: b.Cycle(), Err: fmt.Errorf(format, args...), Stack: stack()})
	if b.running != nil {
		panic(unwound{})
	}
	if b.t != nil {
		b.reported = len(b.failures)
		b.t.Fatal(b.failures[len(b.failures)-1])
	}
}

// Fatalf ends the bench and the coroutine with a message.
func (c *Task) Fatalf(format string, args ...any) { c.b.Fatalf(format, args...) }

// Err returns what has failed so far; nil when nothing has.
func (b *Bench) Err() error { return errors.Join(b.failures...) }

// Failed reports whether anything has failed.
func (b *Bench) Failed() bool {
	return len(b.failures) > 0 || b.panicked || b.t != nil && b.t.Failed()
}

// mostFailures is how many failures are kept.
const mostFailures = 16

func (b *Bench) fail(err error) {
	if !b.closed && len(b.failures) < mostFailures {
		b.failures = append(b.failures, err)
	}
}

// remember keeps an error that Run returns, unless it consists of failures that are kept already.
func (b *Bench) remember(err error) {
	if len(b.failures) == 0 {
		b.fail(err)
	}
}

func nameOf(c *Task) string {
	if c == nil {
		return ""
	}
	return c.name
}
