package verilator_test

import (
	"os"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// TestModelsStartNoThreads: thousands of models can be in one process.
func TestModelsStartNoThreads(t *testing.T) {
	lib := build(t, counter)
	threads := func() int { return len(check.Must(os.ReadDir("/proc/self/task"))(t)) }
	before := threads()
	for range 100 {
		start(t, lib, verilator.Config{})
	}
	if now := threads(); now > before+20 { // Go may have started some
		t.Errorf("100 models have %d threads, %d without", now, before)
	}
}
