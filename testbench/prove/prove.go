// Package prove runs formal proofs of Verilog modules with yosys and yosys-smtbmc.
//
// The properties are immediate assertions seen under `ifdef FORMAL. A proof that fails leaves the
// counterexample as a VCD file and names it.
package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Mode says what a proof covers.
type Mode int

const (
	// Induction holds for all time: a bounded check from reset of Depth steps, and a temporal
	// induction over at most Depth steps.
	Induction Mode = iota
	// Bounded holds for the first Depth steps only.
	Bounded
)

// Proof is one module with its properties.
type Proof struct {
	Files   []string          // Verilog sources; the includes of the first one's folder are found
	Top     string            // the module that holds the properties
	Params  map[string]string // parameters of Top
	Mode    Mode
	Depth   int           // steps; 0 is refused
	Clocks  bool          // several clocks: they become inputs of a global time step
	Unroll  bool          // give the solver each step in full: tables and other wide logic need it
	Timeout time.Duration // for each solver run; 0 is two minutes
}

// ErrRefuted is wrapped by the error of a proof to which the solver found a counterexample.
var ErrRefuted = errors.New("refuted")

// Run proves p and fails t if that does not work, whatever the reason: a missing tool is a failure
// that says what to install, never a skip.
func Run(t testing.TB, p Proof) {
	t.Helper()
	dir, err := os.MkdirTemp("", "prove-"+p.Top+"-")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := Check(t.Context(), dir, p); err != nil {
		t.Fatal(err) // dir stays: it holds the counterexample
	}
	os.RemoveAll(dir)
	t.Logf("%s %v: proved in %.1f s", p.Top, p.Params, time.Since(start).Seconds())
}

// Check proves p, with its working files in dir.
func Check(ctx context.Context, dir string, p Proof) error {
	if p.Depth <= 0 || len(p.Files) == 0 || p.Top == "" {
		return fmt.Errorf("prove %s: need files, a top module and a depth above 0", p.Top)
	}
	for tool, pkg := range map[string]string{"yosys": "yosys", "yosys-smtbmc": "yosys", "z3": "z3"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("prove %s: %s not found: install %s (apt install yosys z3): %w", p.Top, tool, pkg, err)
		}
	}
	if p.Timeout == 0 {
		p.Timeout = 2 * time.Minute
	}
	model := filepath.Join(dir, "model.smt2")
	if out, err := run(ctx, p.Timeout, "yosys", "-q", "-p", p.script(model)); err != nil {
		return fmt.Errorf("prove %s: yosys: %w\n%s", p.Top, err, out)
	}
	if err := p.solve(ctx, model, filepath.Join(dir, "reset.vcd"), "from reset"); err != nil || p.Mode == Bounded {
		return err
	}
	return p.solve(ctx, model, filepath.Join(dir, "induction.vcd"), "induction", "-i")
}

// script is the yosys program that turns the sources into a transition system.
func (p Proof) script(model string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "read_verilog -formal -sv -I%s %s; ", filepath.Dir(p.Files[0]), strings.Join(p.Files, " "))
	if len(p.Params) > 0 {
		s.WriteString("chparam")
		for _, name := range slices.Sorted(maps.Keys(p.Params)) {
			fmt.Fprintf(&s, " -set %s %s", name, p.Params[name])
		}
		fmt.Fprintf(&s, " %s; ", p.Top)
	}
	fmt.Fprintf(&s, "prep -top %s -flatten; select -assert-min 1 t:$assert; ", p.Top)
	if p.Clocks {
		s.WriteString("clk2fflogic; ")
	}
	fmt.Fprintf(&s, "memory_nordff; async2sync; dffunmap; opt_clean; write_smt2 -wires %s", model)
	return s.String()
}

func (p Proof) solve(ctx context.Context, model, vcd, what string, args ...string) error {
	if p.Unroll {
		args = append(args, "--unroll")
	}
	args = append(args, "--noprogress", "-s", "z3", "-t", strconv.Itoa(p.Depth), "--dump-vcd", vcd, model)
	out, err := run(ctx, p.Timeout, "yosys-smtbmc", args...)
	if err == nil {
		return nil
	}
	if _, missing := os.Stat(vcd); missing == nil {
		return fmt.Errorf("prove %s %v: %s: %w; counterexample in %s\n%s", p.Top, p.Params, what, ErrRefuted, vcd, out)
	}
	return fmt.Errorf("prove %s %v: %s: %w\n%s", p.Top, p.Params, what, err, out)
}

// run runs a tool and returns what it said, or why it did not finish in time.
func run(ctx context.Context, limit time.Duration, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer in %v", limit))
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	own(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), err
}
