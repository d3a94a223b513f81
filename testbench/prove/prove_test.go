package prove_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/results"
)

const counter = `module counter #(parameter STEP = 1) (input clk, input rst);
  reg [3:0] n = 0;
  always @(posedge clk) if (rst || n == 8) n <= 0; else n <= n + STEP;
  always @* assert (n <= 8);
endmodule
`

// source makes a folder with a file and returns the folder.
func source(t *testing.T, name, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "with spaces")
	check.Fatal(t, errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)))
	return dir
}

var methods = []struct {
	method prove.Method
	depth  int
}{{prove.Induction, 10}, {prove.Bounded, 10}, {prove.Reachability, 0}}

func TestCheck(t *testing.T) {
	dir := source(t, "counter.v", counter)
	for _, m := range methods {
		proof := prove.Proof{Dir: dir, Files: []string{"counter.v"}, Top: "counter", Method: m.method, Depth: m.depth}
		prove.Run(t, proof)

		proof.Params = map[string]string{"STEP": "3"}
		err := prove.Check(t.Context(), t.TempDir(), proof)
		var refuted *prove.Refutation
		if !errors.Is(err, prove.ErrRefuted) || !errors.As(err, &refuted) {
			t.Fatalf("%s: got %v, want a refutation", m.method, err)
		}
		if len(refuted.Where) != 1 || refuted.Where[0] != "counter.v:4" {
			t.Errorf("%s: refuted at %v, want counter.v:4", m.method, refuted.Where)
		}
		if trace, err := os.ReadFile(refuted.Trace); err != nil || !strings.Contains(string(trace), " n ") {
			t.Errorf("%s: no counterexample with n: %v", m.method, err)
		}
	}
}

// Assumptions, free inputs and memories without a reset must mean the same to all methods.
func TestMethodsAgree(t *testing.T) {
	const text = `module store (input clk, input we, input [1:0] at, input [1:0] in, input [1:0] look);
  (* anyconst *) wire [1:0] place;
  reg [1:0] mem [0:3];
  reg [1:0] kept;
  reg known = 0;
  always @* assume (in != 3);
  always @(posedge clk) begin
    if (we) mem[at] <= in;
    if (we && at == place) begin kept <= in; known <= 1; end
  end
  always @* if (known) assert (mem[place] == kept);
  always @* if (CLAIM) assert (mem[look] != 3);
endmodule
`
	dir := source(t, "store.v", strings.Replace(text, "store (", "store #(parameter CLAIM = 0) (", 1))
	for _, m := range methods {
		proof := prove.Proof{Dir: dir, Files: []string{"store.v"}, Top: "store", Method: m.method, Depth: m.depth}
		prove.Run(t, proof)
		proof.Params = map[string]string{"CLAIM": "1"} // false: what a memory holds at first is anything
		check.Fails(t, string(m.method), prove.Check(t.Context(), t.TempDir(), proof), prove.ErrRefuted)
	}
}

// Parts come without their own properties, of which one is false here; the second of two properties is looked at too.
func TestParts(t *testing.T) {
	dir := source(t, "counter.v", counter)
	const text = `module pair #(parameter MOST = 8) (input clk, input rst);
  counter #(.STEP(2)) u (.clk(clk), .rst(rst));
  reg [3:0] n = 0;
  always @(posedge clk) if (rst || n == 8) n <= 0; else n <= n + 1;
  always @* assert (n <= 9);
  always @* assert (n <= MOST);
endmodule
`
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "pair.v"), []byte(text), 0o644))
	part := "counter.v"
	unprovable := strings.Replace(counter, "always @* assert", "`ifdef FORMAL\nalways @* assert (n < 8);\n`endif\n// ", 1)
	check.Fatal(t, os.WriteFile(filepath.Join(dir, part), []byte(unprovable), 0o644))
	for _, m := range methods {
		proof := prove.Proof{Dir: dir, Files: []string{"pair.v"}, Parts: []string{part}, Top: "pair", Method: m.method, Depth: m.depth}
		prove.Run(t, proof)
		proof.Params = map[string]string{"MOST": "7"}
		var refuted *prove.Refutation
		if err := prove.Check(t.Context(), t.TempDir(), proof); !errors.As(err, &refuted) || !slices.Equal(refuted.Where, []string{"pair.v:6"}) {
			t.Errorf("%s: got %v, want a refutation at pair.v:6", m.method, err)
		}
	}
}

// What holds from reset, and is not told so narrowly that it carries on by itself, is refuted in the step.
func TestStep(t *testing.T) {
	dir := source(t, "counter.v", strings.Replace(counter, "n <= 8)", "n != 12)", 1))
	proof := prove.Proof{Dir: dir, Files: []string{"counter.v"}, Top: "counter", Depth: 2}
	var refuted *prove.Refutation
	if err := prove.Check(t.Context(), t.TempDir(), proof); !errors.As(err, &refuted) || refuted.Stage != "induction" {
		t.Errorf("got %v, want a refutation in the step", err)
	}
	proof.Depth = 4 // from 9 to 12, and one step behind
	prove.Run(t, proof)
}

func TestCheckRefuses(t *testing.T) {
	empty := source(t, "empty.v", "module empty(input clk); endmodule\n")
	good := source(t, "counter.v", counter)
	for name, p := range map[string]prove.Proof{
		"no assertion":           {Dir: empty, Files: []string{"empty.v"}, Top: "empty", Depth: 3},
		"no files":               {Top: "counter", Depth: 3},
		"no depth":               {Dir: good, Files: []string{"counter.v"}, Top: "counter"},
		"a depth of no meaning":  {Dir: good, Files: []string{"counter.v"}, Top: "counter", Method: prove.Reachability, Depth: 3},
		"a module that is not":   {Dir: good, Files: []string{"counter.v"}, Top: "counters", Depth: 3},
		"no time for the solver": {Dir: good, Files: []string{"counter.v"}, Top: "counter", Depth: 3, Timeout: 1},
	} {
		if err := prove.Check(t.Context(), t.TempDir(), p); err == nil || errors.Is(err, prove.ErrRefuted) {
			t.Errorf("%s: got %v, want an error that is no refutation", name, err)
		}
	}
}

func TestCheckAll(t *testing.T) {
	dir := source(t, "counter.v", counter)
	good := prove.Proof{Name: "good", Dir: dir, Files: []string{"counter.v"}, Top: "counter", Depth: 3}
	bad := good
	bad.Name, bad.Params = "bad", map[string]string{"STEP": "3"}
	wrong := good
	wrong.Name, wrong.Top = "wrong", "counters"
	traces := filepath.Join(t.TempDir(), "traces")
	var seen []int
	all, err := prove.CheckAll(t.Context(), []prove.Proof{good, bad, wrong}, prove.Options{
		Options: campaign.Options{Jobs: 2}, TraceDir: traces, Progress: func(p campaign.Progress, _ prove.Result) { seen = append(seen, p.Done) },
	})
	check.Fatal(t, err)
	check.Equal(t, "progress", seen, []int{1, 2, 3})
	d := prove.NewDocument(results.Stamp{}, 1, all)
	var verdicts []string
	for _, p := range d.Proofs {
		verdicts = append(verdicts, p.Module+" "+p.Result)
	}
	if !slices.Equal(verdicts, []string{"good proved", "bad refuted", "wrong failed"}) || d.Proved != 1 || d.Failed != 2 {
		t.Errorf("%d proved, %d failed: %v", d.Proved, d.Failed, verdicts)
	}
	if want := filepath.Join(traces, "bad.vcd"); d.Proofs[1].Trace != want {
		t.Errorf("trace %q, want %q", d.Proofs[1].Trace, want)
	} else if _, err := os.Stat(want); err != nil {
		t.Error(err)
	}
}

// What is proved is not proved again. What is refuted is.
func TestCheckAllRemembers(t *testing.T) {
	dir := source(t, "counter.v", counter)
	good := prove.Proof{Name: "good", Dir: dir, Files: []string{"counter.v"}, Top: "counter", Depth: 3}
	bad := good
	bad.Name, bad.Params = "bad", map[string]string{"STEP": "3"}
	o := prove.Options{Options: campaign.Options{Store: t.TempDir()}, TraceDir: t.TempDir()}
	for i := range 2 {
		all, err := prove.CheckAll(t.Context(), []prove.Proof{good, bad}, o)
		if err != nil || all[0].Err != nil || !errors.Is(all[1].Err, prove.ErrRefuted) {
			t.Fatalf("%v, %v", err, all)
		}
		if all[0].Cached != (i > 0) || all[1].Cached {
			t.Errorf("run %d: cached %v and %v", i, all[0].Cached, all[1].Cached)
		}
		if d := prove.NewDocument(results.Stamp{}, 1, all); d.Cached != i || d.Proved != 1 {
			t.Errorf("run %d: %+v", i, d)
		}
	}
}

func TestCheckAllEndsWhenTold(t *testing.T) {
	dir := source(t, "counter.v", counter)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := prove.CheckAll(ctx, []prove.Proof{{Name: "a", Dir: dir, Files: []string{"counter.v"}, Top: "counter", Depth: 3}}, prove.Options{})
	check.Fails(t, "cancelled", err, context.Canceled)
}

func TestToolMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := source(t, "counter.v", counter)
	p := prove.Proof{Name: "a", Dir: dir, Files: []string{"counter.v"}, Top: "counter", Depth: 3, Timeout: time.Minute}
	_, err := prove.CheckAll(t.Context(), []prove.Proof{p}, prove.Options{})
	check.Fails(t, "without tools", err, prove.ErrTool, "apt install yosys z3")
}
