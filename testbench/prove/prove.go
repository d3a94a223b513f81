// Package prove runs formal proofs of Verilog modules by yosys-abc, which is a part of yosys: temporal induction, bounded checks, and reachability
// (property directed, also known as IC3).
//
// The properties are immediate assertions, seen under `ifdef FORMAL. A proof that is refuted leaves a counterexample as a VCD
// file and names the assertion that it breaks: yosys-smtbmc with z3, which knows the sources' names, repeats it.
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
	// Reachability holds for all time: the solver finds an invariant by itself, and checks it. It has no depth. Memories and numbers must be
	// small.
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

// sources is what p.Dir is called in the folder of the work: yosys takes no include folder with a space in its name.
const sources = "sources/"

// script is the yosys program that turns the sources into a transition system: model.aig for yosys-abc, and model.smt2.
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
	// yosys-smtbmc cannot set memories of one bit a word to what yosys-abc found, hence memory_map. Behind write_smt2 all goes bit by bit, and
	// nothing that uses undefined values as it likes may run.
	s.WriteString("memory_nordff; async2sync; dffunmap; setundef -undriven -anyseq; opt_clean; memory_map -formal; opt_clean; write_smt2 -wires model.smt2; " +
		"setattr -unset keep; delete -output; techmap; setundef -anyseq; simplemap; dffunmap; opt_clean; aigmap; " +
		"write_aiger -I -B -zinit -map model.aim model.aig")
	return s.String()
}
