package suite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

func TestWriteJUnit(t *testing.T) {
	report := Report{Elapsed: 1500 * time.Millisecond, Results: []Result{{
		Scenario: Scenario{Name: "s"},
		Runs: []Outcome{
			{Scenario: "s", Seed: 1, Elapsed: time.Second},
			{Scenario: "s", Seed: 2, Elapsed: time.Second, Stats: Stats{Wave: "w.fst"}, Err: errors.New("byte 5 differs\nwant 1"), Log: []string{"one", "two"}},
		},
	}}}
	var b strings.Builder
	check.Fatal(t, report.WriteJUnit(&b))
	check.Contains(t, "report", b.String(),
		`<testsuite name="s" tests="2" failures="1"`, `classname="lmmc.sim.s" name="seed 1"`, `<failure message="byte 5 differs">`, "want 1",
		"--run s --seed 2 --wave", "wave:  w.fst", "<system-out>one&#xA;two</system-out>")
}
