package try_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
)

func TestRun(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for want, step := range map[string]func(){
		"":              func() { try.OK(); try.OK(nil, nil); try.Wrap(nil, "where") },
		"first":         func() { try.OK(first) },
		"first\nsecond": func() { try.OK(first, nil, second) },
		"port 3: first": func() { try.Wrap(first, "port %d", 3) },
		"3 of 4: first": func() { try.Failf("%d of %d: %w", 3, 4, first) },
		"second":        func() { try.OK(try.Run(func() { try.Get(0, second) })) },
	} {
		went := false
		err := try.Run(func() { step(); went = true })
		if went != (err == nil) || went != (want == "") {
			t.Errorf("want %q: the steps went on: %v, with error %v", want, went, err)
		}
		if err != nil {
			check.Equal(t, "error", err.Error(), want)
			if !errors.Is(err, first) && !errors.Is(err, second) {
				t.Errorf("%v wraps neither", err)
			}
		}
	}
	check.Equal(t, "value", try.Get(5, nil), 5)
}

// TestFinally has done fail behind steps that end well, that fail, and that panic.
func TestFinally(t *testing.T) {
	first, last := errors.New("first"), errors.New("last")
	for want, step := range map[string]func(){
		"last":        func() {},
		"first\nlast": func() { try.OK(first) },
		"boom":        func() { panic("boom") },
	} {
		var err error
		func() {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("%v", v)
				}
			}()
			err = try.Run(func() {
				defer try.Finally(func() error { return last })
				step()
			})
		}()
		check.Fails(t, want, err, nil)
		check.Equal(t, "error", fmt.Sprint(err), want)
	}
	check.Fatal(t, try.Run(func() { defer try.Finally(func() error { return nil }) }))
}

// TestPanic has a panic that is none of try's pass.
func TestPanic(t *testing.T) {
	defer func() { check.Equal(t, "panic", fmt.Sprint(recover()), "boom") }()
	check.Fatal(t, try.Run(func() { panic("boom") }))
	t.Error("it ended in silence")
}
