// Package icarus repeats a run of a Verilated model under Icarus Verilog, clock by clock, and compares the outputs: a second
// opinion on the Verilog, from a simulator with four-valued logic that shares no code with the first.
package icarus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// ErrTool says that Icarus Verilog is not installed.
var ErrTool = errors.New("icarus: iverilog and vvp are needed: apt-get install iverilog")

// Recorder notes what goes into a model and what comes out at every clock. Make it with Record, then run the model through it.
type Recorder struct {
	m       *verilator.Model
	clock   string
	in, out []verilator.Port
	stimuli []string // a line a clock: all inputs but the clock, most significant bit first
	outputs []string
}

// Record begins to note a model's ports at every rising edge of its only clock.
func Record(m *verilator.Model, lib *verilator.Library, clock string) (*Recorder, error) {
	r := &Recorder{m: m, clock: clock}
	for _, p := range lib.Ports() {
		switch {
		case p.Elems != 1 || p.Width > 64:
			return nil, fmt.Errorf("icarus: port %s: arrays and ports of more than 64 bits cannot be recorded", p)
		case p.Name == clock:
		case p.Direction == verilator.In:
			r.in = append(r.in, p)
		default:
			r.out = append(r.out, p)
		}
	}
	if len(r.in) == 0 || len(r.out) == 0 {
		return nil, fmt.Errorf("icarus: a design without inputs or outputs beside its clock %s: nothing to compare", clock)
	}
	return r, nil
}

// Run runs the model for n clocks.
func (r *Recorder) Run(n uint64) error {
	return try.Run(func() {
		for range n {
			in := r.line(r.in)
			try.OK(r.m.Step())
			r.stimuli, r.outputs = append(r.stimuli, in), append(r.outputs, r.line(r.out))
		}
	})
}

func (r *Recorder) line(ports []verilator.Port) string {
	var b strings.Builder
	for _, p := range ports {
		fmt.Fprintf(&b, "%0*b", p.Width, try.Get(r.m.Peek(p.Name)))
	}
	return b.String()
}

// Result is what a comparison found.
type Result struct {
	Cycles  int
	Unknown int // output bits that were x or z after the first `from` clocks
}

// Mismatch is the first clock at which the simulators disagree.
type Mismatch struct {
	Cycle             int    // from 0
	Verilator, Icarus string // the outputs, in the order of the ports
	Ports             string
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("icarus: the simulators disagree after clock %d on outputs %s:\n  verilator %s\n  icarus    %s", m.Cycle, m.Ports, m.Verilator, m.Icarus)
}

// Compare repeats the recorded run with the design under Icarus. Bits that Icarus does not know are not compared; those after
// the first `from` clocks, when the design ought to be out of reset, are counted. A disagreement is a *Mismatch.
func (r *Recorder) Compare(ctx context.Context, d verilator.Design, from int) (result Result, err error) {
	for _, tool := range []string{"iverilog", "vvp"} {
		if _, err := exec.LookPath(tool); err != nil {
			return Result{}, ErrTool
		}
	}
	err = try.Run(func() { result = r.compare(r.play(ctx, d), from) })
	return result, err
}

// play repeats the recorded run and returns the outputs, a line a clock.
func (r *Recorder) play(ctx context.Context, d verilator.Design) string {
	dir := try.Get(os.MkdirTemp("", "icarus"))
	defer os.RemoveAll(dir)
	src := filepath.Join(dir, "src")
	if d.FS == nil {
		src = try.Get(os.Getwd())
	} else {
		try.OK(os.CopyFS(src, d.FS))
	}
	at := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(src, name)
	}
	try.OK(os.WriteFile(filepath.Join(dir, "bench.v"), []byte(r.bench(d, filepath.Join(dir, "stimuli"))), 0o666))
	try.OK(os.WriteFile(filepath.Join(dir, "stimuli"), []byte(strings.Join(r.stimuli, "\n")+"\n"), 0o666))
	args := []string{"-g2005-sv", "-o", filepath.Join(dir, "bench.vvp"), "-s", "lmmc_bench"}
	for name, value := range d.Defines {
		args = append(args, "-D"+name+"="+value)
	}
	for _, i := range d.IncludeDirs {
		args = append(args, "-I", at(i))
	}
	for _, s := range d.Sources {
		args = append(args, at(s))
	}
	run(ctx, src, "iverilog", append(args, filepath.Join(dir, "bench.v"))...)
	return run(ctx, src, "vvp", "-n", filepath.Join(dir, "bench.vvp"))
}

func (r *Recorder) compare(out string, from int) (result Result) {
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && result.Cycles < len(r.outputs) {
		_, theirs, is := strings.Cut(lines.Text(), mark)
		if !is {
			continue // what the design prints
		}
		ours := r.outputs[result.Cycles]
		if len(theirs) != len(ours) {
			try.Failf("icarus: unexpected output %q", theirs)
		}
		for i := range theirs {
			switch {
			case theirs[i] != '0' && theirs[i] != '1':
				if result.Cycles >= from {
					result.Unknown++
				}
			case theirs[i] != ours[i]:
				try.OK(&Mismatch{result.Cycles, ours, theirs, names(r.out)})
			}
		}
		result.Cycles++
	}
	if result.Cycles < len(r.outputs) {
		try.Failf("icarus: the run ended after %d of %d clocks", result.Cycles, len(r.outputs))
	}
	return result
}

// mark stands before outputs in what the bench prints.
const mark = "lmmc_outputs "

// bench is a module that plays the stimuli of a file and prints the outputs after each rising edge. Its own names are none that a design has.
func (r *Recorder) bench(d verilator.Design, stimuli string) string {
	var ports, params []string
	for _, p := range append(append([]verilator.Port{}, r.in...), r.out...) {
		ports = append(ports, fmt.Sprintf(".%s(%s)", p.Name, p.Name))
	}
	for name, value := range d.Params {
		params = append(params, fmt.Sprintf(".%s(%s)", name, value))
	}
	var b strings.Builder
	b.WriteString("module lmmc_bench;\n    reg lmmc_clk = 0;\n")
	width := 0
	for _, p := range r.in {
		fmt.Fprintf(&b, "    reg [%d:0] %s = 0;\n", p.Width-1, p.Name)
		width += p.Width
	}
	for _, p := range r.out {
		fmt.Fprintf(&b, "    wire [%d:0] %s;\n", p.Width-1, p.Name)
	}
	fmt.Fprintf(&b, "    %s #(%s) lmmc_dut (.%s(lmmc_clk), %s);\n", d.Top, strings.Join(params, ", "), r.clock, strings.Join(ports, ", "))
	fmt.Fprintf(&b, "    reg [%d:0] lmmc_stimuli [0:%d];\n    integer lmmc_i;\n", width-1, len(r.stimuli)-1)
	fmt.Fprintf(&b, "    initial begin\n        $readmemb(%q, lmmc_stimuli);\n        for (lmmc_i = 0; lmmc_i < %d; lmmc_i = lmmc_i + 1) begin\n", stimuli,
		len(r.stimuli))
	fmt.Fprintf(&b, "            {%s} = lmmc_stimuli[lmmc_i];\n            #1 lmmc_clk = 1;\n            #1 $display(\"%s%%b\", {%s});\n            lmmc_clk = 0;\n",
		names(r.in), mark, names(r.out))
	b.WriteString("            #1;\n        end\n        $finish;\n    end\nendmodule\n")
	return b.String()
}

func names(ports []verilator.Port) string {
	var list []string
	for _, p := range ports {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

func run(ctx context.Context, dir, tool string, args ...string) string {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	var out, words strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		try.Failf("icarus: %s: %w\n%s", tool, err, words.String()+out.String())
	}
	return out.String()
}
