package verilator

import (
	"context"
	"encoding/json"
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
		try.OK(toolError(ctx, d.Top, out, err))
		i = &Interface{Ports: s.ports(ctx, &d, dir, root)}
		read := xmlVars
		text, err := s.tree(ctx, &d, dir, root, "xml") // 5.032 has both, and signs in this one only
		if err != nil {
			read, text = jsonVars, try.Get(s.tree(ctx, &d, dir, root, "json"))
		}
		vars, err := read(d.Top, text)
		try.Wrap(err, "verilator: the tree of %s cannot be read", d.Top)
		i.take(vars)
	})
	return i, err
}

// A topVar is a variable of the top module in the tree that Verilator writes.
type topVar struct {
	name          string
	value         string // of a parameter
	param, signed bool
	port          bool
}

func xmlVars(top string, text []byte) (vars []topVar, err error) {
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
	if err := xml.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	types := map[string]dataType{}
	for _, t := range tree.Types.All {
		types[t.ID] = t
	}
	for _, m := range tree.Modules {
		if m.Name != top {
			continue
		}
		for _, v := range m.Vars {
			t := types[v.Type]
			for !t.Signed && t.Sub != "" {
				t = types[t.Sub]
			}
			vars = append(vars, topVar{v.Name, v.Const.Value, v.Param, t.Signed, v.Dir != ""})
		}
		break
	}
	return vars, nil
}

// jsonVars reads the tree of 5.048, which marks an array of signed elements itself.
func jsonVars(top string, text []byte) (vars []topVar, err error) {
	var tree jsonNode
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	signed := map[string]bool{}
	for _, table := range tree.Miscsp {
		for _, t := range table.Typesp {
			signed[t.Addr] = t.Signed
		}
	}
	for _, m := range tree.Modulesp {
		if m.OrigName != top {
			continue
		}
		for _, v := range m.Stmtsp {
			if v.Type != "VAR" {
				continue
			}
			value := ""
			if len(v.Valuep) > 0 {
				value = v.Valuep[0].Name
			}
			vars = append(vars, topVar{v.OrigName, value, v.IsParam, signed[v.Dtypep], v.Direction != "NONE"})
		}
		break
	}
	return vars, nil
}

// take sets signs and parameters, and puts ports in the order of the declaration.
func (i *Interface) take(vars []topVar) {
	place := map[string]int{}
	for at, v := range vars {
		place[v.name] = at
		switch isPort := func(p Port) bool { return p.Name == v.name && !p.Real }; {
		case v.param:
			if v.signed && !strings.Contains(v.value, "'s") {
				v.value = strings.Replace(v.value, "'h", "'sh", 1)
			}
			i.Params = append(i.Params, Param{v.name, v.value})
		case v.port && v.signed && slices.ContainsFunc(i.Ports, isPort):
			i.Signed = append(i.Signed, v.name)
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
