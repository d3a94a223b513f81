package junit

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// FromGoTest reads what "go test -json" prints: a suite for each package, a case for each test, those within others too, as "TestX/case". It returns how long
// all took, by the first and the last event. A package that fails outside its tests, as one that does not compile, or that does not end has a case of the name "package".
func FromGoTest(r io.Reader) (suites []Suite, elapsed time.Duration, err error) {
	type key struct{ pkg, test string }
	type running struct {
		output strings.Builder
		began  bool // a package
		action string
		took   time.Duration
	}
	tests := map[key]*running{}
	var order []key
	var first, last time.Time
	d := json.NewDecoder(r)
	for {
		var e struct {
			Time                                      time.Time
			Action, Package, ImportPath, Test, Output string
			Elapsed                                   float64
		}
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return nil, 0, fmt.Errorf("junit: want the output of go test -json: %w", err)
		}
		if !e.Time.IsZero() {
			if first.IsZero() {
				first = e.Time
			}
			last = e.Time
		}
		if e.Package == "" { // of the build
			e.Package, _, _ = strings.Cut(e.ImportPath, " ")
		}
		k := key{e.Package, e.Test}
		t := tests[k]
		if t == nil {
			t = new(running)
			tests[k] = t
			order = append(order, k)
		}
		switch e.Action {
		case "output", "build-output":
			t.output.WriteString(e.Output)
		case "start":
			t.began = true
		case "pass", "fail", "skip":
			t.action, t.took = e.Action, time.Duration(e.Elapsed*float64(time.Second))
		}
	}
	if len(order) == 0 {
		return nil, 0, fmt.Errorf("junit: no tests: want the output of go test -json")
	}
	for _, k := range order {
		i := slices.IndexFunc(suites, func(s Suite) bool { return s.Name == k.pkg })
		if i < 0 {
			i = len(suites)
			suites = append(suites, Suite{Name: k.pkg})
		}
		t := tests[k]
		c := Case{Class: k.pkg, Name: k.test, Elapsed: t.took, Output: t.output.String()}
		switch {
		case k.test == "" && t.began && t.action == "":
			c.Name, c.Failure = "package", "did not end: go test ended before"
		case k.test == "" && (t.action != "fail" || slices.ContainsFunc(order, func(o key) bool {
			return o.pkg == k.pkg && o.test != "" && tests[o].action != "pass" && tests[o].action != "skip"
		})):
			continue // the package failed by its tests, or not at all
		case k.test == "":
			c.Name, c.Failure = "package", cause(c.Output, "the package failed")
		case t.action == "skip":
			c.Skipped = cause(c.Output, "skipped")
		case t.action == "fail":
			c.Failure = cause(c.Output, "failed")
		case t.action != "pass":
			c.Failure = cause(c.Output, "did not end: the test program stopped")
		}
		suites[i].Cases = append(suites[i].Cases, c)
	}
	return suites, last.Sub(first), nil
}

// cause is the output without what the test program says of its progress, or else the text given.
func cause(output, otherwise string) string {
	var kept []string
	for line := range strings.Lines(output) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") {
			kept = append(kept, strings.TrimRight(line, "\n"))
		}
	}
	if len(kept) == 0 {
		return otherwise
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
