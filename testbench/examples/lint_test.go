// Package examples checks the Verilog of the examples below it with all of Verilator's warnings.
package examples

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

func TestLint(t *testing.T) {
	files := check.Must(filepath.Glob("*/*.v"))(t)
	if len(files) == 0 {
		t.Fatal("no examples found")
	}
	for _, file := range files {
		top := strings.TrimSuffix(filepath.Base(file), ".v")
		for _, d := range check.Must(verilator.Lint(t.Context(), verilator.Design{Top: top, Sources: []string{file}}))(t) {
			t.Errorf("%v", d)
		}
	}
}
