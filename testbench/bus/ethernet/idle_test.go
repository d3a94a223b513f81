package ethernet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/ethernet"
)

// What stands between frames: nothing but Idle and ordered sets, the latter from lane 0 on, and 12 whole octets.
func TestBetweenFrames(t *testing.T) {
	good := ethernet.Frame{Data: make([]byte, 60)}
	for _, test := range []struct {
		rule   string
		ends   ends
		broken uint64
		frames []ethernet.Frame
	}{
		{"", interfaces[3], 0, []ethernet.Frame{good}},
		{ethernet.RuleStart, interfaces[3], 9, []ethernet.Frame{good}},
		{ethernet.RuleXGMII, interfaces[3], 10, nil},
		{"", interfaces[3], 11, nil},
		{ethernet.RuleEnd, interfaces[3], 13, nil},
		{ethernet.RuleGap, interfaces[0], 12, []ethernet.Frame{good, good}},
	} {
		t.Run(fmt.Sprint(test.ends.kind, " ", test.broken), func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", test.broken))
			var rules []string
			source, _ := test.ends.open(t, b, ethernet.Config{Config: bus.Config{Violation: func(v bus.Violation) { rules = append(rules, v.Rule) }}})
			check.Fatal(t, b.Reset("rst", 4))
			source.Put(test.frames...)
			check.Fatal(t, b.Step(1000))
			rules = slices.Compact(rules)
			if want := slices.DeleteFunc([]string{test.rule}, func(s string) bool { return s == "" }); !slices.Equal(rules, want) {
				t.Errorf("found %q, want %q", rules, want)
			}
		})
	}
}

// What is queued before a reset has ended is sent behind it.
func TestFramesWaitForTheEndOfReset(t *testing.T) {
	for _, e := range interfaces {
		t.Run(e.kind, func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			source, sink := e.open(t, b, ethernet.Config{})
			source.Put(ethernet.Frame{Data: make([]byte, 60)})
			check.Fatal(t, b.Reset("rst", 40))
			b.Go("receive", func(c *testbench.Task) { check.Equal(t, "bytes", len(sink.Get(c).Data), 60) })
			check.Fatal(t, b.Run(10_000))
		})
	}
}
