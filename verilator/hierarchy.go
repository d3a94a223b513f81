package verilator

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
)

// Scope is a module instance or a generate block of a design.
type Scope struct {
	// Path is its place below Top, as in "u_core.g_bank[0]"; "" is Top itself.
	Path string
	// Module is the name of the module that it is, or is in.
	Module string
	// Names are the variables and nets declared in it, public or not.
	Names []string

	vars  []string // the same as Verilator calls them
	ports []bool   // whether they are ports
}

// path is the place of one of its names.
func (s Scope) path(name string) string {
	if s.Path == "" {
		return name
	}
	return s.Path + "." + name
}

// node is a module, an instance, a generate block or a variable in the tree that Verilator writes when it has elaborated a design.
type node struct {
	kind    string // "module", "cell", "block", "var", or else of no interest
	name    string
	origin  string // the name in the Verilog
	module  string // of a cell
	id      string // of a module, as cells name it
	output  bool
	port    bool
	fixed   bool   // a parameter or genvar
	param   bool   // a parameter, and no localparam
	value   string // of it
	signed  bool
	integer bool
	items   []node
}

// elaborate asks Verilator for the modules of a design: in XML, or in JSON from 5.046 on, which has no XML any more. What 5.032 writes as JSON lacks signs.
func (s *support) elaborate(ctx context.Context, d *Design, dir, root string) []node {
	file, format, parse := filepath.Join(dir, "tree"), []string{"--xml-only", "--xml-output"}, parseXML
	if s.tools.atLeast(5, 46) {
		format, parse = []string{"--json-only", "--json-only-output"}, parseJSON
	}
	args := slices.Concat(format, []string{file, "--Mdir", dir, "-O0", "-fno-dfg"}, d.buildArguments()[1:]) // or wires are gone already
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--savable" })                         // not with --timing, which --json-only implies
	out, err := command(ctx, root, s.tools.verilator, args...)
	try.OK(d.toolError(ctx, out, err))
	nodes, err := parse(try.Get(os.ReadFile(file)))
	try.Wrap(err, "verilator: the tree of %s cannot be read", d.Top)
	return nodes
}

func topOf(modules []node, top string) node {
	for _, m := range modules {
		if m.origin == top {
			return m
		}
	}
	return node{}
}

// scopes lists the hierarchy below top, outermost first.
func scopes(modules []node, top string) (all []Scope) {
	byID := map[string]node{}
	for _, m := range modules {
		byID[m.id] = m
	}
	var walk func(path, module string, items []node)
	walk = func(path, module string, items []node) {
		at := len(all)
		all = append(all, Scope{Path: path, Module: module})
		for _, n := range items {
			name := unescape(n.origin)
			switch n.kind {
			case "var":
				if !n.fixed {
					all[at].Names, all[at].vars, all[at].ports = append(all[at].Names, name), append(all[at].vars, n.name), append(all[at].ports, n.port)
				}
			case "block":
				if len(n.items) > 0 {
					walk(Scope{Path: path}.path(name), module, n.items)
				}
			case "cell":
				if m, known := byID[n.module]; known {
					walk(Scope{Path: path}.path(name), m.origin, m.items)
				}
			}
		}
	}
	m := topOf(modules, top)
	walk("", m.origin, m.items)
	return all
}

// xmlNode takes an element with all that is in it.
type xmlNode struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Items   []xmlNode  `xml:",any"`
}

func (x xmlNode) attr(name string) string {
	i := slices.IndexFunc(x.Attrs, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return x.Attrs[i].Value
}

func parseXML(data []byte) ([]node, error) {
	var file struct {
		Netlist xmlNode `xml:"netlist"`
	}
	if err := xml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	types := map[string]xmlNode{}
	for _, x := range file.Netlist.Items {
		if x.XMLName.Local == "typetable" {
			for _, t := range x.Items {
				types[t.attr("id")] = t
			}
		}
	}
	var nodes []node
	for _, x := range file.Netlist.Items {
		used := map[string]bool{}
		x.refs(used)
		for _, n := range fromXML([]xmlNode{x}, types) {
			n.dropGenvars(used)
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// refs collects the variables that anything uses.
func (x xmlNode) refs(used map[string]bool) {
	if strings.HasSuffix(x.XMLName.Local, "varref") {
		used[x.attr("name")] = true
	}
	for _, item := range x.Items {
		item.refs(used)
	}
}

// dropGenvars removes them: in XML they are integers that nothing uses any more.
func (n *node) dropGenvars(used map[string]bool) {
	n.items = slices.DeleteFunc(n.items, func(v node) bool { return v.kind == "var" && v.integer && !v.fixed && !used[v.name] })
	for i := range n.items {
		n.items[i].dropGenvars(used)
	}
}

var xmlKinds = map[string]string{"module": "module", "iface": "module", "instance": "cell", "begin": "block", "var": "var"}

func fromXML(items []xmlNode, types map[string]xmlNode) (nodes []node) {
	for _, x := range items {
		n := node{kind: xmlKinds[x.XMLName.Local], name: x.attr("name"), origin: x.attr("origName"), module: x.attr("defName"), id: x.attr("name"),
			output: x.attr("dir") == "output", port: x.attr("dir") != "", fixed: x.attr("param") != "" || x.attr("localparam") != "", integer: x.attr("vartype") == "integer",
			param: x.attr("param") != ""}
		if n.kind == "" {
			continue
		}
		t := types[x.attr("dtype_id")]
		for t.attr("signed") == "" && t.attr("sub_dtype_id") != "" { // an array of signed elements
			t = types[t.attr("sub_dtype_id")]
		}
		n.signed = t.attr("signed") != ""
		if i := slices.IndexFunc(x.Items, func(v xmlNode) bool { return v.XMLName.Local == "const" }); i >= 0 {
			n.value = x.Items[i].attr("name")
		}
		if n.origin == "" {
			n.origin = n.name
		}
		n.items = fromXML(x.Items, types)
		nodes = append(nodes, n)
	}
	return nodes
}

type jsonNode struct {
	Type, Name, OrigName, Addr, Modp, Direction, VarType, Dtypep string
	IsParam, Signed                                              bool
	Modulesp, Stmtsp, Itemsp, Valuep, Miscsp, Typesp             []jsonNode
}

func parseJSON(data []byte) ([]node, error) {
	var file jsonNode
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	signed := map[string]bool{}
	for _, table := range file.Miscsp {
		for _, t := range table.Typesp {
			signed[t.Addr] = t.Signed
		}
	}
	return fromJSON(file.Modulesp, signed), nil
}

var jsonKinds = map[string]string{"MODULE": "module", "IFACE": "module", "CELL": "cell", "BEGIN": "block", "GENBLOCK": "block", "VAR": "var"}

func fromJSON(items []jsonNode, signed map[string]bool) (nodes []node) {
	for _, j := range items {
		n := node{kind: jsonKinds[j.Type], name: j.Name, origin: j.OrigName, module: j.Modp, id: j.Addr,
			output: j.Direction == "OUTPUT", port: j.Direction != "" && j.Direction != "NONE", fixed: j.IsParam || j.VarType == "GENVAR",
			param: j.VarType == "GPARAM", signed: signed[j.Dtypep]}
		if n.kind == "" {
			continue
		}
		if n.origin == "" {
			n.origin = n.name
		}
		if len(j.Valuep) > 0 {
			n.value = j.Valuep[0].Name
		}
		n.items = fromJSON(append(j.Stmtsp, j.Itemsp...), signed)
		nodes = append(nodes, n)
	}
	return nodes
}

// unescape turns what Verilator makes of characters that C++ names cannot hold back into these.
func unescape(name string) string {
	return portEscape.ReplaceAllStringFunc(strings.NewReplacer("__DOT__", ".", "__BRA__", "[", "__KET__", "]").Replace(name), func(s string) string {
		return string(rune(try.Get(hex.DecodeString(s[3:]))[0]))
	})
}
