package suite

import (
	"fmt"
	"io"
	"strings"

	"github.com/stafflink/lmmc/testbench/junit"
)

// WriteJUnit writes the report as JUnit XML: a suite a scenario, a case a seed.
func (r Report) WriteJUnit(w io.Writer) error {
	var suites []junit.Suite
	for _, result := range r.Results {
		s := junit.Suite{Name: result.Scenario.Name}
		for _, run := range result.Runs {
			c := junit.Case{
				Class:   "lmmc.sim." + run.Scenario,
				Name:    fmt.Sprintf("seed %d", run.Seed),
				Elapsed: run.Elapsed,
				Output:  strings.Join(run.Log, "\n"),
			}
			if run.Err != nil {
				c.Failure = run.Err.Error() + "\nagain: " + run.Reproduce()
				if run.Stats.Wave != "" {
					c.Failure += "\nwave:  " + run.Stats.Wave
				}
			}
			s.Cases = append(s.Cases, c)
		}
		suites = append(suites, s)
	}
	return junit.Write(w, r.Elapsed, suites...)
}
