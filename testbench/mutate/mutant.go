package mutate

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mutant is one change of a module: what a pin of one of its cells carries is something else.
type Mutant struct {
	// ID is the value of the environment variable MutantVar that selects the mutant; from 1.
	ID int
	// Module is the module changed. Its file is named after it.
	Module string
	// Cell is the cell of the module's netlist.
	Cell Cell
	// Line is the cell's line in the module's file; 0 when that is not known.
	Line int
	// Port and Bit are the cell's pin.
	Port string
	Bit  int
	// Mode is what Yosys' mutate makes of the pin: inv, const0, const1, or cnot0 and cnot1, which invert it while the bit Control of the
	// same port is 0 or 1.
	Mode    string
	Control int
}

// MutantVar names the environment variable by which a design that Rewrite has changed knows the mutant to be; none or 0 is the
// module as it should be.
const MutantVar = "LMMC_MUTANT"

// Cell names a cell of a netlist by what stays the same with other parameters: an instance by its name; an operator by its type, the place
// in the source, and for a register the name of its output.
type Cell struct {
	Type    string // Yosys' type, for example "$add"; "" for an instance
	Place   string // LINE.COLUMN-LINE.COLUMN in the module's file
	Output  string // the register that it is or whose next value it makes
	Ordinal int    // which one of those that are equal otherwise
	Name    string // the instance
}

func (c Cell) String() string {
	if c.Type == "" {
		return c.Name
	}
	s := c.Type
	if c.Output != "" {
		s += "(" + c.Output + ")"
	}
	s += "@" + c.Place
	if c.Ordinal > 0 {
		s += "#" + strconv.Itoa(c.Ordinal)
	}
	return s
}

// Kind is the mode, with the controlling bit.
func (m Mutant) Kind() string {
	if strings.HasPrefix(m.Mode, "cnot") {
		return fmt.Sprintf("%s[%d]", m.Mode, m.Control)
	}
	return m.Mode
}

// Name names the mutant for as long as the module's source does not change: MODULE/CELL:PORT[BIT]=KIND. ParseMutant reads it.
func (m Mutant) Name() string {
	return fmt.Sprintf("%s/%v:%s[%d]=%s", m.Module, m.Cell, m.Port, m.Bit, m.Kind())
}

func (m Mutant) String() string { return m.Name() }

var mutantName = regexp.MustCompile(`^(\w+)/(?:(\$\w+)(?:\(([^()]+)\))?@([^#:]*)(?:#(\d+))?|([^$@:][^@:]*)):(\w+)\[(\d+)\]=(inv|const[01]|cnot[01])(?:\[(\d+)\])?$`)

// ErrName is wrapped by the error of ParseMutant.
var ErrName = errors.New("mutate: not the name of a mutant")

// ParseMutant returns the mutant that Name named, but for its ID.
func ParseMutant(name string) (Mutant, error) {
	f := mutantName.FindStringSubmatch(name)
	if f == nil || strings.HasPrefix(f[9], "cnot") != (f[10] != "") {
		return Mutant{}, fmt.Errorf("%w: %q; want MODULE/CELL:PORT[BIT]=KIND, as lmmc mutate writes it", ErrName, name)
	}
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // digits or nothing
		return n
	}
	return Mutant{Module: f[1], Cell: Cell{Type: f[2], Output: f[3], Place: f[4], Ordinal: number(f[5]), Name: f[6]},
		Port: f[7], Bit: number(f[8]), Mode: f[9], Control: number(f[10])}, nil
}

// command is the mutation in Yosys' language, for a cell of this name in a module of this name.
func (m Mutant) command(module, cell string) string {
	s := fmt.Sprintf("mutate -ctrl %s %d %d -mode %s -module %s -cell %s -port %s -portbit %d", selector, selectorWidth, m.ID, m.Mode,
		module, cell, m.Port, m.Bit)
	if strings.HasPrefix(m.Mode, "cnot") {
		s += fmt.Sprintf(" -ctrlbit %d", m.Control)
	}
	return s
}

const (
	selector      = "lmmc_mutant" // port by which a module is told the mutant to be
	selectorWidth = 16
	maxMutants    = 1<<selectorWidth - 1
)

func byModule(mutants []Mutant) map[string][]Mutant {
	sorted := map[string][]Mutant{}
	for _, m := range mutants {
		sorted[m.Module] = append(sorted[m.Module], m)
	}
	return sorted
}

func sortMutants(mutants []Mutant) {
	slices.SortFunc(mutants, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name(), b.Name()))
	})
}
