package testbench_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

func TestAdder(t *testing.T) {
	adder := verilator.Design{Top: "adder", Sources: []string{"testdata/adder.v"}}
	b := testbench.New(t, adder, testbench.Config{})
	var p struct {
		A   *uint32 `port:"a"`
		B   *uint32 `port:"b"`
		Sum *uint32 `port:"sum"`
	}
	if err := b.Bind(&p); err != nil {
		t.Fatal(err)
	}
	rng := b.Rand("operands")
	b.Go("adder", func(task *testbench.Task) {
		for range 1000 {
			*p.A, *p.B = rng.Uint32(), rng.Uint32()
			task.Cycles(1) // to the next clock edge
			if want := *p.A + *p.B; *p.Sum != want {
				task.Fatalf("%d + %d is %d, want %d", *p.A, *p.B, *p.Sum, want)
			}
		}
	})
	b.Run(2000) // cycles at most
}

// TestReadme: the program that README.md shows is the test above.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	here, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !found || !strings.Contains(string(here), "\n"+shown+"\n") {
		t.Errorf("README.md shows another program than TestAdder:\n%s", shown)
	}
}
