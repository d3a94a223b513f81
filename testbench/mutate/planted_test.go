package mutate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/mutate"
)

// pretend makes this program lmmc: scenario adds and the proof find what is in their modules, scenario never does not.
func pretend(args []string) {
	bad := os.Getenv(mutate.MutantVar) != "0" && slices.Contains(args, "^adds$")
	if i := slices.Index(args, "--rtl"); i >= 0 {
		text, err := os.ReadFile(filepath.Join(args[i+1], "part/adder.v"))
		bad = err != nil || strings.Contains(string(text), "sum <= (a + b + 1'b1)")
	}
	if bad {
		os.Exit(1)
	}
	os.Exit(0)
}

func plantedOptions(t *testing.T) mutate.PlantedOptions {
	o := options(t)
	return mutate.PlantedOptions{Root: o.Root, Dir: "testdata/planted", Rewriter: o.Rewriter, Lmmc: o.Rewriter[0]}
}

// Each check finds what it can; what is found is kept, the rest is tried again.
func TestRunPlanted(t *testing.T) {
	o := plantedOptions(t)
	o.Store = t.TempDir()
	report := check.Must(mutate.RunPlanted(t.Context(), o))(t)
	var found []string
	for _, p := range report.Bugs {
		found = append(found, fmt.Sprintf("%s: %s; not %s", p.Name, strings.Join(p.FoundBy, ", "), strings.Join(p.Missed, ", ")))
	}
	const adder, twice = "test testdata/lib/part TestAdder", "test testdata/lib/whole TestTwice"
	check.Equal(t, "found", strings.Join(found, "\n"), strings.Join([]string{
		"sum-off: " + adder + ", " + twice + ", sim adds 2, proof adder; not ",
		"sum-of-one: " + adder + "; not ",
		"even-odd: ; not " + adder,
		"age-stands: " + adder + "; not sim never",
	}, "\n"))
	if report.Tried != 4 || report.Found != 3 || report.FoundSim != 1 || report.Checks != 8 || report.Missed != 2 || report.Cached != 0 {
		t.Errorf("%+v", report)
	}
	again := check.Must(mutate.RunPlanted(t.Context(), o))(t)
	if again.Cached != 6 || again.Found != 3 || again.Missed != 2 {
		t.Errorf("again: %+v", again)
	}

	o.Modules, o.Scenarios = []string{"adder/sum-of-one", "adder/age-stands"}, []string{"adds", "never"}
	tried := check.Must(mutate.RunPlanted(t.Context(), o))(t)
	if tried.Tried != 1 || tried.FoundSim != 1 || tried.Missed != 0 || tried.Checks != 1 {
		t.Errorf("with scenarios: %+v", tried)
	}
	o.Modules = []string{"twice"}
	check.Fails(t, "no bug in the modules", check.Err(mutate.RunPlanted(t.Context(), o)), mutate.ErrOptions, "no planted bug is in twice")
	o.Modules = []string{"adder/sum-of-one", "adder/age-stand"} // the other one would be left out, and nobody would know
	check.Fails(t, "one that is misspelt", check.Err(mutate.RunPlanted(t.Context(), o)), mutate.ErrOptions, "adder/age-stand (did you mean adder/age-stands?)")
}

// TestPlantedProofAgain: what a proof finds follows from the proof's own sources, and from the provers.
func TestPlantedProofAgain(t *testing.T) {
	o := plantedOptions(t)
	root := t.TempDir()
	check.Fatal(t, os.CopyFS(root, os.DirFS(o.Root)))
	o.Root, o.Dir, o.Store = root, t.TempDir(), t.TempDir()
	check.Fatal(t, os.WriteFile(filepath.Join(o.Dir, "adder.txt"), []byte("a (stale): wrong\n  old   sum <= «a + b»;\n  new   a + b + 1'b1\n  proof adder\n"), 0o666))
	cached := func() int {
		t.Helper()
		report := check.Must(mutate.RunPlanted(t.Context(), o))(t)
		check.Equal(t, "found", report.Found, 1)
		return report.Cached
	}
	check.Equal(t, "cached at first", cached(), 0)
	check.Equal(t, "cached", cached(), 1)
	check.Fatal(t, os.WriteFile(filepath.Join(root, "part", "adder.formal.v"), []byte("// other properties\n"), 0o666))
	check.Equal(t, "cached with another proof", cached(), 0)
	bin := t.TempDir()
	check.Fatal(t, os.WriteFile(filepath.Join(bin, "z3"), []byte("#!/bin/sh\necho Z3 version 99\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	check.Equal(t, "cached with another prover", cached(), 0)
}

func TestPlantedMistakes(t *testing.T) {
	const good = "a (stale): wrong\n  old   sum <= «a + b»;\n  new   a\n  test  testdata/lib/part TestAdder\n"
	for name, text := range map[string]string{
		"no head":       "  old   a\n",
		"no kind":       "a: wrong\n",
		"twice":         good + good,
		"no new text":   strings.Replace(good, "  new   a\n", "", 1),
		"no old text":   strings.Replace(good, "  old   sum <= «a + b»;\n", "", 1),
		"no check":      strings.Replace(good, "  test  testdata/lib/part TestAdder\n", "", 1),
		"unknown line":  good + "  bench x\n",
		"not there":     strings.Replace(good, "a + b", "a - b", 1),
		"several there": strings.Replace(good, "sum <= «a + b»;", "«sum»", 1),
		"in the ports":  strings.Replace(good, "sum <= «a + b»;", "reg              «odd»,", 1),
		"overlapping":   good + "b (stale): wrong\n  old   «sum <= a» + b\n  new   sum <= b\n  test  testdata/lib/part TestAdder\n",
		"no module":     "",
	} {
		t.Run(name, func(t *testing.T) {
			o := plantedOptions(t)
			o.Dir = t.TempDir()
			file := "adder.txt"
			if text == "" {
				file, text = "subtractor.txt", good
			}
			check.Fatal(t, os.WriteFile(filepath.Join(o.Dir, file), []byte(text), 0o666))
			bugs, err := mutate.ReadPlanted(o.Dir)
			if err == nil {
				source := check.Must(os.ReadFile("testdata/lib/part/adder.v"))(t)
				_, err = mutate.Select(string(source), "adder", bugs)
			}
			if err == nil {
				_, err = mutate.RunPlanted(t.Context(), o)
			}
			check.Fails(t, name, err, mutate.ErrPlanted)
		})
	}
}
