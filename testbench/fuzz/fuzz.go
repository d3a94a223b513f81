// Package fuzz finds a module's fuzz tests and runs each for a while with go test, as jobs of a campaign.
package fuzz

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
)

// Test is a function FuzzX of a package.
type Test struct {
	Package string `json:"package"` // import path
	Name    string `json:"name"`
}

func (t Test) String() string { return t.Package + " " + t.Name }

// Result is what a run of a test found.
type Result struct {
	Test
	Inputs  int    `json:"inputs"` // that were tried
	New     int    `json:"new"`    // of these, those that reach code that no kept input reaches
	Failure string `json:"failure,omitempty"`
}

// ErrGo is wrapped by an error about go itself, or about code that does not build.
var ErrGo = errors.New("fuzz")

// List returns the fuzz tests of the packages that a pattern of go list stands for, in their order there. The present folder lies in the module.
func List(ctx context.Context, pattern string) ([]Test, error) {
	out, err := goCommand(ctx, "test", "-list", "^Fuzz", pattern)
	if err != nil {
		return nil, err
	}
	var all []Test
	var waiting []string // names come before their package
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && strings.HasPrefix(line, "Fuzz"):
			waiting = append(waiting, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range waiting {
				all = append(all, Test{fields[1], name})
			}
			waiting = nil
		}
	}
	return all, nil
}

// Jobs returns a job for each test, which fuzzes it with one process for a time. Nothing of it is kept but what go keeps: inputs that reach new
// code in its cache, one that fails in testdata/fuzz beside the test.
func Jobs(tests []Test, each time.Duration) []campaign.Job[Result] {
	jobs := make([]campaign.Job[Result], len(tests))
	for i, test := range tests {
		jobs[i] = campaign.Job[Result]{Name: test.String(), Run: func(ctx context.Context) (Result, error) { return run(ctx, test, each) }}
	}
	return jobs
}

var (
	progressLine = regexp.MustCompile(`^fuzz: elapsed: .* execs: (\d+) .*new interesting: (\d+)`)
	// What go before 1.27 says on a busy machine when the time is over and nothing has failed: go.dev/issue/75804.
	timeIsOver = regexp.MustCompile(`^\S+ \(\S+\)\n\s+context deadline exceeded\n\s*FAIL\b`)
)

func run(ctx context.Context, test Test, each time.Duration) (Result, error) {
	result := Result{Test: test}
	out, err := goCommand(ctx, "test", "-run", "^$", "-fuzz", "^"+test.Name+"$", "-fuzztime", each.String(), "-parallel", "1", test.Package)
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		if f := progressLine.FindStringSubmatch(scan.Text()); f != nil {
			result.Inputs, _ = strconv.Atoi(f[1])
			result.New, _ = strconv.Atoi(f[2])
		}
	}
	switch _, failure, failed := strings.Cut(string(out), "--- FAIL: "); {
	case err == nil || !failed:
		return result, err
	case timeIsOver.MatchString(failure):
		return result, nil
	default:
		result.Failure = "--- FAIL: " + strings.TrimSpace(failure)
		return result, errors.New(result.Failure)
	}
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%w: go %s: %v\n%s", ErrGo, strings.Join(args, " "), err, out)
	}
	return out, err
}
