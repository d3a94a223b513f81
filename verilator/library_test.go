package verilator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// filesMapped returns the files under a folder of which this process has code in memory.
func filesMapped(t *testing.T, dir string) map[string]bool {
	t.Helper()
	maps := check.Must(os.ReadFile("/proc/self/maps"))(t)
	files := map[string]bool{}
	for line := range strings.Lines(string(maps)) {
		if _, path, found := strings.Cut(line, dir); found && strings.Contains(line, " r-xp ") {
			files[strings.TrimSpace(path)] = true
		}
	}
	return files
}

func TestFreshHasPagesOfItsOwn(t *testing.T) {
	shareRuntime(t)
	objects := filepath.Join(os.Getenv("LMMC_CACHE"), "object")
	d := echo
	for _, c := range []struct {
		fresh bool
		want  int
	}{{false, 1}, {true, 2}, {true, 3}, {false, 3}} {
		d.Fresh = c.fresh
		build(t, d)
		check.Equal(t, fmt.Sprintf("fresh %v: files with code in memory", c.fresh), len(filesMapped(t, objects)), c.want)
	}
	left := check.Must(filepath.Glob(filepath.Join(objects, "*", "*")))(t)
	if len(left) != 2 { // model.so and built.json
		t.Errorf("left in the cache: %v", left)
	}
}
