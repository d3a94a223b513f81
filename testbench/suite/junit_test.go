package suite

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestWriteJUnit(t *testing.T) {
	report := Report{Elapsed: 1500 * time.Millisecond, Results: []Result{{
		Scenario: Scenario{Name: "s"},
		Runs: []Outcome{
			{Scenario: "s", Seed: 1, Elapsed: time.Second},
			{Scenario: "s", Seed: 2, Elapsed: time.Second, Stats: Stats{Wave: "w.fst"},
				Err: errors.New("byte <5> \x1b[1mdiffers\nwant 1"), Log: []string{"a & b", "\x00c"}},
		},
	}}}
	var b strings.Builder
	if err := report.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var back junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if back.Tests != 2 || back.Failures != 1 || back.Time != "1.500" || len(back.Suites) != 1 {
		t.Errorf("read back %+v", back)
	}
	s := back.Suites[0]
	if s.Tests != 2 || s.Failures != 1 || s.Time != "2.000" || s.Cases[0].Failure != nil {
		t.Errorf("suite read back %+v", s)
	}
	failure := s.Cases[1].Failure
	if failure == nil || failure.Message != "byte <5> [1mdiffers" {
		t.Fatalf("failure read back %+v", failure)
	}
	for _, want := range []string{"want 1", "--run s --seed 2 --wave", "w.fst"} {
		if !strings.Contains(failure.Text, want) {
			t.Errorf("the failure does not say %q:\n%s", want, failure.Text)
		}
	}
	if got, want := s.Cases[1].Output, "a & b\nc"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}
