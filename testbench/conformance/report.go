package conformance

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/testbench/junit"
	"github.com/stafflink/lmmc/testbench/results"
)

// Verdict is what came out of a case.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "FAIL"
	Skip Verdict = "skipped" // it cannot be done on this target
)

// Report is what Execute found.
type Report struct {
	Stamp    results.Stamp    `json:"stamp"` // for the caller to fill
	Target   string           `json:"target"`
	Peer     string           `json:"peer,omitempty"` // the other node, of two that other processes serve
	Identity hostdrv.Identity `json:"identity"`
	Links    []Link           `json:"links"`
	Seed     uint64           `json:"seed"`
	Effort   int              `json:"effort"`
	Results  []Result         `json:"results"`
	Seconds  float64          `json:"seconds"` // in wall-clock time

	lost    error // why it is not known where the cables go, or nil
	several bool  // there can be several such targets at a time: each is a simulation
}

// Link is a link of the target, and where its cable goes.
type Link struct {
	Link int `json:"link"`
	// Peer is the link of the same NI at the far end, 0 if there is none.
	Peer int `json:"peer"`
	// Up says that there is something at the far end.
	Up bool `json:"up"`
	// Node is the node at the far end of a virtual link, over so many Hops: links of the network.
	Node string `json:"node,omitempty"`
	Hops int    `json:"hops,omitempty"`
}

// String says where the cable goes.
func (l Link) String() string {
	switch {
	case l.Node != "" && l.Hops == 0:
		return fmt.Sprintf("link %d leads to node %s", l.Link, l.Node)
	case l.Node != "":
		return fmt.Sprintf("link %d is a virtual link to node %s, %d hops away", l.Link, l.Node, l.Hops)
	case l.Peer == l.Link:
		return fmt.Sprintf("link %d reaches itself", l.Link)
	case l.Peer > 0:
		return fmt.Sprintf("link %d reaches link %d", l.Link, l.Peer)
	case l.Up:
		return fmt.Sprintf("link %d reaches another network interface", l.Link)
	}
	return fmt.Sprintf("link %d reaches nothing", l.Link)
}

// Result is what came out of a case.
type Result struct {
	Name        string        `json:"name"`
	Requirement string        `json:"requirement"`
	Verdict     Verdict       `json:"verdict"`
	Reason      string        `json:"reason"` // of a failure what is wrong, of a skipped case why
	Measured    []Measurement `json:"measured"`
	Seconds     float64       `json:"seconds"` // in wall-clock time
	Again       string        `json:"again"`   // the command that repeats it
	// Cached says that the case passed before, and that nothing it follows from has changed.
	Cached bool `json:"cached"`
	// Transcript is the file of a recording of what went over the cable, "" if none was kept.
	Transcript string `json:"transcript"`
}

// Measurement is a number that a case reports.
type Measurement struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // "" for a fraction
}

// String writes the number with its name.
func (m Measurement) String() string {
	if m.Unit == "" {
		return fmt.Sprintf("%s %.1f %%", m.Name, 100*m.Value)
	}
	return fmt.Sprintf("%s %.4g %s", m.Name, m.Value, m.Unit)
}

func (r *Report) result(c Case, b *bench, err error, elapsed time.Duration) Result {
	out := Result{Name: c.Name, Requirement: c.Requirement, Verdict: Pass, Measured: []Measurement{}, Seconds: elapsed.Seconds()}
	targets := "'" + r.Target + "'"
	if r.Peer != "" {
		targets += " '" + r.Peer + "'"
	}
	out.Again = fmt.Sprintf("go run ./cmd/lmmc conform %s --run %s --seed %d", targets, c.Name, r.Seed)
	if r.Effort > 1 {
		out.Again += fmt.Sprintf(" --effort %d", r.Effort)
	}
	var why skipped
	switch {
	case err == nil:
		out.Measured = append(out.Measured, b.measured...)
	case errors.As(err, &why):
		out.Verdict, out.Reason = Skip, why.Error()
	default:
		out.Verdict, out.Reason, out.Transcript = Fail, err.Error(), b.transcript
	}
	return out
}

// Count is how many cases have a verdict.
func (r *Report) Count(v Verdict) (n int) {
	for _, x := range r.Results {
		if x.Verdict == v {
			n++
		}
	}
	return n
}

// WriteJUnit writes the report as JUnit XML: a suite a group of cases.
func (r *Report) WriteJUnit(w io.Writer) error {
	var suites []junit.Suite
	for _, x := range r.Results {
		group, name, _ := strings.Cut(x.Name, "/")
		if len(suites) == 0 || suites[len(suites)-1].Name != group {
			suites = append(suites, junit.Suite{Name: group})
		}
		c := junit.Case{Class: "lmmc.conform." + group, Name: name, Elapsed: time.Duration(x.Seconds * float64(time.Second)), Output: x.Requirement}
		switch x.Verdict {
		case Fail:
			c.Failure = x.Reason + "\nrequirement: " + x.Requirement + "\nagain: " + x.Again
		case Skip:
			c.Skipped = x.Reason
		}
		for _, m := range x.Measured {
			c.Output += "\n" + m.String()
		}
		s := &suites[len(suites)-1]
		s.Cases = append(s.Cases, c)
	}
	return junit.Write(w, time.Duration(r.Seconds*float64(time.Second)), suites...)
}
