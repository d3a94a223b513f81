// Package junit writes reports in the JUnit schema, as CI systems read it.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// Suite is a group of cases.
type Suite struct {
	Name  string
	Cases []Case
}

// Case is one test. It has passed if Failure and Skipped are both "".
type Case struct {
	Class, Name string
	Elapsed     time.Duration
	Failure     string // what is wrong; its first line is the message
	Skipped     string // why it was not done
	Output      string
}

type (
	document struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *message `xml:"failure,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
		Output  string   `xml:"system-out,omitempty"`
	}
	message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// Write writes suites, which took elapsed in all. Characters that XML cannot hold are left out.
func Write(w io.Writer, elapsed time.Duration, suites ...Suite) error {
	all := document{Time: seconds(elapsed)}
	for _, s := range suites {
		one := suite{Name: s.Name, Tests: len(s.Cases)}
		var sum time.Duration
		for _, c := range s.Cases {
			sum += c.Elapsed
			t := testCase{Class: c.Class, Name: c.Name, Time: seconds(c.Elapsed), Output: printable(c.Output)}
			switch {
			case c.Failure != "":
				one.Failures++
				text := printable(c.Failure)
				first, _, _ := strings.Cut(text, "\n")
				t.Failure = &message{Message: first, Text: text}
			case c.Skipped != "":
				one.Skipped++
				t.Skipped = &message{Message: printable(c.Skipped)}
			}
			one.Cases = append(one.Cases, t)
		}
		one.Time = seconds(sum)
		all.Tests, all.Failures, all.Skipped = all.Tests+one.Tests, all.Failures+one.Failures, all.Skipped+one.Skipped
		all.Suites = append(all.Suites, one)
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
