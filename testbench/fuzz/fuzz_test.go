package fuzz_test

import (
	"errors"
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

// The tests of all packages are found and run: one survives, the other fails and says with which input.
func TestRun(t *testing.T) {
	inModule(t, map[string]string{
		"good/good_test.go": `package good
import "testing"
func FuzzGood(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }
func TestOther(t *testing.T) { t.Fatal("not to be run") }
`, "bad/bad_test.go": `package bad
import "testing"
func FuzzBad(f *testing.F) { f.Add(uint8(1)); f.Fuzz(func(t *testing.T, b uint8) { if b == 77 { t.Fatal("is 77") } }) }
func FuzzFine(f *testing.F) { f.Fuzz(func(t *testing.T, b uint8) {}) }
`, "none/none_test.go": "package none\n"})
	tests := check.Must(fuzz.List(t.Context(), "./..."))(t)
	check.Equal(t, "tests", tests, []fuzz.Test{{Package: "example/bad", Name: "FuzzBad"}, {Package: "example/bad", Name: "FuzzFine"}, {Package: "example/good", Name: "FuzzGood"}})
	results := check.Must(campaign.Run(t.Context(), fuzz.Jobs(tests, 5*time.Second), campaign.Options{Jobs: 3}, nil))(t)
	for i, r := range results {
		switch {
		case i > 0 && (r.Err != nil || r.Value.Inputs == 0):
			t.Errorf("%v: %d inputs, %v", r.Value.Test, r.Value.Inputs, r.Err)
		case i == 0 && (r.Err == nil || !strings.Contains(r.Value.Failure, "is 77") || !strings.Contains(r.Value.Failure, "go test -run=FuzzBad/")):
			t.Errorf("%v: %v", r.Value.Test, r.Err)
		}
	}
}

// Code that does not build is an error of go, not of a test.
func TestBroken(t *testing.T) {
	inModule(t, map[string]string{"broken_test.go": "package broken\nfunc {\n"})
	if _, err := fuzz.List(t.Context(), "./..."); !errors.Is(err, fuzz.ErrGo) || !strings.Contains(err.Error(), "broken_test.go:2") {
		t.Error(err)
	}
}
