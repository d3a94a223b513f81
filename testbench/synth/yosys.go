package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// wrapper is the name of the module around the one that is measured.
const wrapper = "lmmc_registered_pins"

// netlist is the part of yosys's JSON that this package reads.
type netlist struct {
	Modules map[string]struct {
		Ports map[string]struct {
			Direction string `json:"direction"`
			Bits      []any  `json:"bits"`
		} `json:"ports"`
		Cells map[string]struct {
			Type string `json:"type"`
		} `json:"cells"`
	} `json:"modules"`
}

func readNetlist(path string) (*netlist, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := &netlist{}
	if err := json.Unmarshal(data, n); err != nil {
		return nil, fmt.Errorf("synth: %s: %w", path, err)
	}
	return n, nil
}

// synthesise writes the netlist of d behind registered pins to out and counts its cells.
func synthesise(ctx context.Context, dir string, d verilator.Design, out string) map[string]int {
	read := try.Get(ReadScript(dir, d))
	ports := filepath.Join(dir, "ports.json")
	try.Get(Tool(ctx, "", "yosys", "-q", "-p", read+"; hierarchy -check -top "+d.Top+"; proc; write_json "+ports))
	n := try.Get(readNetlist(ports))
	text := wrap(n, d.Top)
	around := filepath.Join(dir, wrapper+".v")
	try.OK(os.WriteFile(around, text, 0o644))
	script := fmt.Sprintf("%s; read_verilog %s; %s", read, around, ForSpeed.Synthesis("hx", wrapper, out))
	try.Get(Tool(ctx, "", "yosys", "-q", "-p", script))
	n = try.Get(readNetlist(out))
	return n.cells(wrapper)
}

// Cells counts the cells of each type in a module of a netlist of yosys's, JSON.
func Cells(netlist, module string) (map[string]int, error) {
	n, err := readNetlist(netlist)
	if err != nil {
		return nil, err
	}
	return n.cells(module), nil
}

// Ports returns the ports of a module of a netlist of yosys's, JSON, each with its number of bits.
func Ports(netlist, module string) (map[string]int, error) {
	n, err := readNetlist(netlist)
	if err != nil {
		return nil, err
	}
	bits := map[string]int{}
	for name, p := range n.Modules[module].Ports {
		bits[name] = len(p.Bits)
	}
	return bits, nil
}

// CellsByInstance counts the cells of a flat module by the instance that they were in, down to depth of them: names have a dot behind each.
func CellsByInstance(netlist, module string, depth int) (map[string]map[string]int, error) {
	n, err := readNetlist(netlist)
	if err != nil {
		return nil, err
	}
	count := map[string]map[string]int{}
	for name, c := range n.Modules[module].Cells {
		path := strings.Split(name, ".")
		path = path[:min(depth, len(path)-1)]
		at := strings.Join(path, ".")
		if count[at] == nil {
			count[at] = map[string]int{}
		}
		count[at][c.Type]++
	}
	return count, nil
}

func (n *netlist) cells(module string) map[string]int {
	count := map[string]int{}
	for _, c := range n.Modules[module].Cells {
		count[c.Type]++
	}
	return count
}

// ReadScript returns the yosys commands that read the sources of d and set the parameters. It copies d.FS, unless nil, to dir.
func ReadScript(dir string, d verilator.Design) (string, error) {
	var s strings.Builder
	s.WriteString("read_verilog -I" + dir)
	if d.FS != nil {
		if err := os.CopyFS(dir, d.FS); err != nil {
			return "", fmt.Errorf("synth: %w", err)
		}
	}
	place := func(name string) string {
		if d.FS == nil {
			return name
		}
		return filepath.Join(dir, filepath.FromSlash(name))
	}
	for _, include := range d.IncludeDirs {
		s.WriteString(" -I" + place(include))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Defines)) {
		s.WriteString(" -D" + name + "=" + d.Defines[name])
	}
	for _, source := range d.Sources {
		s.WriteString(" " + place(source))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		fmt.Fprintf(&s, "; chparam -set %s %s %s", name, d.Params[name], d.Top)
	}
	return s.String(), nil
}

// wrap writes a module with the ports of top, all of them registered, and its clock on a global net.
func wrap(n *netlist, top string) []byte {
	m, ok := n.Modules[top]
	if !ok || m.Ports["clk"].Direction != "input" {
		try.Failf("%w: module %s has no input clk", ErrDesign, top)
	}
	var ports, regs, moves, pins bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(m.Ports)) {
		p := m.Ports[name]
		if name == "clk" {
			continue
		}
		bits := fmt.Sprintf("[%d:0]", len(p.Bits)-1)
		switch p.Direction {
		case "input":
			fmt.Fprintf(&ports, ", input wire %s %s", bits, name)
			fmt.Fprintf(&regs, "reg %s %s_q;\n", bits, name)
			fmt.Fprintf(&moves, "%s_q <= %s;\n", name, name)
		case "output":
			fmt.Fprintf(&ports, ", output reg %s %s", bits, name)
			fmt.Fprintf(&regs, "wire %s %s_q;\n", bits, name)
			fmt.Fprintf(&moves, "%s <= %s_q;\n", name, name)
		default:
			try.Failf("%w: port %s of %s is an %s", ErrDesign, name, top, p.Direction)
		}
		fmt.Fprintf(&pins, ", .%s(%s_q)", name, name)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "module %s (input wire clk_pin%s);\nwire clk;\nSB_GB u_clk (.USER_SIGNAL_TO_GLOBAL_BUFFER(clk_pin), .GLOBAL_BUFFER_OUTPUT(clk));\n%salways @(posedge clk) begin\n%send\n%s u_top (.clk(clk)%s);\nendmodule\n",
		wrapper, ports.String(), regs.String(), moves.String(), top, pins.String())
	return text.Bytes()
}

// contents returns every file that the result may depend on, by name.
func contents(d verilator.Design) map[string][]byte {
	files := map[string][]byte{}
	if d.FS == nil {
		for _, name := range d.Sources {
			data, err := os.ReadFile(name)
			try.Wrap(err, "synth")
			files[name] = data
		}
		return files
	}
	err := fs.WalkDir(d.FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(d.FS, name)
		return err
	})
	try.OK(err)
	return files
}
