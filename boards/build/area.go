package build

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/testbench/synth"
)

// Area is the resources that a netlist, or a part of it, takes.
type Area struct {
	LUTs      int `json:"luts"`
	FlipFlops int `json:"flip_flops"`
	Carries   int `json:"carries"`
	Memories  int `json:"memories"` // blocks
}

// kinds is which field of Area cells count in, by how their names begin; others, such as a PLL, in none.
var kinds = []struct {
	prefix string
	field  func(*Area) *int
}{
	{"SB_LUT4", func(a *Area) *int { return &a.LUTs }}, {"LUT4", func(a *Area) *int { return &a.LUTs }},
	{"SB_DFF", func(a *Area) *int { return &a.FlipFlops }}, {"TRELLIS_FF", func(a *Area) *int { return &a.FlipFlops }},
	{"SB_CARRY", func(a *Area) *int { return &a.Carries }}, {"CCU2C", func(a *Area) *int { return &a.Carries }},
	{"SB_RAM40", func(a *Area) *int { return &a.Memories }}, {"DP16KD", func(a *Area) *int { return &a.Memories }},
}

func (a *Area) count(kind string, n int) {
	for _, k := range kinds {
		if strings.HasPrefix(kind, k.prefix) {
			*k.field(a) += n
			return
		}
	}
}

// Area returns the area of the whole netlist.
func (n *Netlist) Area() Area {
	var a Area
	for kind, cells := range n.Cells {
		a.count(kind, cells)
	}
	return a
}

// Part is an instance of a module in a netlist, without those inside it that are parts themselves.
type Part struct {
	Name string `json:"name"` // instances from the top to it, "" for the top module
	Area
}

// Parts counts a netlist by instances, down to depth of them. A cell belongs to where its name says: synthesis calls a LUT by a net at it, so
// that one at a border may count on either side.
func (n *Netlist) Parts(depth int) ([]Part, error) {
	cells, err := synth.CellsByInstance(filepath.Join(n.dir, netlistJSON), boards.Top, depth)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		p := Part{Name: name}
		for kind, n := range cells[name] {
			p.count(kind, n)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// Variant is a configuration with one parameter changed.
type Variant struct {
	Change string `json:"change"` // "" for the configuration itself
	Area
}

// Costs synthesises a configuration, and then variants with one parameter changed each: what each costs. A variant that exceeds the FPGA
// is synthesised all the same.
func Costs(ctx context.Context, c *boards.Config, progress func(done, total int)) ([]Variant, error) {
	over := cmp.Or(c.Oversample, c.Params().Oversample)
	divisor := c.Divisor()
	changes := []struct {
		name string
		make func(*boards.Config)
	}{
		{"", func(*boards.Config) {}},
		{fmt.Sprintf("links %d -> %d", c.Links, c.Links+1), func(c *boards.Config) { c.Links++ }},
		{fmt.Sprintf("frames %d -> %d", c.Frames, 2*c.Frames), func(c *boards.Config) { c.Frames *= 2 }},
		{fmt.Sprintf("page %d -> %d", c.Page, c.Page/2), func(c *boards.Config) { c.Page /= 2 }},
		{fmt.Sprintf("replay %d -> %d", c.Replay, 2*c.Replay), func(c *boards.Config) { c.Replay *= 2 }},
		{fmt.Sprintf("rx %d -> %d", c.Rx, 2*c.Rx), func(c *boards.Config) { c.Rx *= 2 }},
		{fmt.Sprintf("oversample %d -> %d", over, over+3), func(c *boards.Config) { c.Oversample = over + 3 }},
		{fmt.Sprintf("baud %d -> %d", c.Baud, c.Baud/4), func(c *boards.Config) { c.Baud = int(c.MHz * 1e6 / float64(4*divisor)) }},
		{fmt.Sprintf("loop %t -> %t: without serial PHYs", c.Loop, !c.Loop), func(c *boards.Config) { c.Loop = !c.Loop }},
		{fmt.Sprintf("small %t -> %t", c.Small, !c.Small), func(c *boards.Config) { c.Small = !c.Small }},
	}
	var all []Variant
	for i, change := range changes {
		progress(i, len(changes))
		varied := *c
		change.make(&varied)
		n, err := Synthesise(ctx, &varied)
		if err != nil {
			return nil, err
		}
		all = append(all, Variant{change.name, n.Area()})
	}
	return all, nil
}
