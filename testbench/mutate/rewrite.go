package mutate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// Rewrite is the program of verilator.RewriteVar: it puts, into the current folder, modules that can be any of the mutants of a plan, by
// the environment variable MutantVar, in the place of the design's own. The arguments are the plan's file; or "planted" and the file of a plan of
// planted bugs; or "list" and a file, to which it appends the design's modules, without a design then.
func Rewrite(ctx context.Context, args []string, stdin io.Reader) error {
	return try.Run(func() {
		var d verilator.Rewritable
		try.Wrap(json.NewDecoder(stdin).Decode(&d), "mutate: a design is expected on standard input, as verilator.RewriteVar describes it")
		switch {
		case len(args) == 1:
			data, err := os.ReadFile(args[0])
			try.Wrap(err, "mutate: plan")
			var mutants []Mutant
			try.Wrap(json.Unmarshal(data, &mutants), "mutate: plan %s", args[0])
			rewrite(ctx, d, ".", byModule(mutants))
		case len(args) == 2 && args[0] == plantedPlan:
			var bugs []Planted
			try.OK(json.Unmarshal(try.Get(os.ReadFile(args[1])), &bugs))
			modules, files := modulesOf(d)
			selectPlanted(files, modules, bugs)
		case len(args) == 2 && args[0] == "list":
			appendModules(d, args[1])
			try.Failf("mutate: only the design's modules were asked for")
		default:
			try.Failf("mutate: want a plan, or list and a file, not %q", args)
		}
	})
}

// layPlan writes a plan to a file that is named after what it holds, and returns the value of verilator.RewriteVar for it.
func layPlan(plan any, rewriter []string) string {
	data := try.Get(json.Marshal(plan))
	file := filepath.Join(try.Get(verilator.CacheDir("mutants")), fmt.Sprintf("%x.json", sha256.Sum256(data)))
	try.OK(campaign.WriteFile(file, data, 0o666)) // whole: another run may be reading it
	return string(try.Get(json.Marshal(append(slices.Clone(rewriter), file))))
}

func rewrite(ctx context.Context, d verilator.Rewritable, to string, plan map[string][]Mutant) {
	dir := try.Get(os.MkdirTemp("", "mutate"))
	defer os.RemoveAll(dir)
	gather(dir, d)
	try.Get(yosys(ctx, dir, elaborate(d)+"write_json net.json\nwrite_rtlil net.il\n"))
	net := readNetlist(filepath.Join(dir, "net.json"))
	script := "read_rtlil net.il\n"
	variants := map[string][]string{} // names in the netlist, by the name in the source
	for _, name := range slices.Sorted(maps.Keys(net.Modules)) {
		m := net.Modules[name]
		mutants := plan[m.base(name)]
		if len(mutants) == 0 {
			continue
		}
		variants[m.base(name)] = append(variants[m.base(name)], name)
		script += fmt.Sprintf("mutate -ctrl %s %d 0 -mode none -module %s\n", selector, selectorWidth, name) // so that each has the port
		cells := m.cells(m.base(name))
		for _, mutant := range mutants {
			if cell, ok := cells[mutant.Cell]; ok && m.possible(mutant, cell) {
				script += mutant.command(name, cell) + "\n"
				// The register's output is a new wire now. The value that it begins with stands with the old one.
				if v, ok := m.initial(cell, mutant.Port, mutant.Bit); ok {
					script += fmt.Sprintf("select -set new %s/%s %%co1:+[Q] w:$auto$mutate* %%i a:init %%d\nsetattr -set init 1'%c @new\n", name, cell, v)
				}
			}
		}
	}
	if len(variants) == 0 {
		return
	}
	try.Get(yosys(ctx, dir, script+"write_rtlil mutated.il\n"))
	text := try.Get(os.ReadFile(filepath.Join(dir, "mutated.il")))
	modules := splitModules(string(text))
	script = ""
	for base, names := range variants {
		var il strings.Builder
		for i, name := range names {
			il.WriteString(net.restore(modules[name], fmt.Sprintf("%s__%d", base, i)))
		}
		try.OK(os.WriteFile(filepath.Join(dir, base+".il"), []byte(il.String()), 0o666))
		// Verilator is at times wrong about vectors of which one part follows from another: each part becomes a net of its own.
		script += fmt.Sprintf("read_rtlil %s.il\nopt_clean\nsplitnets -driver\nwrite_verilog -noattr %[1]s.net\ndesign -reset\n", base)
	}
	try.Get(yosys(ctx, dir, script))
	for base, names := range variants {
		source := try.Get(os.ReadFile(filepath.Join(dir, base+".v")))
		body := try.Get(os.ReadFile(filepath.Join(dir, base+".net")))
		choice := net.choice(string(source), base, names)
		try.OK(os.WriteFile(filepath.Join(to, base+".v"), []byte(choice+string(body)), 0o666))
	}
}

// splitModules takes RTLIL apart into its modules, by name, without attributes and without "module NAME".
func splitModules(il string) map[string]string {
	modules := map[string]string{}
	for _, part := range strings.Split("\n"+il, "\nmodule ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		body, _, _ = strings.Cut(body, "\nend\n")
		modules[strings.TrimPrefix(name, `\`)] = body
	}
	return modules
}

// outSuffix makes the name of an output port of a variant of that of the net which drives it.
const outSuffix = "$out"

var output = regexp.MustCompile(`(?m)^  wire (.*)output (\d+ )(\S+)$`)

var instance = regexp.MustCompile(`(?m)^  cell (\$paramod\S+) (.*)$`)

var selected = fmt.Sprintf("    connect \\%s \\%[1]s\n", selector)

// restore makes RTLIL of a module's body that has this name, and instances of modules as the source has them, with parameters. These
// know by themselves which mutant to be. Outputs are driven by nets of their own, since ports cannot be split.
func (n netlist) restore(body, name string) string {
	body = strings.ReplaceAll(body, selected, "")
	body = output.ReplaceAllString(body, "  wire $1$3\n  wire ${1}output $2$3"+strings.ReplaceAll(outSuffix, "$", "$$")+
		"\n  connect $3"+strings.ReplaceAll(outSuffix, "$", "$$")+" $3")
	body = instance.ReplaceAllStringFunc(body, func(line string) string {
		f := instance.FindStringSubmatch(line)
		m := n.Modules[f[1]]
		s := fmt.Sprintf(`  cell \%s %s`, m.base(f[1]), f[2])
		for _, p := range slices.Sorted(maps.Keys(m.Parameters)) {
			s += fmt.Sprintf("\n    parameter \\%s %d'%s", p, len(m.Parameters[p]), m.Parameters[p])
		}
		return s
	})
	return fmt.Sprintf("module \\%s\n%s\nend\n", name, body)
}

// choice writes the module of the source as one that is made of the variant for its parameters.
func (n netlist) choice(source, base string, names []string) string {
	head := header(source, base)
	var s strings.Builder
	fmt.Fprintf(&s, "%s\n    "+selectorText+"\n    generate\n", head, selectorWidth-1)
	for i, name := range names {
		m := n.Modules[name]
		condition := "1"
		for _, p := range slices.Sorted(maps.Keys(m.Parameters)) {
			condition += fmt.Sprintf(" && %s == %d'b%s", p, len(m.Parameters[p]), m.Parameters[p])
		}
		fmt.Fprintf(&s, "        if (%s) begin : g_%d\n            %s__%[2]d u (", condition, i, base)
		for _, port := range slices.Sorted(maps.Keys(m.Ports)) {
			name := port
			if m.Ports[port].Direction == "output" {
				name += outSuffix
			}
			fmt.Fprintf(&s, ".%s(%s), ", name, port)
		}
		fmt.Fprintf(&s, ".%s(%[1]s));\n        end else\n", selector)
	}
	fmt.Fprintf(&s, "            error_no_mutants_for_these_parameters u ();\n    endgenerate\nendmodule\n")
	return s.String()
}

var outputReg = regexp.MustCompile(`\boutput\s+reg\b([^,;)=/]*)(=[^,;)/]*)?`)

// selectorText declares what tells a module the mutant to be; its index is that of the highest bit.
var selectorText = strings.NewReplacer("NAME", selector, "VAR", MutantVar).Replace(
	`reg [%d:0] NAME; initial NAME = $c32("(std::getenv(\"VAR\") ? std::atoi(std::getenv(\"VAR\")) : 0)");`)

// header returns the source up to the end of the module's list of ports, whose outputs are nets.
func header(source, module string) string {
	return outputReg.ReplaceAllString(source[:headerEnd(source, module)], "output wire$1")
}

// headerEnd returns where in the source the module's list of ports ends.
func headerEnd(source, module string) int {
	start := regexp.MustCompile(`(?m)^module\s+` + module + `\b`).FindStringIndex(source)
	if start == nil {
		try.Failf("mutate: there is no module %s in its file", module)
	}
	depth := 0
	for i := start[1]; i < len(source); i++ {
		switch {
		case strings.HasPrefix(source[i:], "//"):
			if i += strings.IndexByte(source[i:], '\n'); source[i] != '\n' {
				try.Failf("mutate: module %s does not end", module)
			}
		case source[i] == '(':
			depth++
		case source[i] == ')':
			depth--
		case source[i] == ';' && depth == 0:
			return i + 1
		}
	}
	try.Failf("mutate: the ports of module %s do not end", module)
	return 0
}
