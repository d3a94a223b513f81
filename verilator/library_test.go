package verilator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
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

// What a crash or a full disk has left in the cache is told of, and what to do about it.
func TestADamagedCacheSaysWhatToDo(t *testing.T) {
	shareRuntime(t)
	build(t, echo)
	dirs := check.Must(filepath.Glob(filepath.Join(os.Getenv("LMMC_CACHE"), "object", "*")))(t)
	check.Equal(t, "objects", len(dirs), 1)
	for _, c := range []struct{ file, text string }{{"built.json", `{"Ports": [`}, {"built.json", ""}, {"model.so", "ELF"}} {
		path := filepath.Join(dirs[0], c.file)
		check.Fatal(t, os.Remove(path)) // the library that is loaded stays
		write(t, path, c.text)
		d := echo
		d.Fresh = true
		check.Fails(t, fmt.Sprintf("%s %q", c.file, c.text), check.Err(verilator.Build(t.Context(), d)), nil, "delete folder "+dirs[0]+", and it is built again")
	}
	check.Fatal(t, os.RemoveAll(dirs[0]))
	build(t, echo)
}
