package testbench_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// below finds the instances and blocks of a path: later Verilators show arrays as scopes too.
var below = regexp.MustCompile(`^(?:(?:u|g)_\w+(?:\[\d\])?(?:\.(?:u|g)_\w+)*)?`)

// TestWaveScopes: a wave shows the scopes chosen and no others.
func TestWaveScopes(t *testing.T) {
	t.Setenv("LMMC_WAVES", "")
	known := verilator.Design{Top: "deep", Sources: []string{"../verilator/testdata/deep.v"}, Public: []string{"u_end.last"}}
	unknown := known
	unknown.Public = nil
	for _, c := range []struct {
		design verilator.Design
		scopes []string
		has    []string // scopes that have signals, below the top
		fails  string
	}{
		{unknown, []string{"u_first", "g_row[1]:1"}, []string{"g_row[1]", "u_first"}, ""},
		{unknown, []string{":1"}, []string{""}, ""},
		{known, []string{"**.u_*"}, []string{"g_row[0].u_leaf", "g_row[1].u_leaf", "u_end", "u_first"}, ""},
		{known, []string{"g_row[?]:2"}, []string{"g_row[0]", "g_row[0].u_leaf", "g_row[1]", "g_row[1].u_leaf"}, ""},
		{known, []string{"u_frist"}, nil, "did you mean u_first?"},
		{unknown, []string{"u_frist"}, nil, "has no such scopes"},
		{unknown, []string{"u_*"}, nil, "a pattern needs the hierarchy"},
		{unknown, []string{"u_first:0"}, nil, "levels from 1"},
	} {
		b, err := testbench.Open(t.Context(), c.design, testbench.Config{WaveDir: t.TempDir(), WaveScopes: c.scopes, Wave: testbench.WaveAlways})
		if err == nil {
			check.Fatal(t, b.Step(20))
			err = b.Close()
		}
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: %v, want %q", c.scopes, err, c.fails)
			}
			continue
		}
		check.Fatal(t, err)
		var has []string
		for name := range strings.Lines(fstTexts(t, b.Waves()[0], "names")) {
			name = strings.TrimSpace(name)
			_, path, _ := strings.Cut(name[:strings.LastIndex(name, ".")]+".", "deep.deep.") // instance and module
			has = append(has, below.FindString(path))
		}
		slices.Sort(has)
		check.Equal(t, strings.Join(c.scopes, " "), strings.Join(slices.Compact(has), " "), strings.Join(c.has, " "))
	}
}
