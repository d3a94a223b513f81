// Package counter is the first test of doc/testbench.md.
package counter

import (
	"os"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func TestCounter(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "counter", Sources: []string{"counter.v"}}, testbench.Config{})
	var p struct { // fields point into the model: setting one is a store
		Enable *bool   `port:"enable"`
		Count  *uint32 `port:"count"`
	}
	b.Bind(&p)
	b.Reset("rst", 2)
	b.Go("count", func(task *testbench.Task) {
		*p.Enable = true
		task.Cycles(5)
		if *p.Count != 5 {
			task.Fatalf("count is %d, want 5", *p.Count)
		}
	})
	b.Run(100) // cycles at most
}

// TestDocument: the program that doc/testbench.md shows first is the test above.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("../../../doc/testbench.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(document), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	here, err := os.ReadFile("counter_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !found || !strings.Contains(string(here), "\n"+shown+"\n") {
		t.Errorf("doc/testbench.md shows another program than TestCounter:\n%s", shown)
	}
}
