// Package synth measures what Verilog becomes on an iCE40: cells, block memories and clock, by yosys and nextpnr-ice40; and cells on an ECP5.
//
// A module is measured between registers: every one of its inputs comes from a flip-flop and every output goes to one, so that no path
// hides in a pin. Results are kept in the user's cache folder under a hash of all that they follow from.
package synth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cache"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

// ErrTool says that yosys or nextpnr-ice40 is missing or too old; the text says what to install. It is a verilator.ErrTool too, so that a caller
// can check for that alone.
var ErrTool error = toolError{}

type toolError struct{}

func (toolError) Error() string        { return "synth: tool missing or too old" }
func (toolError) Is(target error) bool { return target == verilator.ErrTool }

// ErrDesign says that a tool refused the design; the text holds what the tool said.
var ErrDesign = errors.New("synth: design refused")

// Target is the device a design is placed on.
type Target struct {
	Device  string  // nextpnr's name without dashes: "hx8k"
	Package string  // "ct256"
	MHz     float64 // what the placer works for; it stops trying when it has it
}

// HX8K is the iCE40HX8K in its largest package, asked for more than it gives.
var HX8K = Target{Device: "hx8k", Package: "ct256", MHz: 150}

// Options are passed to the tools beside the design.
type Options struct {
	Enables   int      // flip-flops of one enable below which each gets a multiplexer instead
	Placement []string // of nextpnr-ice40; with --no-promote-globals the design names its global nets itself, by SB_GB
}

// ForSpeed trades cells for a faster clock. An iCE40 routes the enable of a group of flip-flops so slowly, over a global net too, that
// small groups do better with a multiplexer before each of them. On the network interface as it was first, enables of 40 and the options for
// placement made 113 MHz of 87, for 7 % more cells; since it has shrunk, 24 gives the clock that 40 does with fewer cells.
var ForSpeed = Options{
	Enables:   24,
	Placement: []string{"--no-promote-globals", "--placer-heap-timingweight", "30", "--placer-heap-critexp", "4"},
}

// ForArea trades clock for cells. An enable of fewer than eight flip-flops would keep others out of its tile, which has eight.
var ForArea = Options{
	Enables:   8,
	Placement: ForSpeed.Placement,
}

// mapping is ABC's second flow, which finds 3 % fewer cells than that which yosys takes by itself, without &mfs: that fails an assertion
// (giaMfs.c, iLitNew >= 0) on what boxes of flip-flops are read as, and yosys goes on with what ABC had written, the first of these four rounds.
const mapping = "+&scorr; &sweep; &synch2 -K 6 -C 500; &if -m {C} {W} {D} {R} -v; &save; &dch -C 500; &if -m {C} {W} {D} {R} -v; &save; &load; " +
	"&st; &sopb -R 10 -C 4; &synch2 -K 6 -C 500; &if -m {C} {W} {D} {R} -v; &save; &dch -C 500; &if -m {C} {W} {D} {R} -v; &save; &load"

// ofGates is the width up to which sums and comparisons are of gates: a carry chain takes cells for its ends, and its sums take no enable or reset in.
const ofGates = 5

// Synthesis is a script of yosys's that synthesises top for a family of iCE40 ("hx", "lp", "u") and writes it to a file, JSON. Knowing that a
// wire takes more time than a cell, which yosys does not tell ABC, makes a clock 4 % faster on the board HX8K, with
// three seeds; on icebreaker, with five, the UP5K's slower wires make one 3 % faster than those of the HX.
func (o Options) Synthesis(family, top, out string) string {
	wire := 900 // ps
	if family == "u" {
		wire = 1800
	}
	ice40 := fmt.Sprintf("synth_ice40 -abc9 -dff -dffe_min_ce_use %d -device %s -top %s -json %s", o.Enables, family, top, out)
	return fmt.Sprintf("scratchpad -set abc9.script \"%s\"; scratchpad -set synth_ice40.abc9.W %d; "+
		"%s -run begin:map_gates; techmap -map +/techmap.v t:$alu r:Y_WIDTH<=%d %%i; %[3]s -run map_gates:", mapping, wire, ice40, ofGates)
}

// Report is what was found.
type Report struct {
	// Cells of each kind after synthesis, by yosys's names, those of the registers at the pins included.
	Cells map[string]int `json:"cells"`
	// Logic and Memories are how many logic cells and block memories are used, of how many the device has.
	Logic    Use `json:"logic"`
	Memories Use `json:"memories"`
	// Runs of the placer, one for each seed, in the order of the seeds.
	Runs []Run `json:"runs"`
}

// Use is a number of resources.
type Use struct {
	Used int `json:"used"`
	Of   int `json:"of"`
}

// Run is the outcome of one placer seed.
type Run struct {
	Seed     int     `json:"seed"`
	MHz      float64 `json:"mhz"`
	Critical []Hop   `json:"critical"` // the slowest path from register to register
}

// Hop is a stretch of a path.
type Hop struct {
	Kind        string  `json:"kind"` // "clk-to-q", "routing", "logic" or "setup"
	Nanoseconds float64 `json:"ns"`
	To          string  `json:"to"` // net or cell at its end, as the tools call it
	// Signal is the signal of the RTL that it is named for, with the instances that it is in; "" where the placer made it.
	Signal string `json:"signal"`
}

// LUTs is the number of four-input look-up tables after synthesis.
func (r *Report) LUTs() int { return r.Cells["SB_LUT4"] }

// Median is the median clock of the runs, in MHz; of two in the middle, the slower.
func (r *Report) Median() float64 {
	speeds := r.speeds()
	return speeds[(len(speeds)-1)/2]
}

// Range is the slowest and the fastest clock, in MHz.
func (r *Report) Range() (low, high float64) {
	speeds := r.speeds()
	return speeds[0], speeds[len(speeds)-1]
}

func (r *Report) speeds() []float64 {
	var v []float64
	for _, run := range r.Runs {
		v = append(v, run.MHz)
	}
	slices.Sort(v)
	return v
}

// Measure synthesises d and places it once for each seed, two at a time. Of d it uses Top, Sources, FS, IncludeDirs, Params and Defines;
// Top has one clock, called clk.
//
// Errors: ErrTool, ErrDesign, or that of ctx. For one version of the tools the result follows from d, target and seeds alone.
func Measure(ctx context.Context, d verilator.Design, target Target, seeds ...int) (*Report, error) {
	if len(seeds) == 0 || d.Top == "" || len(d.Sources) == 0 || target.MHz <= 0 {
		return nil, fmt.Errorf("%w: need a top module, sources, a clock to work for and one seed at least", ErrDesign)
	}
	r := &Report{}
	err := try.Run(func() {
		kept := try.Get(cache.Folder(ctx, "synth", identity(ctx, d, target, seeds), func(dir string) error {
			return results.Write(dir, "report", measure(ctx, d, target, seeds))
		}))
		try.OK(results.Read(kept, "report", r))
	})
	return r, err
}

// Count counts the cells of each kind that d is after synthesis, by yosys's names, those of registers at its pins included.
func Count(ctx context.Context, d verilator.Design) (cells map[string]int, err error) {
	dir, err := os.MkdirTemp("", "lmmc-synth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return cells, try.Run(func() { cells = synthesise(ctx, dir, d, filepath.Join(dir, "netlist.json")) })
}

// CountECP5 is Count for an ECP5, whose larger chips hold what no iCE40 does, as yosys's synth_ecp5 has it by itself; without registers at the pins.
func CountECP5(ctx context.Context, d verilator.Design) (cells map[string]int, err error) {
	dir, err := os.MkdirTemp("", "lmmc-synth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return cells, try.Run(func() {
		out := filepath.Join(dir, "netlist.json")
		try.Get(Tool(ctx, "", "yosys", "-q", "-p", try.Get(ReadScript(dir, d))+"; synth_ecp5 -top "+d.Top+" -json "+out))
		cells = try.Get(Cells(out, d.Top))
	})
}

// measure is Measure without the cache.
func measure(ctx context.Context, d verilator.Design, target Target, seeds []int) *Report {
	dir := try.Get(os.MkdirTemp("", "lmmc-synth-"))
	defer os.RemoveAll(dir)
	r := &Report{Runs: make([]Run, len(seeds))}
	netlist := filepath.Join(dir, "netlist.json")
	r.Cells = synthesise(ctx, dir, d, netlist)
	folder := func(_ context.Context, seed int, run func(string) error) (string, error) {
		of := filepath.Join(dir, strconv.Itoa(seed))
		if err := os.Mkdir(of, 0o777); err != nil {
			return "", err
		}
		return of, run(of)
	}
	placed := try.Get(Placement{Target: target, Netlist: netlist, Options: ForSpeed.Placement, Folder: folder}.Run(ctx, seeds, nil))
	for i, p := range placed {
		r.Runs[i], r.Logic, r.Memories = p.Run, p.Logic, p.Memories
	}
	return r
}

// format changes when the same design gives another Report: another script or another field.
const format = 2

// identity is a hash of all that a Report follows from.
func identity(ctx context.Context, d verilator.Design, target Target, seeds []int) string {
	var versions []string
	for _, program := range []string{"yosys", "nextpnr-ice40"} {
		version := try.Get(Version(ctx, program))
		versions = append(versions, string(version))
	}
	return cache.Key("report", format, ForSpeed, ForSpeed.Synthesis("hx", d.Top, ""), target, seeds, d.Top, d.Sources, d.IncludeDirs, d.Params, d.Defines, versions, contents(d))
}
