// Package prove runs formal proofs of Verilog modules: temporal induction and bounded checks by yosys-smtbmc with z3,
// reachability (property directed, also known as IC3), and inductions over many steps, by yosys-abc, which is a part of yosys.
//
// The properties are immediate assertions, seen under `ifdef FORMAL. A proof that is refuted leaves a counterexample as a VCD
// file and names the assertion that it breaks.
package prove

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Method says how a proof is made, and so what it covers.
type Method string

const (
	// Induction holds for all time: a bounded check from reset of Depth steps, and a temporal induction over at most Depth steps.
	Induction Method = "induction"
	// Bounded holds for the first Depth steps only.
	Bounded Method = "bounded"
	// Reachability holds for all time: the solver finds an invariant by itself, and checks it. It has no depth. It sees single bits, so
	// memories and numbers must be small.
	Reachability Method = "reachability"
)

// Proof is one module, or some together, with their properties.
type Proof struct {
	Name       string // what people call it; a file name
	Properties string // what is proven, in words

	Dir     string            // folder that Files are relative to; "" is the current one. Includes are found in it and beside their file
	Files   []string          // Verilog sources
	Parts   []string          // more of them, whose own properties are left out: they are proven elsewhere
	Top     string            // the module that holds the properties
	Params  map[string]string // parameters of Top
	Method  Method            // "" is Induction
	Depth   int               // steps; 0 is refused, except for Reachability, which takes no other
	Clocks  bool              // several clocks: they become inputs of a global time step
	Unroll  bool              // give z3 each step in full: tables and other wide logic need it
	Bits    bool              // give z3 single bits instead of numbers: many sums and comparisons that hang together need it
	Deep    bool              // for Induction: by yosys-abc, as Reachability is. Narrow logic over many steps needs it
	Timeout time.Duration     // for each run of a solver; 0 is half an hour
}

// Errors that tell why a proof was not made.
var (
	ErrRefuted = errors.New("refuted")        // the solver found a counterexample; the error is a *Refutation
	ErrTool    = errors.New("tool not found") // yosys or z3 is missing
)

// Refutation is the error of a proof to which the solver found a counterexample.
type Refutation struct {
	Proof string
	Stage string   // "from reset", or "induction": then the trace may begin in a state that reset never leads to
	Where []string // assertions that fail at the trace's end, as file:line
	Trace string   // VCD file
}

func (r *Refutation) Error() string {
	return fmt.Sprintf("prove %s: refuted %s: assertion at %s; counterexample: gtkwave %s", r.Proof, r.Stage, strings.Join(r.Where, ", "), r.Trace)
}

// Is makes a Refutation an ErrRefuted.
func (r *Refutation) Is(target error) bool { return target == ErrRefuted }

func (p Proof) valid() error {
	switch {
	case len(p.Files) == 0 || p.Top == "":
		return fmt.Errorf("prove %s: files and a top module are needed", p.Name)
	case p.method() == Reachability && p.Depth != 0:
		return fmt.Errorf("prove %s: reachability has no depth, not %d", p.Name, p.Depth)
	case p.Deep && p.method() != Induction:
		return fmt.Errorf("prove %s: Deep is for an induction, not for %s", p.Name, p.method())
	case p.method() != Reachability && p.Depth <= 0:
		return fmt.Errorf("prove %s: a depth above 0 is needed", p.Name)
	}
	return nil
}

func (p Proof) method() Method {
	if p.Method == "" {
		return Induction
	}
	return p.Method
}

// byABC says whether yosys-abc makes the proof.
func (p Proof) byABC() bool { return p.Deep || p.method() == Reachability }

// sources is what p.Dir is called in the folder of the work: yosys takes no include folder with a space in its name.
const sources = "sources/"

// script is the yosys program that turns the sources into a transition system: model.smt2, for yosys-abc model.aig too.
func (p Proof) script() string {
	var s strings.Builder
	read := func(files []string, as string) {
		if len(files) > 0 {
			fmt.Fprintf(&s, "read_verilog -sv %s -I%s %s%s; ", as, sources, sources, strings.Join(files, " "+sources))
		}
	}
	read(p.Files, "-formal")
	read(p.Parts, "-nosynthesis")
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
	s.WriteString("memory_nordff; async2sync; dffunmap; setundef -undriven -anyseq; opt_clean; ")
	if p.byABC() {
		s.WriteString("memory_map -formal; opt_clean; ") // yosys-smtbmc cannot set memories of one bit a word to what yosys-abc found
	}
	if p.Bits {
		s.WriteString("techmap; abc -fast -g AND,XOR,MUX; opt_clean; ")
	}
	s.WriteString("write_smt2 -wires model.smt2; ")
	if p.byABC() {
		// Bit by bit. Nothing that uses undefined values as it likes may run here.
		s.WriteString("setattr -unset keep; delete -output; techmap; setundef -anyseq; simplemap; dffunmap; aigmap; opt_clean; " +
			"write_aiger -I -B -zinit -map model.aim model.aig")
	}
	return s.String()
}
