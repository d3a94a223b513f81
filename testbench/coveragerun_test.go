package testbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func TestCoverageOfRunsAddsUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	_, _, err := testbench.MergeCoverage(dir)
	check.Fails(t, "no runs", err, nil, "no runs in "+dir, "LMMC_COVERAGE="+dir+" go test")
	t.Setenv("LMMC_COVERAGE", dir)
	for i, name := range []string{"small", "large", "large again"} {
		t.Run(name, func(t *testing.T) {
			b := testbench.New(t, verilator.Design{Top: "queue", Sources: []string{"testdata/queue.v"}}, testbench.Config{})
			var cases testbench.Coverage
			b.Cover(&cases)
			size := cases.Point("size", testbench.Value("small", 0), testbench.Range("large", 1, 9), testbench.Value("huge", 10)).Without("too slow", "huge")
			size.Sample(int64(i))
			b.Model().Poke("s_valid", 0)
			b.Reset("rst", 3)
			b.Model().Poke("s_valid", uint64(i))
			b.Step(20)
		})
	}
	sum, runs, err := testbench.MergeCoverage(dir)
	check.Fatal(t, err)
	check.Equal(t, "runs", runs, 3)
	check.Equal(t, "cases", sum.Functional, []testbench.CoveragePoint{{Name: "size",
		Bins: []testbench.CoverageBin{{Name: "small", Hits: 1}, {Name: "large", Hits: 2}}, Excluded: []testbench.ExcludedBin{{Name: "huge", Reason: "too slow"}}}})
	here := check.Must(filepath.Abs("testdata/queue.v"))(t)
	toggles, lines := map[string]uint64{}, uint64(0)
	for _, p := range sum.Points {
		check.Equal(t, "file", p.File, here)
		if p.Kind == "toggle" {
			toggles[p.What] += p.Count
		} else if p.Line == 32 { // the block of the clock
			lines += p.Count
		}
	}
	check.Equal(t, "edges of the clock after reset", toggles["clk"], 3*2*20)
	check.Equal(t, "toggles of s_valid", toggles["s_valid"] > 0, true)
	if lines < 3*20 {
		t.Errorf("line 32 ran %d times", lines)
	}
	var text strings.Builder
	check.Fatal(t, sum.Points.WriteLCOV(&text))
	check.Contains(t, "LCOV", text.String(), "SF:"+here+"\n", "DA:32,", "end_of_record\n")

	check.Fatal(t, os.WriteFile(filepath.Join(dir, "bad.json"), []byte("{"), 0o666))
	_, _, err = testbench.MergeCoverage(dir)
	check.Fails(t, "a bad file", err, nil, "bad.json")
}
