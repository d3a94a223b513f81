package fuzz_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/fuzz"
)

// inModule makes a module with these test files and enters it.
func inModule(t *testing.T, files map[string]string) {
	dir := t.TempDir()
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example\n\ngo 1.24\n"), 0o666))
	for name, text := range files {
		check.Fatal(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777))
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	t.Chdir(dir)
}

// The tests of all packages are found, and no others.
func TestList(t *testing.T) {
	inModule(t, map[string]string{
		"good/good_test.go": `package good
import "testing"
func FuzzGood(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }
func TestOther(t *testing.T) { t.Fatal("not to be run") }
`, "bad/bad_test.go": `package bad
import "testing"
func FuzzBad(f *testing.F) { f.Fuzz(func(t *testing.T, b uint8) {}) }
func FuzzFine(f *testing.F) { f.Fuzz(func(t *testing.T, b uint8) {}) }
`, "none/none_test.go": "package none\n"})
	tests := check.Must(fuzz.List(t.Context(), "./..."))(t)
	check.Equal(t, "tests", tests, []fuzz.Test{{Package: "example/bad", Name: "FuzzBad"}, {Package: "example/bad", Name: "FuzzFine"}, {Package: "example/good", Name: "FuzzGood"}})
}

// said is what go 1.26 says of fuzz tests, and whether it fails.
var said = map[string]string{
	"FuzzFine": "fuzz: elapsed: 3s, execs: 90210 (30070/sec), new interesting: 1 (total: 2)\n" +
		"fuzz: elapsed: 5s, execs: 125007 (17398/sec), new interesting: 3 (total: 4)\nPASS\nok  \texample/bad\t5.046s\n",
	"FuzzLate": "fuzz: elapsed: 5s, execs: 125007 (17398/sec), new interesting: 0 (total: 1)\n" +
		"--- FAIL: FuzzLate (5.04s)\n    context deadline exceeded\nFAIL\nexit status 1\nFAIL\texample/bad\t5.046s\n",
	"FuzzBad": "fuzz: elapsed: 0s, execs: 77 (2530/sec), new interesting: 0 (total: 1)\n--- FAIL: FuzzBad (0.03s)\n    --- FAIL: FuzzBad (0.00s)\n" +
		"        bad_test.go:3: is 77\n    \n    Failing input written to testdata/fuzz/FuzzBad/8f1e3c\n    To re-run:\n" +
		"    go test -run=FuzzBad/8f1e3c\nFAIL\nexit status 1\nFAIL\texample/bad\t0.036s\n",
	"FuzzBuild": "# example/bad\n./bad_test.go:3:1: syntax error\nFAIL\texample/bad [build failed]\n",
}

// One test passes, one is at its end when the time is over, one fails and says with which input, and one does not build. A stand-in for go says
// so, since go compiles the standard library anew to fuzz.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in\n"
	for name, text := range said {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		script += fmt.Sprintf("*^%s\\$*) cat %s/%s; ! grep -q FAIL %[2]s/%[1]s;;\n", name, dir, name)
	}
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "go"), []byte(script+"esac\n"), 0o777))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var tests []fuzz.Test
	for _, name := range []string{"FuzzFine", "FuzzLate", "FuzzBad", "FuzzBuild"} {
		tests = append(tests, fuzz.Test{Package: "example/bad", Name: name})
	}
	r := check.Must(campaign.Run(t.Context(), fuzz.Jobs(tests, 5*time.Second), campaign.Options{Jobs: 2}, nil))(t)
	check.Equal(t, "passed", r[0].Value, fuzz.Result{Test: tests[0], Inputs: 125007, New: 3})
	check.Equal(t, "passed when the time was over", r[1].Value, fuzz.Result{Test: tests[1], Inputs: 125007})
	check.Fatal(t, errors.Join(r[0].Err, r[1].Err))
	if f := r[2].Value.Failure; r[2].Err == nil || !strings.Contains(f, "is 77") || !strings.Contains(f, "go test -run=FuzzBad/8f1e3c") {
		t.Errorf("%q, %v", f, r[2].Err)
	}
	check.Fails(t, "what does not build", r[3].Err, fuzz.ErrGo, "bad_test.go:3:1")
}

// Code that does not build is an error of go, not of a test.
func TestBroken(t *testing.T) {
	inModule(t, map[string]string{"broken_test.go": "package broken\nfunc {\n"})
	check.Fails(t, "code that does not build", check.Err(fuzz.List(t.Context(), "./...")), fuzz.ErrGo, "broken_test.go:2")
}
