package verilator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
)

// publicFile is the name of the configuration that tells Verilator what to keep.
const publicFile = "public.vlt"

// matches compiles a pattern of Design.Public: * and ? within a name, ** over any number of levels.
func matches(pattern string) *regexp.Regexp {
	text := strings.NewReplacer(`\*\*\.`, `(?:.*\.)?`, `\*\*`, `.*`, `\*`, `[^.]*`, `\?`, `[^.]`).Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("^" + text + "$")
}

// wildcard tells whether a pattern may mean several names.
func wildcard(pattern string) bool { return strings.ContainsAny(pattern, "*?") }

// chosen is what patterns of a Design mean.
type chosen struct {
	public, forceable map[string]bool // by path
	named             map[string]bool // those that a pattern without wildcards names
	outputs           map[string]bool // ports that patterns of Public mean
	scopes            []Scope
}

// configure writes the configuration for a design that has signals to be kept, and returns which; nil when there are none.
func (s *support) configure(ctx context.Context, d *Design, dir, root string) *chosen {
	if len(d.Public) == 0 && len(d.Forceable) == 0 {
		return nil
	}
	modules := s.elaborate(ctx, d, dir, root)
	var ports []string
	for _, n := range topOf(modules, d.Top).items {
		if n.port {
			ports = append(ports, unescape(n.origin))
		}
	}
	c := d.choose(scopes(modules, d.Top), ports)
	if len(d.Forceable) > 0 && s.tools.atLeast(5, 33) {
		try.Failf("%w: design %s: Design.Forceable needs Verilator 5.002 to 5.032, and this is %d.%03d: later ones generate C++ that does not compile where a module "+
			"has several instances; build with an older one first in PATH", ErrTool, d.Top, s.tools.major, s.tools.minor)
	}
	try.OK(os.WriteFile(filepath.Join(dir, publicFile), []byte(c.configuration()), 0o666))
	return c
}

// choose finds the signals that Design.Public and Design.Forceable name.
func (d *Design) choose(all []Scope, ports []string) *chosen {
	c := &chosen{public: map[string]bool{}, forceable: map[string]bool{}, named: map[string]bool{}, outputs: map[string]bool{}, scopes: all}
	var paths []string
	for _, s := range all {
		for _, name := range s.Names {
			if s.Path != "" || !slices.Contains(ports, name) {
				paths = append(paths, s.path(name))
			}
		}
	}
	for _, list := range []struct {
		field    string
		patterns []string
		found    map[string]bool
	}{{"Public", d.Public, c.public}, {"Forceable", d.Forceable, c.forceable}} {
		for _, pattern := range list.patterns {
			found, is := false, matches(pattern)
			for _, path := range paths {
				if is.MatchString(path) {
					found, list.found[path], c.public[path] = true, true, true
					if path == pattern {
						c.named[path] = true
					}
				}
			}
			port := slices.ContainsFunc(ports, is.MatchString)
			for _, name := range ports {
				c.outputs[name] = c.outputs[name] || list.field == "Public" && is.MatchString(name)
			}
			if port && list.field == "Forceable" && !wildcard(pattern) {
				try.Failf("%w: design %s: port %s cannot be forced: an input has the value that the bench sets, and for an output force the signal inside that drives it",
					ErrPort, d.Top, pattern)
			}
			if !found && !port {
				try.Failf("%w: design %s: Design.%s %q matches nothing%s", ErrPort, d.Top, list.field, pattern, hint(pattern, paths, all))
			}
		}
	}
	return c
}

// hint says what may have been meant.
func hint(pattern string, paths []string, all []Scope) string {
	scope, known := "", map[string]Scope{}
	var places []string
	for _, s := range all {
		known[s.Path] = s
		places = append(places, s.Path)
	}
	if _, is := known[pattern]; is {
		return fmt.Sprintf(": it is a scope: say %q for what is in it, %q for what is below it too", pattern+".*", pattern+".**")
	}
	if at := strings.LastIndex(pattern, "."); at >= 0 {
		scope = pattern[:at]
	}
	s, is := known[scope]
	text := nearest.Hint(pattern, paths)
	if wildcard(pattern) {
		text = nearest.Hint(scope, places)
	}
	switch {
	case text != "" && !(is && wildcard(pattern)):
		return text
	case is:
		return fmt.Sprintf("; %s has %s", scopeName(s), list(s.Names))
	}
	if len(places) == 1 {
		return "; the design has no instances"
	}
	return "; scopes are " + list(places[1:])
}

func scopeName(s Scope) string {
	if s.Path == "" {
		return s.Module
	}
	return s.Path
}

// list enumerates the first names.
func list(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// configuration is what Verilator is told of them. It knows modules, not instances: what is chosen in one is kept in all.
func (c *chosen) configuration() string {
	lines := map[string]bool{}
	for _, s := range c.scopes {
		for i, name := range s.Names {
			path := s.path(name)
			if c.public[path] {
				lines[fmt.Sprintf("public_flat_rd -module %q -var %q\n", s.Module, s.vars[i])] = true
			}
			if c.forceable[path] {
				lines[fmt.Sprintf("forceable -module %q -var %q\n", s.Module, s.vars[i])] = true
				if s.ports[i] { // or the inside would read what is outside
					lines[fmt.Sprintf("no_inline -module %q\n", s.Module)] = true
				}
			}
		}
	}
	sorted := make([]string, 0, len(lines))
	for line := range lines {
		sorted = append(sorted, line)
	}
	slices.Sort(sorted)
	return "`verilator_config\n" + strings.Join(sorted, "")
}

var (
	scopeMember = regexp.MustCompile(`__Vscopep?_(\w+?)(?:\.|->)(?:varInsert|forceableVarInsert)\((?:__Vfinal,)?\s*"((?:[^"\\]|\\.)*)",\s*&\(([\w.]+)\), false,\s*VLVT_\w+,\s*([\w|]+),(.*)\);`)
	scopePath   = regexp.MustCompile(`__Vscope_(\w+)\.configure\(this,\s*name\(\),\s*"([^"]*)"|__Vscopep_(\w+) = new VerilatedScope\{[^"]*"([^"]*)"`)
	moduleOf    = regexp.MustCompile(`(?m)^\s*(Vmodel\w+)\s+(TOP\w*);`)
	bounds      = regexp.MustCompile(`,(-?\d+),(-?\d+)`)
)

// findPublic finds chosen signals in the code that Verilator generated in dir.
func (d *Design) findPublic(dir, root string, c *chosen) []Port {
	read := func(pattern string) (text string) {
		for _, name := range try.Get(filepath.Glob(filepath.Join(dir, pattern))) {
			text += string(try.Get(os.ReadFile(name)))
		}
		return text
	}
	code, classes := read("Vmodel__Syms*.cpp"), map[string]string{}
	for _, m := range moduleOf.FindAllStringSubmatch(read("Vmodel__Syms.h"), -1) {
		classes[m[2]] = read(m[1] + ".h")
	}
	paths := map[string]string{}
	for _, m := range scopePath.FindAllStringSubmatch(code, -1) {
		paths[m[1]+m[3]] = m[2] + m[4]
	}
	kept := map[string]bool{}
	var found []Port
	for _, m := range scopeMember.FindAllStringSubmatch(code, -1) {
		path, known := paths[m[1]]
		path, _ = strings.CutPrefix(path, root)
		path, _ = strings.CutPrefix(path, ".")
		name := Scope{Path: path}.path(strings.Trim(m[2], `\ `))
		object, member, _ := strings.Cut(m[3], ".")
		if !known || !c.public[name] || kept[name] {
			continue
		}
		p, ok := memberOf(classes[object], member)
		if !ok {
			if c.named[name] {
				try.Failf("%w: design %s: Design.Public %q has a type that cannot be bound: only vectors, arrays of them and real numbers can", ErrPort, d.Top, name)
			}
			continue
		}
		kept[name] = true
		p.Name, p.Direction, p.cppRef, p.First = name, Inside, "vlSymsp->"+m[3], first(m[5], len(p.Dims))
		p.Forceable = c.forceable[name]
		if p.Forceable && (len(p.Dims) > 0 || p.Real) {
			if c.named[name] {
				try.Failf("%w: design %s: Design.Forceable %q is %s: only vectors can be forced", ErrPort, d.Top, name, p)
			}
			p.Forceable = false
		}
		found = append(found, p)
	}
	for name := range c.named {
		if !kept[name] {
			try.Failf("%w: design %s: Verilator has not kept %q as it is: it is no variable or net, as a genvar is none, or was split up; keep a copy in one of its own, "+
				"`wire copy = …;`, and name that", ErrPort, d.Top, name)
		}
	}
	slices.SortFunc(found, func(a, b Port) int { return strings.Compare(a.Name, b.Name) })
	return found
}

var (
	memberSyntax = `(?m)^\s*((?:VlUnpacked<)*)(?:(?:CData|SData|IData|QData|VlWide<\d+>)/\*(\d+):0\*/|(double))((?:, \d+>)*) NAME;`
	macroSyntax  = `VL_(?:IN|OUT|INOUT)(?:8|16|64|W)?\(NAME((?:\[\d+\])*),(-?\d+),(-?\d+)(?:,\d+)?\);`
)

// memberOf finds out about a member of a generated class from its declaration.
func memberOf(class, member string) (p Port, ok bool) {
	p.Elems = 1
	if m := regexp.MustCompile(strings.Replace(memberSyntax, "NAME", regexp.QuoteMeta(member), 1)).FindStringSubmatch(class); m != nil {
		high, _ := strconv.Atoi(m[2])
		if p.Width, p.Real = high+1, m[3] != ""; p.Real {
			p.Width = 64
		}
		for _, n := range portElement.FindAllString(m[4], -1) {
			k, _ := strconv.Atoi(n)
			p.Dims = append([]int{k}, p.Dims...)
			p.Elems *= k
		}
		return p, true
	}
	if m := regexp.MustCompile(strings.Replace(macroSyntax, "NAME", regexp.QuoteMeta(member), 1)).FindStringSubmatch(class); m != nil {
		p.setShape(m[1], m[2], m[3])
		return p, true
	}
	return p, false
}

// first is the lowest index of an array's outermost dimension, as it is declared. Later versions of Verilator list dimensions with two counts before.
func first(text string, dims int) int {
	all := bounds.FindAllStringSubmatch(text, -1)
	if dims == 0 || len(all) < dims {
		return 0
	}
	at := len(all) - dims
	if strings.Count(strings.TrimSpace(strings.SplitN(text, " ,", 2)[0]), ",") > 0 {
		at = 0
	}
	left, _ := strconv.Atoi(all[at][1])
	right, _ := strconv.Atoi(all[at][2])
	return min(left, right)
}

var (
	function = regexp.MustCompile(`(?ms)^(?:\w+(?:\(.*?\))? )*?void (\w+)\([^)]*\) \{\n(.*?)^\}`)
	calls    = regexp.MustCompile(`\b(Vmodel\w+)\(`)
	assigned = regexp.MustCompile(`(?:vlSelf(?:->|Ref\.)|vlSymsp->TOP\w*\.)(\w+)(?:\[[^\n]*?\])*\s*=(?:\s*vlSelf(?:->|Ref\.)(\w+);|[^=])|\bVL_\w+\((?:\d+,)*\s*(?:\(?vlSelf(?:->|Ref\.)|vlSymsp->TOP\w*\.)(\w+)`)
)

// followers are the members that combinational logic assigns, without their classes: what settling a model runs. Those that it only copies from another have that one's
// name, the others "".
func followers(code string) map[string]string {
	bodies, found, seen := map[string]string{}, map[string]string{}, map[string]bool{}
	var next []string
	for _, m := range function.FindAllStringSubmatch(code, -1) {
		bodies[m[1]] += m[2]
		if strings.HasSuffix(m[1], "___eval_stl") {
			next = append(next, m[1])
		}
	}
	for len(next) > 0 {
		name := next[0]
		if next = next[1:]; seen[name] {
			continue
		}
		seen[name] = true
		for _, m := range assigned.FindAllStringSubmatch(bodies[name], -1) {
			member, from := m[1]+m[3], m[2]
			if _, again := found[member]; again || !strings.HasPrefix(name, "Vmodel___024root___") {
				from = ""
			}
			found[member] = from
		}
		for _, m := range calls.FindAllStringSubmatch(bodies[name], -1) {
			next = append(next, m[1])
		}
	}
	return found
}

// follow finds out which signals follow from others. The output of an instance may be a copy of what Verilator has made one with a net outside: then that one is it.
func (d *Design) follow(dir string, ports []Port) {
	code, root := "", string(try.Get(os.ReadFile(filepath.Join(dir, "Vmodel___024root.h"))))
	for _, f := range try.Get(filepath.Glob(filepath.Join(dir, "Vmodel*.cpp"))) {
		code += string(try.Get(os.ReadFile(f)))
	}
	follows := followers(code)
	inputs := map[string]bool{}
	for _, p := range ports {
		inputs[p.cppRef] = p.Direction == In
	}
	for i := range ports {
		p := &ports[i]
		for p.Direction == Inside && !p.Forceable {
			from := follows[strings.TrimPrefix(p.cppRef, "vlSymsp->TOP.")]
			q, ok := memberOf(root, from)
			if from == "" || inputs[from] || !ok || q.Width != p.Width || q.Elems != p.Elems || q.Real != p.Real {
				break
			}
			p.cppRef = "vlSymsp->TOP." + from
		}
		_, p.Follows = follows[p.cppRef[strings.LastIndex(p.cppRef, ".")+1:]]
		p.Follows = p.Follows && p.Direction != In
	}
}
