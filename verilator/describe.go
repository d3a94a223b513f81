package verilator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
)

// Interface is a design's top module as it is seen from outside.
type Interface struct {
	Ports  []Port   // in the order of the declaration, where Verilator tells it
	Signed []string // names of the ports whose numbers have a sign
	Params []Param
}

// Param is a parameter of the top module, with its value as Verilator writes it, such as 32'sh8.
type Param struct{ Name, Value string }

// Describe returns what a design's top module is from outside, without compiling it. Errors are those of Build.
func Describe(ctx context.Context, d Design) (i *Interface, err error) {
	err = try.Run(func() {
		try.OK(d.check())
		s := openSupport(ctx)
		dir := try.Get(os.MkdirTemp("", "describe-"))
		defer os.RemoveAll(dir)
		root := ""
		if d.FS != nil {
			root = filepath.Join(dir, "root")
			try.OK(d.extract(root))
		}
		out, err := command(ctx, root, s.tools.verilator, append([]string{"--Mdir", dir}, d.buildArguments()...)...)
		try.OK(d.toolError(ctx, out, err))
		i = &Interface{Ports: s.ports(ctx, &d, dir, root)}
		i.take(topOf(s.elaborate(ctx, &d, dir, root), d.Top).items)
	})
	return i, err
}

// take sets signs and parameters, and puts ports in the order of the declaration.
func (i *Interface) take(items []node) {
	place := map[string]int{}
	for at, v := range items {
		place[v.origin] = at
		switch isPort := func(p Port) bool { return p.Name == v.origin && !p.Real }; {
		case v.param:
			if v.signed && !strings.Contains(v.value, "'s") {
				v.value = strings.Replace(v.value, "'h", "'sh", 1)
			}
			i.Params = append(i.Params, Param{v.origin, v.value})
		case v.port && v.signed && slices.ContainsFunc(i.Ports, isPort):
			i.Signed = append(i.Signed, v.origin)
		}
	}
	slices.SortStableFunc(i.Ports, func(a, b Port) int { return place[a.Name] - place[b.Name] })
}

// Shape is a port's direction, width and number of elements, as the tag shape of a generated struct has it: "input 8", "output 4x2" for two
// elements of four bits, "input real".
func (p Port) Shape() string {
	switch {
	case p.Real:
		return p.Direction.String() + " real"
	case p.Elems > 1:
		return fmt.Sprintf("%s %dx%d", p.Direction, p.Width, p.Elems)
	}
	return fmt.Sprintf("%s %d", p.Direction, p.Width)
}

// GoType is the type of a field for the port; for a single bit *bool.
func (p Port) GoType() string {
	if !p.Real && p.Width == 1 && p.Elems == 1 {
		return "*bool"
	}
	return goType(p)
}
