package mutate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stafflink/lmmc/internal/try"
)

// proofTime bounds a search for inputs that tell mutants of one module from the module.
const proofTime = 2 * time.Minute

const mark = "@@mutant " // and the ID, before what Yosys says of a mutant

// equivalent returns the IDs of those mutants of one module that Yosys proves to change nothing: with the same inputs, the same values in
// all registers and the same answers of its instances, whatever they are, the module and the mutant have the same outputs, give their instances the
// same inputs, and their registers the same next values. What differs only in states that never come up is not found.
func (l *library) equivalent(ctx context.Context, module string, mutants []Mutant) (map[int]bool, error) {
	dir := try.Get(os.MkdirTemp("", "mutate"))
	defer os.RemoveAll(dir)
	net := l.elaborate(ctx, dir, module)
	limited, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	out, err := net.compare(limited, dir, module, mutants)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && limited.Err() == nil:
		return nil, err
	}
	same := map[int]bool{}
	for _, said := range strings.Split(out, "\n"+mark)[1:] {
		line, rest, _ := strings.Cut(said, "\n")
		if id, err := strconv.Atoi(line); err == nil && strings.Contains(rest, "SAT proof finished - no model found: SUCCESS!") {
			same[id] = true
		}
	}
	return same, nil
}

// compare lets Yosys compare the module in dir/net.il with each mutant, and returns what it says.
func (n netlist) compare(ctx context.Context, dir, module string, mutants []Mutant) (string, error) {
	script := "read_rtlil net.il\n"
	m := n.Modules[module]
	cells := m.cells(module)
	for _, mutant := range mutants {
		if cell, ok := cells[mutant.Cell]; ok && m.possible(mutant, cell) {
			script += mutant.command(module, cell) + "\n"
		}
	}
	if _, err := yosys(ctx, dir, script+fmt.Sprintf("cd %s\nmemory_collect\nmemory_map\nopt_clean\ncd ..\nwrite_rtlil mutated.il\n", module)); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "mutated.il"))
	if err != nil {
		return "", err
	}
	body := n.cut(splitModules(string(text))[module])
	if err := os.WriteFile(filepath.Join(dir, "cut.il"), []byte("module \\"+module+"\n"+body+"\nend\n"), 0o666); err != nil {
		return "", err
	}
	variant := func(name string, id int) string {
		return fmt.Sprintf("copy %s %s\ncd %[2]s\ndelete -port w:%s\nconnect -set %[3]s %d'd%d\ncd ..\n", module, name, selector, selectorWidth, id)
	}
	script = "read_rtlil cut.il\n" + variant("good", 0)
	for _, mutant := range mutants {
		script += fmt.Sprintf("log %s%d\n", mark, mutant.ID) + variant("bad", mutant.ID) +
			"miter -equiv -flatten good bad both\nsat -prove trigger 0 -timeout 20 both\ndelete bad both\n"
	}
	return yosys(ctx, dir, script)
}

var (
	anyCell    = regexp.MustCompile(`(?m)^  cell (\S+) \S+\n((?:    .*\n)*)  end$`)
	connection = regexp.MustCompile(`(?m)^    connect \\(\S+) (.*)$`)
)

// cut takes the registers and instances out of a module: what goes into them becomes outputs, and what they say inputs.
func (n netlist) cut(body string) string {
	ports := 0
	return anyCell.ReplaceAllStringFunc(body, func(text string) string {
		f := anyCell.FindStringSubmatch(text)
		below, instance := n.Modules[strings.TrimPrefix(f[1], `\`)]
		pins := connection.FindAllStringSubmatch(f[2], -1)
		register := false
		for _, pin := range pins {
			register = register || pin[1] == "Q"
		}
		if !instance && !register {
			return text
		}
		var s strings.Builder
		for _, pin := range pins {
			port, signal := pin[1], pin[2]
			out := port == "Q"
			width := 0
			if instance {
				if port == selector {
					continue
				}
				out, width = below.Ports[port].Direction == "output", len(below.Ports[port].Bits)
			} else if port == "Q" || port == "D" {
				w := regexp.MustCompile(`parameter \\WIDTH (\d+)`).FindStringSubmatch(f[2])
				width, _ = strconv.Atoi(w[1])
			} else {
				width = 1 // clocks, resets
			}
			ports++
			if out {
				fmt.Fprintf(&s, "  wire width %d input %d \\cut_%[2]d\n  connect %[3]s \\cut_%[2]d\n", width, 100_000+ports, signal)
			} else {
				fmt.Fprintf(&s, "  wire width %d output %d \\cut_%[2]d\n  connect \\cut_%[2]d %[3]s\n", width, 100_000+ports, signal)
			}
		}
		return strings.TrimSuffix(s.String(), "\n")
	})
}
