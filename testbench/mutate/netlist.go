package mutate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// netlist is what Yosys' write_json writes.
type netlist struct {
	Modules map[string]*module
}

type module struct {
	Attributes map[string]string
	Parameters map[string]string `json:"parameter_default_values"`
	Ports      map[string]struct {
		Direction string
		Bits      []any
	}
	Cells map[string]*cell
	Names map[string]struct {
		Hidden     int   `json:"hide_name"`
		Bits       []any // numbers, or "0", "1", "x"
		Attributes map[string]string
	} `json:"netnames"`
}

type cell struct {
	Hidden      int `json:"hide_name"`
	Type        string
	Attributes  map[string]string
	Connections map[string][]any
}

// base is the name that the module has in the source; it has others for each set of parameters.
func (m *module) base(name string) string {
	if base, ok := m.Attributes["hdlname"]; ok {
		return strings.TrimPrefix(base, `\`)
	}
	return name
}

// cells finds the cells of the module of this name by what they are called in a Mutant.
func (m *module) cells(module string) map[Cell]string {
	found := map[Cell]string{}
	names := slices.SortedFunc(maps.Keys(m.Cells), func(a, b string) int {
		return cmp.Or(cmp.Compare(serial(a), serial(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		c := m.Cells[name]
		var key Cell
		switch {
		case c.Hidden == 0:
			key.Name = name
		case strings.HasPrefix(c.Type, "$paramod"):
			continue // an instance without a name
		default:
			key = Cell{Type: c.Type, Place: places(c.Attributes["src"], module)[0]}
			for _, port := range []string{"Q", "Y"} {
				if bits, ok := c.Connections[port]; ok {
					key.Output = m.register(bits, port == "Q")
				}
			}
		}
		for found[key] != "" {
			key.Ordinal++
		}
		found[key] = name
	}
	return found
}

var lastNumber = regexp.MustCompile(`\$(\d+)$`)

// serial is the number that Yosys gives cells as it makes them; 0 for those with a name of their own.
func serial(cell string) int {
	if m := lastNumber.FindStringSubmatch(cell); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

// places returns the places of an attribute src in the module's file, the outermost first; those in other files come last and say which.
// Which inner ones there are depends on the parameters.
func places(src, module string) []string {
	all := strings.Split(src, "|")
	for i, p := range all {
		file, place, _ := strings.Cut(p, ":")
		if all[i] = place; filepath.Base(file) != module+".v" {
			all[i] = filepath.Base(file) + "/" + place
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		var from, to [2]int
		from[0], to[0] = math.MaxInt, math.MaxInt // other files
		fmt.Sscanf(a, "%d.%d", &from[0], &from[1])
		fmt.Sscanf(b, "%d.%d", &to[0], &to[1])
		return cmp.Or(cmp.Compare(from[0], to[0]), cmp.Compare(from[1], to[1]), cmp.Compare(a, b))
	})
	return all
}

// line is the first line of the innermost place; 0 for none.
func line(src, module string) (n int) {
	for _, place := range places(src, module) {
		fmt.Sscanf(place, "%d.", &n) // leaves n as it is for another file
	}
	return n
}

// next is what Yosys calls the next value of a register, or what it is after some of the statements.
var next = regexp.MustCompile(`^\$\d+\\(\w+)`)

// register returns the shortest name of the register that has, or is going to have, exactly these bits; "" if there is none.
func (m *module) register(bits []any, now bool) string {
	var found []string
	for name, n := range m.Names {
		if (n.Hidden == 0) != now || !slices.Equal(n.Bits, bits) {
			continue
		}
		if now {
			found = append(found, name)
		} else if f := next.FindStringSubmatch(name); f != nil {
			found = append(found, f[1])
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// initial is the value that the bit of a pin has from configuration on, '0' or '1', if it is the output of a register that has one.
func (m *module) initial(cell, port string, bit int) (byte, bool) {
	if port != "Q" {
		return 0, false
	}
	pin := m.Cells[cell].Connections[port][bit]
	for _, n := range m.Names {
		value := n.Attributes["init"]
		if i := slices.Index(n.Bits, pin); i >= 0 && i < len(value) && value[len(value)-1-i] != 'x' {
			return value[len(value)-1-i], true
		}
	}
	return 0, false
}

// possible says whether the module has the mutant's pin, and the pin would carry something else. A memory that is read without a clock has
// no enable, though its cell has the pin.
func (m *module) possible(mutant Mutant, cell string) bool {
	pins := m.Cells[cell].Connections[mutant.Port]
	if mutant.Bit >= len(pins) || mutant.Control >= len(pins) || mutant.Cell.Type == "$memrd" && mutant.Port == "EN" {
		return false
	}
	switch now := pins[mutant.Bit]; mutant.Mode {
	case "const0", "const1":
		return now != any(strings.TrimPrefix(mutant.Mode, "const"))
	case "cnot0", "cnot1":
		_, constant := pins[mutant.Control].(string)
		return !constant
	}
	return true
}

// clocked says whether the pin is a clock: changed, it would make another kind of circuit, and no simulation would see it race.
func clocked(port string) bool {
	return port == "CLK" || port == "clk" || strings.HasSuffix(port, "_clk")
}

// elaborate is the Yosys script that reads a design to the cells that its source implies, nothing optimised, so that the cells of
// two sets of parameters correspond. What the source says for simulations only is there.
func elaborate(d verilator.Rewritable) string {
	var s strings.Builder
	read := "read_verilog -nosynthesis -I."
	for _, name := range slices.Sorted(maps.Keys(d.Defines)) {
		read += " -D" + name
		if v := d.Defines[name]; v != "" {
			read += "=" + v
		}
	}
	for _, source := range d.Sources {
		read += " " + filepath.Base(source)
	}
	modules, files := modulesOf(d)
	for _, name := range modules {
		if source, ok := files[name]; ok && !slices.Contains(d.Sources, source) {
			read += " " + filepath.Base(source)
		}
	}
	fmt.Fprintf(&s, "%s\nhierarchy -top %s", read, d.Top)
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		fmt.Fprintf(&s, " -chparam %s %s", name, d.Params[name])
	}
	s.WriteString("\nproc -noopt\nopt_clean\n")
	return s.String()
}

// gather puts copies of the sources of a design, and of all that it may include, into one folder.
func gather(dir string, d verilator.Rewritable) {
	var files []string
	files = append(files, d.Sources...)
	for _, from := range d.IncludeDirs {
		for _, pattern := range []string{"*.v", "*.vh", "*.sv", "*.svh"} {
			found := try.Get(filepath.Glob(filepath.Join(from, pattern)))
			files = append(files, found...)
		}
	}
	for _, file := range files {
		to := filepath.Join(dir, filepath.Base(file))
		if _, err := os.Stat(to); err == nil {
			continue // the first one counts
		}
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			try.Failf("mutate: %s is missing", file)
		}
		try.OK(err)
		try.OK(os.WriteFile(to, data, 0o666))
	}
}

func readNetlist(file string) (n netlist) {
	data := try.Get(os.ReadFile(file))
	try.OK(json.Unmarshal(data, &n))
	return n
}

// yosys runs a script in a folder and returns what Yosys says.
func yosys(ctx context.Context, dir, script string) (string, error) {
	path, err := exec.LookPath("yosys")
	if err != nil {
		return "", fmt.Errorf("%w: yosys is not in PATH (apt-get install yosys)", verilator.ErrTool)
	}
	file := filepath.Join(dir, "script.ys")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		return "", err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "-Q", "-T", "-s", "script.ys")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	err = cmd.Run()
	if ctx.Err() != nil {
		return out.String(), ctx.Err()
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return out.String(), fmt.Errorf("mutate: yosys: %w\n%s", err, strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
	return out.String(), nil
}
