package mutate

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// library is a tree of modules, one a file, in folders below its root, each with its tests beside it.
type library struct {
	root    string
	files   map[string]string            // by module, relative to root
	folders []string                     // relative to root
	params  map[string]map[string]string // by module, see parametrise
}

func openLibrary(root string) *library {
	found := try.Get(filepath.Glob(filepath.Join(root, "*", "*.v")))
	l := &library{root: root, files: map[string]string{}}
	for _, path := range found {
		if strings.HasSuffix(path, ".formal.v") {
			continue
		}
		path := try.Get(filepath.Rel(root, path))
		l.files[strings.TrimSuffix(filepath.Base(path), ".v")] = filepath.ToSlash(path)
		if dir := filepath.Dir(path); !slices.Contains(l.folders, dir) {
			l.folders = append(l.folders, dir)
		}
	}
	if len(l.files) == 0 {
		try.Failf("mutate: no modules in folders of %s: go to the root of the checkout", root)
	}
	return l
}

// design is a module of the library by itself, with the parameters of which mutants are chosen.
func (l *library) design(module string) verilator.Rewritable {
	d := verilator.Rewritable{Top: module, Params: l.params[module], Sources: []string{filepath.Join(l.root, l.files[module])}, IncludeDirs: []string{l.root}}
	for _, dir := range l.folders {
		d.IncludeDirs = append(d.IncludeDirs, filepath.Join(l.root, dir))
	}
	return d
}

// parametrise chooses the parameters of modules that tests compile by themselves: those that make the largest netlist, which has the
// pins of the others too. A mutant of a pin that no test's design has would live for ever. The other modules keep their
// defaults.
func (l *library) parametrise(ctx context.Context, modules []string, checks []*check, jobs int) {
	l.params = map[string]map[string]string{}
	chosen := make([]map[string]string, len(modules))
	each(jobs, len(modules), func(i int) {
		sets := map[string]map[string]string{}
		for _, c := range checks {
			for _, b := range c.builds {
				if b.Top == modules[i] {
					sets[fmt.Sprint(b.Params)] = b.Params
				}
			}
		}
		most := -1
		for _, name := range slices.Sorted(maps.Keys(sets)) {
			n := l.pins(ctx, modules[i], sets[name])
			if n > most {
				most, chosen[i] = n, sets[name]
			}
		}
	})
	for i, name := range modules {
		l.params[name] = chosen[i]
	}
}

// pins counts the pins of all cells of a module.
func (l *library) pins(ctx context.Context, module string, params map[string]string) int {
	dir := try.Get(os.MkdirTemp("", "mutate"))
	defer os.RemoveAll(dir)
	with := *l
	with.params = map[string]map[string]string{module: params}
	net := with.elaborate(ctx, dir, module)
	n := 0
	for _, c := range net.Modules[module].Cells {
		for _, bits := range c.Connections {
			n += len(bits)
		}
	}
	return n
}

// leastPerModule is how many mutants of a module make compiling it worth while, when there are too few for all modules.
const leastPerModule = 8

// draw chooses the modules of which count mutants are drawn: all, or some when these are too many for the count.
func draw(modules []string, count int, seed uint64) (drawn []string) {
	rng := rand.New(rand.NewPCG(seed, 0x6d757461))
	order := rng.Perm(len(modules))
	if fit := max(1, count/leastPerModule); fit < len(order) {
		order = order[:fit]
	}
	slices.Sort(order)
	for _, i := range order {
		drawn = append(drawn, modules[i])
	}
	return drawn
}

// plan draws mutants: count in all, spread over the modules by the number of places in their source. The mutants of a module are drawn by
// Yosys' mutate, which covers its source evenly.
func (l *library) plan(ctx context.Context, modules []string, count int, seed uint64, jobs int) []Mutant {
	candidates := make([][]Mutant, len(modules))
	sizes := make([]int, len(modules))
	each(jobs, len(modules), func(i int) { candidates[i], sizes[i] = l.list(ctx, modules[i], count, seed) })
	// A few for each, and the rest one by one where the share is furthest behind the size.
	share := make([]int, len(modules))
	for left := count; left > 0; left-- {
		next := -1
		for i := range modules {
			behind := func(i int) float64 {
				if share[i] < min(3, count/len(modules)) {
					return float64(share[i]) / 1e9
				}
				return float64(share[i]) / float64(sizes[i])
			}
			if share[i] < len(candidates[i]) && (next < 0 || behind(i) < behind(next)) {
				next = i
			}
		}
		if next < 0 {
			break // that is all there are
		}
		share[next]++
	}
	var all []Mutant
	for i, n := range share {
		all = append(all, candidates[i][:n]...)
	}
	sortMutants(all)
	for i := range all {
		all[i].ID = i + 1
	}
	return all
}

var (
	rawSize  = regexp.MustCompile(`(?m)^Raw database size: (\d+)$`)
	listItem = regexp.MustCompile(`(?m)^mutate -mode (\w+) -module (\S+) -cell (\S+) -port (\S+) -portbit (\d+)(?: -ctrlbit (\d+))?`)
)

// list draws up to count mutants of a module, in the order in which they were drawn, and says how many places of the source have cells.
func (l *library) list(ctx context.Context, module string, count int, seed uint64) ([]Mutant, int) {
	dir := try.Get(os.MkdirTemp("", "mutate"))
	defer os.RemoveAll(dir)
	net := l.elaborate(ctx, dir, module)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, module)
	// More than count, since not all are of use. Pins that wreduce and opt_clean take away carry nothing. The netlist that is changed later is the one before.
	out := try.Get(yosys(ctx, dir, fmt.Sprintf("read_rtlil net.il\nwreduce -keepdc\nopt_clean\nmutate -list %d -seed %d -o list -module %s\n",
		count+count/2, h.Sum64()>>34, module)))
	text := try.Get(os.ReadFile(filepath.Join(dir, "list")))
	size := 0
	if f := rawSize.FindStringSubmatch(out); f != nil {
		size, _ = strconv.Atoi(f[1])
	}
	m := net.Modules[module]
	names := map[string]Cell{}
	for cell, name := range m.cells(module) {
		names[name] = cell
	}
	var found []Mutant
	items := listItem.FindAllStringSubmatch(string(text), -1)
	for _, f := range items {
		cell, ok := names[f[3]]
		if !ok || clocked(f[4]) {
			continue
		}
		mutant := Mutant{Module: module, Cell: cell, Line: line(m.Cells[f[3]].Attributes["src"], module), Port: f[4], Mode: f[1]}
		mutant.Bit, _ = strconv.Atoi(f[5])
		mutant.Control, _ = strconv.Atoi(f[6]) // 0 when there is none
		if !strings.HasPrefix(mutant.Mode, "cnot") {
			mutant.Control = 0
		}
		if m.possible(mutant, f[3]) {
			found = append(found, mutant)
		}
	}
	if len(items) == size { // all there are, in the order of the netlist
		rng := rand.New(rand.NewPCG(seed, h.Sum64()))
		rng.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	}
	seen := map[string]bool{}
	for cell := range m.cells(module) {
		seen[cell.Place+cell.Name] = true
	}
	return found, len(seen)
}

// find completes mutants of which only the names are known.
func (l *library) find(ctx context.Context, named []Mutant) []Mutant {
	found := slices.Clone(named)
	sortMutants(found)
	var m *module
	for i := range found {
		if i == 0 || found[i].Module != found[i-1].Module {
			dir := try.Get(os.MkdirTemp("", "mutate"))
			defer os.RemoveAll(dir)
			net := l.elaborate(ctx, dir, found[i].Module)
			m = net.Modules[found[i].Module]
		}
		cell, ok := m.cells(found[i].Module)[found[i].Cell]
		if !ok || !m.possible(found[i], cell) {
			try.Failf("%w: %s has no such cell or pin: %s", ErrOptions, l.files[found[i].Module], found[i].Name())
		}
		found[i].ID, found[i].Line = i+1, line(m.Cells[cell].Attributes["src"], found[i].Module)
	}
	return found
}

// elaborate gathers a module with its parts in dir and returns their netlist.
func (l *library) elaborate(ctx context.Context, dir, module string) netlist {
	d := l.design(module)
	gather(dir, d)
	try.Get(yosys(ctx, dir, elaborate(d)+"write_json net.json\nwrite_rtlil net.il\n"))
	return readNetlist(filepath.Join(dir, "net.json"))
}
