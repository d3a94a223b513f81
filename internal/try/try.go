// Package try ends a sequence of steps at the first error, as t.Fatal ends a test. It is for steps that have nothing to undo and are many: the
// cases of a suite, a scenario, a measurement. Run is around them; what is in a goroutine of its own needs its own Run.
package try

import (
	"errors"
	"fmt"
)

// ended is what unwinds the steps.
type ended struct{ err error }

// Run takes steps, and returns the error that has ended them.
func Run(steps func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case ended:
			err = v.err
		default:
			panic(v)
		}
	}()
	steps()
	return nil
}

// OK ends the steps with these errors, unless all are nil.
func OK(errs ...error) {
	err := errors.Join(errs...)
	if err == nil {
		return
	}
	if len(errs) == 1 {
		err = errs[0]
	}
	panic(ended{err})
}

// Get returns the value of a call, or ends the steps with its error.
func Get[V any](value V, err error) V {
	OK(err)
	return value
}

// Wrap ends the steps with an error, behind a text that says where it came up, unless it is nil.
func Wrap(err error, format string, args ...any) {
	if err != nil {
		OK(fmt.Errorf(format+": %w", append(args, err)...))
	}
}

// Failf ends the steps with an error of this text.
func Failf(format string, args ...any) { OK(fmt.Errorf(format, args...)) }

// Finally is deferred: it calls done also when the steps have ended, and ends them with its error too.
func Finally(done func() error) {
	var err error
	switch v := recover().(type) {
	case nil:
	case ended:
		err = v.err
	default:
		defer panic(v) // goes on, whatever done returns
	}
	OK(err, done())
}
