package verilator

import (
	"fmt"
	"strings"
)

// forceParts are what Verilator keeps of a forceable signal besides the value that logic drives.
var forceParts = []string{"", "__VforceEn", "__VforceVal"}

// forceStorage lists the parts of forceable signals as ports without names: driven value, enable, forced value.
func forceStorage(ports []Port) (parts []Port) {
	for _, p := range ports {
		for _, part := range forceParts {
			if p.Forceable {
				parts = append(parts, Port{Direction: Inside, Width: p.Width, Elems: 1, cppRef: p.cppRef + part})
			}
		}
	}
	return parts
}

// cppType is what Verilator keeps a vector in.
func (p Port) cppType() string {
	if p.Width > 64 {
		return fmt.Sprintf("VlWide<%d>", p.bytes()/4)
	}
	return map[int]string{1: "CData", 2: "SData", 4: "IData", 8: "QData"}[p.bytes()]
}

// shim generates what design.h leaves open: the table of ports, and what the design was built with. What a forceable signal shows, forced or not, has no storage
// that Verilator is sure to keep, so a copy is made of it after each evaluation: its mirror.
func shim(d *Design, ports []Port, class, code string) string {
	var b, fields, mirrors strings.Builder
	b.WriteString("#include \"abi.h\"\nstatic const lm_port lm_ports[] = {\n")
	for _, p := range ports {
		fmt.Fprintf(&b, "    {%q, %d, %d, %d, %d},\n", p.Name, p.Width, p.Direction, p.bytes(), p.Elems)
	}
	b.WriteString("    {\"\", 0, 0, 0, 0}};\nstruct lm_mirrors;\nstatic void lm_addresses(Vmodel& top, lm_mirrors& mirrors, void** memory);\n")
	var addresses strings.Builder
	for i, p := range ports {
		if !p.Forceable {
			fmt.Fprintf(&addresses, "    memory[%d] = &top.%s;\n", i, p.cppRef)
			continue
		}
		fmt.Fprintf(&fields, "    %s m%d;\n", p.cppType(), i)
		fmt.Fprintf(&addresses, "    memory[%d] = &mirrors.m%d;\n", i, i)
		at := ""
		if p.Width > 64 {
			at = "[i]"
			fmt.Fprintf(&mirrors, "    for (int i = 0; i < %d; ++i)", p.bytes()/4)
		}
		driven, enable, value := "top."+p.cppRef+forceParts[0]+at, "top."+p.cppRef+forceParts[1]+at, "top."+p.cppRef+forceParts[2]+at
		fmt.Fprintf(&mirrors, "    mirrors.m%d%s = (%s & ~%s) | (%s & %s);\n", i, at, driven, enable, value, enable)
	}
	fmt.Fprintf(&b, "struct lm_mirrors {\n%s};\nstatic void lm_addresses(Vmodel& top, lm_mirrors& mirrors, void** memory) {\n%s}\n", &fields, &addresses)
	if mirrors.Len() > 0 {
		fmt.Fprintf(&b, "#define LM_MIRROR\nstatic inline void lm_mirror(Vmodel& top, lm_mirrors& mirrors) {\n%s}\n", &mirrors)
	}
	const body = "Vmodel___024root___eval(&(vlSymsp->TOP))"
	if d.Timing {
		b.WriteString("#define LM_TIMING\n#define LM_EVAL(top) top.eval_step()\n")
	} else if !d.Trace && strings.Contains(class, body) {
		b.WriteString("#define LM_EVAL(top) Vmodel___024root___eval(&(top.vlSymsp->TOP))\n")
	} else if strings.Contains(class, body) && strings.Contains(class, "vlSymsp->__Vm_activity = true;") {
		b.WriteString("#define LM_EVAL(top) (top.vlSymsp->__Vm_activity = true, Vmodel___024root___eval(&(top.vlSymsp->TOP)))\n")
	} else {
		b.WriteString("#define LM_EVAL(top) top.eval_step()\n")
	}
	if i, level := silentClock(code, ports); i >= 0 && !d.Coverage && !d.Timing {
		fmt.Fprintf(&b, "#define LM_SILENT_CLOCK %d\n#define LM_LAST_LEVEL(top) top.vlSymsp->TOP.%s\n", i, level)
		if inputLogic(code) {
			b.WriteString("#define LM_INPUTS(root) root.__VicoTriggered" + inputTrigger(code) + "\n")
		}
		if direct(code) {
			b.WriteString("#define LM_DIRECT\n")
		}
	}
	for name, on := range map[string]bool{"LM_SAVE": d.Checkpoint, "LM_TRACE": d.Trace, "LM_COVERAGE": d.Coverage,
		"LM_SETTLE": strings.Contains(code, "___eval_settle("), "LM_ACTIVITY": strings.Contains(code, "->__Vm_traceActivity[") || strings.Contains(code, ".__Vm_traceActivity[")} {
		if on {
			b.WriteString("#define " + name + "\n")
		}
	}
	b.WriteString("#include \"design.h\"\n")
	return b.String()
}
