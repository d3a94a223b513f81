package verilator

import (
	"context"
	"encoding/xml"
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

// Describe returns what a design's top module is from outside, without compiling it. Errors are those of Build. A Verilator that writes no XML
// (--xml-only) leaves Signed and Params empty.
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
		try.OK(toolError(ctx, d.Top, out, err))
		i = &Interface{Ports: s.ports(ctx, &d, dir, root)}
		tree := filepath.Join(dir, "tree.xml")
		args := append([]string{"--xml-only", "--xml-output", tree, "--Mdir", dir}, d.buildArguments()[1:]...)
		if _, err := command(ctx, root, s.tools.verilator, args...); err == nil {
			i.readTree(d.Top, try.Get(os.ReadFile(tree)))
		}
		try.OK(ctx.Err())
	})
	return i, err
}

// readTree takes signs and parameters from the tree that Verilator writes.
func (i *Interface) readTree(top string, text []byte) {
	type dataType struct {
		ID     string `xml:"id,attr"`
		Sub    string `xml:"sub_dtype_id,attr"`
		Signed bool   `xml:"signed,attr"`
	}
	var tree struct {
		Modules []struct {
			Name string `xml:"origName,attr"`
			Vars []struct {
				Name  string `xml:"origName,attr"`
				Type  string `xml:"dtype_id,attr"`
				Dir   string `xml:"dir,attr"`
				Param bool   `xml:"param,attr"`
				Const struct {
					Value string `xml:"name,attr"`
				} `xml:"const"`
			} `xml:"var"`
		} `xml:"netlist>module"`
		Types struct {
			All []dataType `xml:",any"`
		} `xml:"netlist>typetable"`
	}
	try.Wrap(xml.Unmarshal(text, &tree), "verilator: the tree of %s cannot be read", top)
	types := map[string]dataType{}
	for _, t := range tree.Types.All {
		types[t.ID] = t
	}
	for _, m := range tree.Modules {
		if m.Name != top {
			continue
		}
		place := map[string]int{}
		for at, v := range m.Vars {
			place[v.Name] = at
			t := types[v.Type]
			for !t.Signed && t.Sub != "" {
				t = types[t.Sub]
			}
			switch isPort := func(p Port) bool { return p.Name == v.Name && !p.Real }; {
			case v.Param:
				value := v.Const.Value
				if t.Signed {
					value = strings.Replace(value, "'h", "'sh", 1)
				}
				i.Params = append(i.Params, Param{v.Name, value})
			case v.Dir != "" && t.Signed && slices.ContainsFunc(i.Ports, isPort):
				i.Signed = append(i.Signed, v.Name)
			}
		}
		slices.SortStableFunc(i.Ports, func(a, b Port) int { return place[a.Name] - place[b.Name] })
		return
	}
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
