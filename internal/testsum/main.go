// Command testsum reads the output of `go test -json` and prints it for people: a line a package, what failing tests
// said, why tests were skipped, and at the end how many tests passed and failed. It exits with 1 if any failed.
//
// A test with subtests is not counted itself, unless it fails and none of them does. A package that fails without a
// failing test (it does not compile, it panics, it exits) counts as one failure, and so does a test without an end.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	s := newSummary(os.Stdout)
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	if !s.finish() {
		os.Exit(1)
	}
}

// event is a line of `go test -json`; see `go doc cmd/test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

type test struct {
	name   string
	state  string // "" until it has ended
	parent bool   // has subtests
	output []string
}

type pkg struct {
	tests  map[string]*test
	order  []*test
	output []string // not of a test
	ended  bool
}

type summary struct {
	out                     io.Writer
	packages                map[string]*pkg
	builds                  map[string][]string // what compilers said, by the package that they compiled
	passed, failed, skipped int
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, packages: map[string]*pkg{}, builds: map[string][]string{}}
}

func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				s.handle(e)
			} else {
				fmt.Fprintf(s.out, "%s\n", strings.TrimRight(string(line), "\n")) // not from go test
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) handle(e event) {
	if e.Action == "build-output" || e.Action == "build-fail" {
		s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
		return
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &pkg{tests: map[string]*test{}}
		s.packages[e.Package] = p
	}
	if e.Test == "" {
		switch e.Action {
		case "output":
			p.output = append(p.output, e.Output)
		case "pass", "fail", "skip":
			s.end(e.Package, p, e)
		}
		return
	}
	t := p.tests[e.Test]
	if t == nil {
		t = &test{name: e.Test}
		p.tests[e.Test] = t
		p.order = append(p.order, t)
		if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
			for name := e.Test[:i]; ; name = name[:strings.LastIndexByte(name, '/')] {
				if parent := p.tests[name]; parent != nil { // a name may itself contain a slash
					parent.parent = true
				}
				if !strings.Contains(name, "/") {
					break
				}
			}
		}
	}
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "pass", "fail", "skip":
		t.state = e.Action
	}
}

// end prints a package and adds its tests to the counts.
func (s *summary) end(name string, p *pkg, e event) {
	p.ended = true
	failed := 0
	fail := func(t *test, how string) {
		failed++
		fmt.Fprintf(s.out, "--- %s: %s %s\n%s", how, name, t.name, strings.Join(t.output, ""))
	}
	for _, t := range p.order {
		below := func(o *test) bool {
			return o.state != "pass" && o.state != "skip" && strings.HasPrefix(o.name, t.name+"/")
		}
		switch {
		case t.parent && (t.state == "pass" || t.state == "skip" || slices.ContainsFunc(p.order, below)):
			if t.state != "pass" && t.state != "skip" {
				fmt.Fprint(s.out, strings.Join(t.output, ""))
			}
		case t.state == "pass":
			s.passed++
		case t.state == "skip":
			s.skipped++
			fmt.Fprintf(s.out, "--- SKIP: %s %s\n%s", name, t.name, strings.Join(reason(t.output), ""))
		case t.state == "fail":
			fail(t, "FAIL")
		default:
			fail(t, "NOT ENDED")
		}
	}
	if e.Action == "fail" {
		fmt.Fprint(s.out, strings.Join(s.builds[e.FailedBuild], ""))
		if failed == 0 {
			failed = 1
		}
		fmt.Fprint(s.out, strings.Join(p.output, ""))
	} else if len(p.order) > 0 {
		fmt.Fprintf(s.out, "ok\t%s\t%.1fs\n", name, e.Elapsed)
	}
	s.failed += failed
}

// reason is a skipped test's output without the frame around it.
func reason(output []string) []string {
	return slices.DeleteFunc(slices.Clone(output), func(line string) bool {
		line = strings.TrimLeft(line, " ")
		return strings.HasPrefix(line, "===") || strings.HasPrefix(line, "--- ")
	})
}

// finish prints the counts and reports whether all is well.
func (s *summary) finish() bool {
	var open []string
	for name, p := range s.packages {
		if !p.ended {
			open = append(open, name)
		}
	}
	slices.Sort(open)
	for _, name := range open {
		fmt.Fprintf(s.out, "FAIL\t%s\tno result: go test ended early\n", name)
		s.end(name, s.packages[name], event{Action: "fail"})
	}
	if s.passed+s.failed == 0 {
		fmt.Fprintln(s.out, "FAIL\tno tests were run")
		s.failed++
	}
	fmt.Fprintf(s.out, "%d passed, %d failed", s.passed, s.failed)
	if s.skipped > 0 {
		fmt.Fprintf(s.out, ", %d skipped", s.skipped)
	}
	fmt.Fprintln(s.out)
	return s.failed == 0
}
