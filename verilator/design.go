package verilator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Optimize says how hard Verilator works on a design.
type Optimize int

const (
	// Quick compiles fast: for tests.
	Quick Optimize = iota
	// Full makes the model run fast: for benchmarks and long runs.
	Full
)

// Design says what to compile. Two Designs that are equal and whose files hold the same bytes share one build.
type Design struct {
	// Top is the module whose ports are bound. It must be set.
	Top string
	// Sources are the Verilog files, in the order Verilator gets them. At least one.
	Sources []string
	// FS holds Sources and IncludeDirs, for example an embed.FS; nil means files of the operating system.
	FS fs.FS
	// IncludeDirs are searched for `include files and for modules not in Sources (file name = module name).
	IncludeDirs []string
	// Params set parameters of Top. String parameters need their own quotes: `"abc"`.
	Params map[string]string
	// Defines are `define macros; an empty value defines the bare name.
	Defines map[string]string
	// Trace makes Model.Trace work. It costs compile time and some speed even while no trace is open.
	Trace bool
	// Coverage makes Model.Coverage work (line and toggle). It excludes Checkpoint.
	Coverage bool
	// Checkpoint makes Model.Save, Model.Restore and Config.Record work.
	Checkpoint bool
	// Timing simulates delays, events and waits within the design: #5, @(posedge x) and wait in initial and always blocks, fork, and clocks that it makes itself. Time
	// then counts the smallest precision among its `timescale directives: see Library.Ticks and Model.RunToFinish. It excludes Checkpoint, and every edge is
	// evaluated the longer way.
	Timing bool
	// Optimize is Quick unless set.
	Optimize Optimize
	// Fresh loads a copy of the library, on memory pages of its own. All loads of one file share its pages, and which pages these
	// are decides how fast a model runs whose code exceeds the processor's first-level cache: measure speed over several copies.
	Fresh bool
	// Public names signals inside the design by their paths below Top, as in "u_core.g_port[0].u_table.mem". They then are names of Model.Peek, Poke, Bind, Load and
	// Dump, and of conditions, as ports are. In a pattern * and ? stand for letters of one name, ** for any levels: "u_core.*" are all of that instance,
	// "**.state" all of that name, "**" is the whole hierarchy. What is public in one instance of a module is kept in all. A register or a memory costs nothing in
	// simulation; a wire costs its assignment, which Verilator would have left out; so "**" is for debugging. An output that a pattern names can be set by Poke.
	Public []string
	// Forceable names signals that Model.Force may take, by the same patterns; they are public too. Each costs a choice at every use, and a copy at every evaluation.
	Forceable []string
	// Flags are further arguments for Verilator. "--no-timing" ignores delays.
	Flags []string
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*$`)

// check refuses what Verilator would misread.
func (d *Design) check() error {
	switch {
	case d.Top == "":
		return errors.New("verilator: Design.Top is empty: name the top module")
	case !identifier.MatchString(d.Top):
		return fmt.Errorf("verilator: Design.Top %q is not a module name", d.Top)
	case len(d.Sources) == 0:
		return fmt.Errorf("verilator: design %s has no Sources", d.Top)
	case d.Coverage && d.Checkpoint:
		return fmt.Errorf("verilator: design %s: Verilator offers Coverage or Checkpoint, not both", d.Top)
	case d.Timing && d.Checkpoint:
		return fmt.Errorf("verilator: design %s: Verilator offers Timing or Checkpoint, not both: a checkpoint cannot hold where code that waits goes on", d.Top)
	case slices.Contains(d.Flags, "--timing"):
		return fmt.Errorf("verilator: design %s: set Design.Timing instead of --timing in Design.Flags", d.Top)
	case d.Timing && slices.Contains(d.Flags, "--no-timing"):
		return fmt.Errorf("verilator: design %s: Design.Timing simulates delays and --no-timing in Design.Flags ignores them: choose one", d.Top)
	}
	for _, names := range []map[string]string{d.Params, d.Defines} {
		for name := range names {
			if !identifier.MatchString(name) {
				return fmt.Errorf("verilator: design %s: %q is not a name for a parameter or macro", d.Top, name)
			}
		}
	}
	for _, s := range d.Sources {
		if s == "" || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			return fmt.Errorf("verilator: design %s: %q is not a source file", d.Top, s)
		}
	}
	return nil
}

// arguments are those that decide what Verilator generates, apart from the contents of files.
func (d *Design) arguments() []string {
	args := []string{"--top-module", d.Top}
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		args = append(args, "-G"+name+"="+d.Params[name])
	}
	for _, name := range slices.Sorted(maps.Keys(d.Defines)) {
		def := "-D" + name
		if v := d.Defines[name]; v != "" {
			def += "=" + v
		}
		args = append(args, def)
	}
	for _, dir := range d.IncludeDirs {
		args = append(args, "-I"+dir)
	}
	return append(append(args, d.Flags...), d.Sources...)
}

// buildArguments adds what a simulation needs to arguments.
func (d *Design) buildArguments() []string {
	args := []string{
		"--cc", "--prefix", "Vmodel", "--output-split", "20000", "--x-assign", "unique", "--x-initial", "unique",
		"-fno-const-bit-op-tree", // miscompiles some expressions
		"-Wno-fatal", "--assert",
	}
	if d.Optimize == Full {
		args = append(args, "-O3")
	}
	if d.Timing {
		args = append(args, "--timing")
	}
	if d.Trace {
		args = append(args, "--trace-fst")
	}
	if len(d.Forceable) > 0 {
		args = append(args, "-fno-dfg") // which passes signals over that are to be forced
	}
	if d.Coverage {
		args = append(args, "--coverage-line", "--coverage-toggle")
	}
	if d.Checkpoint {
		args = append(args, "--savable")
	}
	return append(args, d.arguments()...)
}

// read returns the bytes of a file that Verilator read under this name.
func (d *Design) read(name string) ([]byte, error) {
	if d.FS == nil || filepath.IsAbs(name) {
		return os.ReadFile(noted(name))
	}
	f, err := d.FS.Open(filepath.ToSlash(filepath.Clean(name)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if file, ok := f.(*os.File); ok {
		note(file.Name())
	}
	return io.ReadAll(f)
}

// verilogNames lists the files of a directory that an `include or a module search could find.
func (d *Design) verilogNames(dir string) []string {
	var entries []fs.DirEntry
	var err error
	if d.FS == nil {
		entries, err = os.ReadDir(noted(dir))
	} else {
		entries, err = fs.ReadDir(d.FS, filepath.ToSlash(filepath.Clean(dir)))
	}
	if err != nil {
		return nil // Verilator says so better
	}
	var names []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".v", ".sv", ".vh", ".svh", ".inc":
			names = append(names, e.Name())
		}
	}
	return names
}

// extract copies the file system into dir, for Verilator to read.
func (d *Design) extract(dir string) error {
	return fs.WalkDir(d.FS, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if e.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		data, err := fs.ReadFile(d.FS, path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o666)
	})
}
