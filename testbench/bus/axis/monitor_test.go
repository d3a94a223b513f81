package axis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/testbench/bus/dut"
)

// Each rule is broken by a source of its own, and found: that rule and no other.
func TestRules(t *testing.T) {
	for _, test := range []struct {
		name string
		rule uint64
		want string
		text string
		axis.Config
	}{
		{name: "none"},
		{name: "valid", rule: 1, want: axis.RuleValid, text: "withdrawn"},
		{name: "data", rule: 2, want: axis.RuleStable, text: "TDATA"},
		{name: "last", rule: 3, want: axis.RuleStable, text: "TLAST"},
		{name: "keep", rule: 4, want: axis.RuleStable, text: "TKEEP"},
		{name: "user", rule: 5, want: axis.RuleStable, text: "TUSER"},
		{name: "id", rule: 6, want: axis.RuleStable, text: "TID"},
		{name: "dest", rule: 7, want: axis.RuleStable, text: "TDEST"},
		{name: "strb", rule: 8, want: axis.RuleStable, text: "TSTRB"},
		{name: "qualifiers", rule: 9, want: axis.RuleQualifiers, text: "byte 0 has TSTRB at 1 and TKEEP at 0"},
		{name: "in reset", rule: 10, want: axis.RuleReset, text: "TVALID is 1"},
		{name: "after reset", rule: 11, want: axis.RuleReset, text: "TVALID is 1"},
		{name: "sparse", rule: 12},
		{name: "packed", rule: 12, want: axis.RulePacked, text: "byte 1 follows a null byte", Config: axis.Config{Packed: true}},
		{name: "stall", want: axis.RuleStall, text: "TREADY has not come for more than 3 cycles", Config: axis.Config{MaxStall: 3}},
		{name: "waived", rule: 1, Config: axis.Config{Config: bus.Config{Waive: []string{axis.RuleValid}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := dut.Design("axis_rogue", nil)
			b := testbench.New(t, d, testbench.Config{Wave: testbench.WaveNever})
			check.Fatal(t, b.Model().Poke("rule", test.rule))
			var found []bus.Violation
			test.Violation = func(v bus.Violation) { found = append(found, v) }
			m := check.Must(axis.NewMonitor(b, "m_axis", test.Config))(t)
			sink := check.Must(axis.NewSink(b, "m_axis", axis.Config{}))(t)
			sink.SetThrottle(0.8)
			b.Reset("rst", 3)
			b.Step(600)
			for _, v := range found {
				if v.Rule != test.want || !strings.Contains(v.Text, test.text) {
					t.Errorf("found %s, want %s: %s", v, test.want, test.text)
				}
			}
			if test.want != "" && len(found) == 0 {
				t.Error("found nothing")
			}
			if m.Transfers() < 40 || m.Frames() < 10 {
				t.Errorf("the monitor has seen %d transfers, %d frames", m.Transfers(), m.Frames())
			}
		})
	}
}

// A breach ends the run at its edge, so that the wave shows it.
func TestViolationEndsRun(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), dut.Design("axis_rogue", nil), testbench.Config{Wave: testbench.WaveNever, Seed: 5}))(t)
	defer b.Close()
	check.Fatal(t, b.Model().Poke("rule", 2))
	check.Must(axis.NewMonitor(b, "m_axis", axis.Config{}))(t)
	sink := check.Must(axis.NewSink(b, "m_axis", axis.Config{}))(t)
	sink.SetThrottle(0.8)
	check.Fatal(t, b.Reset("rst", 3))
	err := b.Step(100_000)
	if err == nil || !strings.Contains(err.Error(), "axis m_axis, edge ") || !strings.Contains(err.Error(), axis.RuleStable) {
		t.Fatalf("got %v", err)
	}
	if b.Cycle() > 1000 {
		t.Errorf("the run ended in cycle %d", b.Cycle())
	}
}

// What a source of the model drives keeps to the rules, in reset too, and all that can come up does.
func TestCoverage(t *testing.T) {
	b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": 24, "DEPTH": 4}), testbench.Config{})
	var coverage testbench.Coverage
	in := check.Must(axis.NewSource(b, "s_axis", axis.Config{}))(t)
	out := check.Must(axis.NewSink(b, "m_axis", axis.Config{Depth: 1 << 14}))(t)
	var seen []axis.Frame
	check.Must(axis.NewMonitor(b, "s_axis", axis.Config{Coverage: &coverage}))(t)
	check.Must(axis.NewMonitor(b, "m_axis", axis.Config{Coverage: &coverage, Frame: func(f axis.Frame) { seen = append(seen, f) }}))(t)
	b.RandomStall("in", in, 30)
	b.RandomStall("out", out, 30)
	r := b.Rand("frames")
	var sent []axis.Frame
	b.Reset("aresetn", 3)
	b.Go("send", func(c *testbench.Task) {
		for i := range 300 {
			f := random(r, 3, 4)
			sent = append(sent, received(f))
			in.Send(c, f)
			if i%50 == 49 {
				in.Drain(c)
				c.Cycles(40) // the FIFO runs empty
			}
		}
		in.Drain(c)
		c.Until(func() bool { return len(seen) == len(sent) }, 1000)
	})
	b.Run(100_000)
	for len(seen) > 0 {
		if got, ok := out.TryReceive(); !ok || !got.Equal(seen[0]) || !got.Equal(sent[0]) {
			t.Fatalf("sink got %s, monitor %s, sent %s", got, seen[0], sent[0])
		}
		seen, sent = seen[1:], sent[1:]
	}
	want := []string{
		"axis m_axis transfer after one of another frame that has not ended: yes", "axis s_axis transfer after one of another frame that has not ended: yes"}
	unhit := coverage.Unhit()
	slices.Sort(unhit)
	if !slices.Equal(unhit, want) {
		t.Errorf("not hit: %q", unhit)
	}
}

// What a stream cannot carry, and designs that do not fit, are refused.
func TestRefused(t *testing.T) {
	b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": 24}), testbench.Config{Wave: testbench.WaveNever})
	in := check.Must(axis.NewSource(b, "s_axis", axis.Config{}))(t)
	open := func(prefix string, c axis.Config) error {
		_, err := axis.NewSink(b, prefix, c)
		return err
	}
	named := func(signal, port string) axis.Config {
		return axis.Config{Config: bus.Config{Names: map[string]string{signal: port}}}
	}
	send := func(f axis.Frame) error {
		_, err := in.TrySend(f)
		return err
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{open("m_axs", axis.Config{}), "did you mean m_axis_tvalid?"},
		{open("s_axis", axis.Config{}), "has no output for TVALID"},
		{open("m_axis", named("tkep", "x")), "which is no signal of this bus (did you mean tkeep?)"},
		{open("m_axis", named("tkeep", "m_axis_tdest")), "TKEEP has 4 bits, want one for each of the 3 bytes of TDATA (24 bits)"},
		{open("m_axis", named("tkeep", "m_axis_tdata[24:1]")), "m_axis_tdata[24:1] does not lie within"},
		{open("m_axis", named("tvalid", "m_axis_tdest")), "m_axis_tdest[3:0] has 4 bits, want 1"},
		{open("m_axis", axis.Config{Index: 2, Count: 2}), "index 2 of 2 streams: want 0 to 1"},
		{open("m_axis", axis.Config{Count: 2}), "the 1 bits of m_axis_tvalid are no 2 equal parts"},
		{send(axis.Frame{ID: 256}), "0x100 does not fit TID of 8 bits"},
		{send(axis.Frame{Dest: 16}), "0x10 does not fit TDEST of 4 bits"},
		{send(axis.Frame{Data: make([]byte, 9), User: []uint64{1, 2}}), "User has 2 words, want none, 1 for all transfers alike, or 1 for each of 3"},
		{send(axis.Frame{User: []uint64{16}}), "word 0x10 of User does not fit TUSER of 4 bits"},
		{send(axis.Frame{Data: make([]byte, 2), Types: make([]axis.ByteType, 1)}), "Types has 1 entries for 2 bytes"},
		{send(axis.Frame{Data: make([]byte, 1), Types: []axis.ByteType{7}}), "byte 0 is of type 7"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) || strings.Count(test.err.Error(), "axis") == 0 {
			t.Errorf("got %v, want ... %s", test.err, test.want)
		}
	}
}
