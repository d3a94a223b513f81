package prove_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/prove"
)

// A counterexample names the assertion whatever its file is called.
func TestFilesOfAnyName(t *testing.T) {
	for _, name := range []string{"counter.sv", "counter.svh"} {
		err := prove.Check(t.Context(), t.TempDir(), prove.Proof{Dir: source(t, name, counter), Files: []string{name}, Top: "counter", Depth: 10,
			Params: map[string]string{"STEP": "3"}})
		refuted, is := errors.AsType[*prove.Refutation](err)
		if !is {
			t.Fatalf("%s: got %v, want a refutation", name, err)
		}
		check.Equal(t, name, refuted.Where, []string{name + ":4"})
	}
}
