package suite

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// The JUnit schema as CI systems read it: a suite a scenario, a case a seed.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML.
func (r Report) WriteJUnit(w io.Writer) error {
	all := junitSuites{Tests: r.Passed() + r.Failed(), Failures: r.Failed(), Time: seconds(r.Elapsed)}
	for _, result := range r.Results {
		s := junitSuite{Name: result.Scenario.Name, Tests: len(result.Runs), Failures: result.Failed()}
		var elapsed time.Duration
		for _, run := range result.Runs {
			elapsed += run.Elapsed
			c := junitCase{
				Class:  "lmmc.sim." + run.Scenario,
				Name:   fmt.Sprintf("seed %d", run.Seed),
				Time:   seconds(run.Elapsed),
				Output: printable(strings.Join(run.Log, "\n")),
			}
			if run.Err != nil {
				text := printable(run.Err.Error())
				message, _, _ := strings.Cut(text, "\n")
				text += "\nagain: " + run.Reproduce()
				if run.Stats.Wave != "" {
					text += "\nwave:  " + run.Stats.Wave
				}
				c.Failure = &junitFailure{Message: message, Text: text}
			}
			s.Cases = append(s.Cases, c)
		}
		s.Time = seconds(elapsed)
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "\t")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// printable drops what XML cannot hold.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || unicode.IsPrint(c) {
			return c
		}
		return -1
	}, s)
}
