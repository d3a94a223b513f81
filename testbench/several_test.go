package testbench_test

import (
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

// Two benches of a test have names of their own, and each leaves its wave.
func TestBenchesOfATestLeaveAWaveEach(t *testing.T) {
	t.Setenv("LMMC_WAVES", "") // make test turns them off
	c := testbench.Config{WaveDir: t.TempDir(), Seed: 5}
	var waves []string
	for range 2 {
		b := testbench.New(t, adder, c)
		check.Fatal(t, b.Step(3))
		waves = append(waves, filepath.Base(check.Must(b.DumpWaves())(t)[0]))
	}
	check.Equal(t, "waves", waves, []string{"TestBenchesOfATestLeaveAWaveEach-5.fst", "TestBenchesOfATestLeaveAWaveEach#2-5.fst"})
}
