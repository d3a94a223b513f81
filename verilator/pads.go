package verilator

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
)

// A simulation of two states has no high impedance, so a design with inout ports gets a wrapper, in which the outside drives their nets weakly: "pad" is what the
// outside puts on the wire, "pad__out" what is on it, "pad__en" which bits the design drives.
const (
	padsTop  = "lmmc_pads"
	padsFile = "lmmc_pads.sv"
)

// wrapped returns the design around which a wrapper is the top module; nil when it has no inout ports. Verilator has generated the bare design in dir. The wrapper
// is put into a folder whose name does not change: the code that is generated of it has that in it.
func (d *Design) wrapped(dir, folder string) *Design {
	header := string(try.Get(os.ReadFile(filepath.Join(dir, "Vmodel.h"))))
	ports := try.Get(d.parsePorts(header))
	if !slices.ContainsFunc(ports, func(p Port) bool { return p.Direction == inout }) {
		return nil
	}
	for _, p := range ports {
		if p.Elems > 1 || p.Real || !identifier.MatchString(p.Name) {
			try.Failf("%w: design %s has inout ports and %s, which the wrapper around them does not pass on: %s", ErrPort, d.Top, p, wrap)
		}
	}
	try.OK(os.WriteFile(filepath.Join(folder, padsFile), []byte(d.padsText(ports)), 0o666))
	config := fmt.Sprintf("`verilator_config\nno_inline -module %q\n", d.Top)
	try.OK(os.WriteFile(filepath.Join(folder, "pads.vlt"), []byte(config), 0o666))
	for _, f := range try.Get(filepath.Glob(filepath.Join(dir, "Vmodel*"))) {
		try.OK(os.Remove(f))
	}
	w := *d
	w.Top, w.Params = padsTop, nil
	w.Sources = append(slices.Clone(d.Sources), filepath.Join(folder, padsFile), filepath.Join(folder, "pads.vlt"))
	w.Flags = append(slices.Clone(d.Flags), "-fno-gate", "-fno-dfg") // which pass over the enables
	return &w
}

// padsText is the wrapper.
func (d *Design) padsText(ports []Port) string {
	var declared, connected, params []string
	var body strings.Builder
	for _, p := range ports {
		bits, net := fmt.Sprintf("[%d:0]", p.Width-1), p.Name
		switch p.Direction {
		case In, Out:
			declared = append(declared, fmt.Sprintf("%s wire %s %s", p.Direction, bits, p.Name))
		default:
			net = p.Name + "__net"
			declared = append(declared, fmt.Sprintf("input wire %s %s", bits, p.Name), fmt.Sprintf("output wire %s %s__out", bits, p.Name))
			fmt.Fprintf(&body, "  wire %s %s;\n  assign (weak0, weak1) %s = %s;\n  assign %s__out = %s;\n", bits, net, net, p.Name, p.Name, net)
		}
		connected = append(connected, fmt.Sprintf(".%s(%s)", p.Name, net))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		params = append(params, fmt.Sprintf(".%s(%s)", name, d.Params[name]))
	}
	parameters := ""
	if params != nil {
		parameters = "#(" + strings.Join(params, ", ") + ") "
	}
	return fmt.Sprintf("module %s (\n  %s\n);\n%s  %s %s%s (\n    %s\n  );\nendmodule\n", padsTop, strings.Join(declared, ",\n  "), &body, d.Top, parameters,
		d.Top, strings.Join(connected, ",\n    "))
}

// padEnables lists the enables of inout ports, which Verilator keeps in the class of the module that has them.
func padEnables(d *Design, dir string, ports []Port) (enables []Port) {
	cpp := strings.ReplaceAll(d.Top, "__", "___05F")
	object := "TOP__" + padsTop + "__DOT__" + cpp
	class := ""
	for _, m := range moduleOf.FindAllStringSubmatch(string(try.Get(os.ReadFile(filepath.Join(dir, "Vmodel__Syms.h")))), -1) {
		if m[2] == object {
			class = string(try.Get(os.ReadFile(filepath.Join(dir, m[1]+".h"))))
		}
	}
	for _, p := range ports {
		pad, is := strings.CutSuffix(p.Name, "__out")
		if !is || p.Direction != Out || !slices.ContainsFunc(ports, func(q Port) bool { return q.Name == pad && q.Direction == In }) {
			continue
		}
		member := strings.ReplaceAll(pad, "__", "___05F") + "__en"
		if e, ok := memberOf(class, member); ok {
			e.Name, e.Direction, e.cppRef = pad+"__en", Out, "vlSymsp->"+object+"."+member
			enables = append(enables, e)
		}
	}
	return enables
}
