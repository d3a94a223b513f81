package topology

import (
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/BurntSushi/toml"

	"github.com/stafflink/lmmc/internal/try"
)

// maxFile is more bytes than the largest network takes as a list.
const maxFile = 16 << 20

// sides are the keys of a cable's two ends.
var sides = [2]string{"from", "to"}

// ReadFile reads a topology file. What is wrong in it is an *Error with the line.
func ReadFile(name string) (*Topology, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := Read(f)
	if wrong := new(Error); errors.As(err, &wrong) {
		wrong.File = name
	}
	return t, err
}

// Read reads a topology in the form of a file. What is wrong in it is an *Error with the line.
func Read(r io.Reader) (*Topology, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, &Error{Text: "the file has more than 16 MiB, and no network needs so much"}
	}
	var values map[string]any
	if _, err := toml.Decode(string(text), &values); err != nil {
		if syntax := (toml.ParseError{}); errors.As(err, &syntax) {
			return nil, &Error{Line: max(syntax.Position.Line, 1), Text: syntax.Message} // it says 0 of the last line of some texts
		}
		return nil, &Error{Text: err.Error()}
	}
	d := &document{file: &entry{values: values, lines: findLines(string(text))}}
	if err := try.Run(d.read); err != nil {
		return nil, err
	}
	return d.t, nil
}

// document is a file on its way to a topology. Its methods end by package try.
type document struct {
	file   *entry
	t      *Topology
	nodes  map[string]int // by name
	origin map[place]int  // the entry that a node or a cable is from, if any
	ports  map[End]int    // the cable that is there
}

func (d *document) read() {
	f := d.file
	f.only("topology", "size", "links", "routing", "rung", "lanes", "latency", "bit_error_rate", "node", "cable")
	d.begin()
	f.text("routing", &d.t.Routing)
	f.text("rung", &d.t.Rung)
	f.link(&d.t.Default)
	for i := range d.t.Cables {
		d.t.Cables[i].Link = d.t.Default
	}
	d.nodes, d.origin, d.ports = map[string]int{}, map[place]int{}, map[End]int{}
	for i, n := range d.t.Nodes {
		d.nodes[n.Name] = i
	}
	for i, c := range d.t.Cables {
		d.ports[c.Ends[0]], d.ports[c.Ends[1]] = i, i
	}
	for i, e := range f.tables("node") {
		d.node(i, e)
	}
	stated := map[int]bool{}
	for i, e := range f.tables("cable") {
		d.cable(i, e, stated)
	}
	d.lanes(stated)
	d.number()
	d.fail(d.t.validate())
}

// fail ends at an error about a topology, with its line.
func (d *document) fail(err *Error) {
	if err == nil {
		return
	}
	for _, p := range err.where {
		stated := p.table == ""
		if !stated {
			p.n, stated = d.origin[place{table: p.table, n: p.n}]
		}
		if stated {
			err.Line = cmp.Or(err.Line, d.file.lines.of(p))
		}
	}
	err.Line = cmp.Or(err.Line, d.file.lines.of(place{key: "topology"}), 1)
	try.OK(err)
}

// begin makes what the file names a shape for.
func (d *document) begin() {
	d.t = &Topology{Default: plainLink}
	var shape string
	links := 1
	named := d.file.text("topology", &shape)
	size := d.file.size()
	d.file.whole("links", &links)
	if !named {
		for _, key := range []string{"size", "links"} {
			if _, given := d.file.values[key]; given {
				d.file.failf(key, "%s is of a topology: name it, as in topology = \"ring\"", key)
			}
		}
		return
	}
	if size == nil {
		d.file.failf("topology", "topology %q has no size: add a line such as size = [4]", shape)
	}
	t, err := Generate(shape, size, links)
	if wrong := new(Error); errors.As(err, &wrong) {
		d.fail(wrong)
	}
	d.t = t
}

// node changes a node of the shape, or adds one.
func (d *document) node(i int, e *entry) {
	e.only("name", "kind", "id", "ports", "lanes", "rung")
	var n Node
	var kind string
	if !e.text("name", &n.Name) {
		e.failf("name", "the node lacks a name: add name = \"NAME\"")
	}
	at, known := d.nodes[n.Name]
	if known {
		n = d.t.Nodes[at]
		if other, twice := d.origin[place{table: "node", n: at}]; twice {
			e.failf("name", "node %s is listed on line %d already: make it one table, or rename one", n.Name, e.lines.of(place{table: "node", n: other}))
		}
	}
	stated := e.text("kind", &kind)
	if wrong := oneOf("kind", kind, kinds); stated && wrong != "" {
		e.failf("kind", "node %s: %s", n.Name, wrong)
	}
	switch {
	case known && stated && kind != n.Kind.String():
		e.failf("kind", "node %s is %s in this topology: leave out the kind, or rename the node", n.Name, article(n.Kind))
	case !known && !stated:
		e.failf("name", "node %s is no node of the topology: to add it, say kind = \"ni\" or \"switch\"", n.Name)
	case kind == Switch.String():
		n.Kind = Switch
	}
	id, ports := int(n.ID), n.Ports
	if e.whole("id", &id) && (id < 1 || id > MaxID) {
		e.failf("id", "node %s: id = %d: want 1 to %d, for which a router's table has entries", n.Name, id, MaxID)
	}
	if e.whole("ports", &ports) && ports < 1 {
		e.failf("ports", "node %s: ports = %d: %s has %d to %d", n.Name, ports, article(n.Kind), n.Kind.minPorts(), n.Kind.maxPorts())
	}
	n.ID, n.Ports = uint16(id), ports
	if e.whole("lanes", &n.Lanes) && n.Lanes < 1 {
		e.failf("lanes", "node %s: lanes = %d: want 1 to %d", n.Name, n.Lanes, MaxLanes)
	}
	e.text("rung", &n.Rung)
	if !known {
		at = len(d.t.Nodes)
		d.t.Nodes = append(d.t.Nodes, n)
		d.nodes[n.Name] = at
	}
	d.t.Nodes[at] = n
	d.origin[place{table: "node", n: at}] = i
}

// cable changes a cable of the shape, or adds one.
func (d *document) cable(i int, e *entry, stated map[int]bool) {
	e.only("from", "to", "lanes", "latency", "bit_error_rate")
	c := Cable{Link: d.t.Default}
	for side, key := range sides {
		c.Ends[side] = e.end(key, d.nodes)
	}
	at, known := d.ports[c.Ends[0]]
	if known && (d.t.Cables[at].Ends == c.Ends || d.t.Cables[at].Ends == [2]End{c.Ends[1], c.Ends[0]}) {
		if other, twice := d.origin[place{table: "cable", n: at}]; twice {
			e.failf("from", "cable %s is listed on line %d already: leave one out", d.t.CableName(c), e.lines.of(place{table: "cable", n: other}))
		}
	} else {
		at = len(d.t.Cables)
		d.t.Cables = append(d.t.Cables, c)
		for _, end := range c.Ends {
			if _, taken := d.ports[end]; !taken {
				d.ports[end] = at
			}
		}
	}
	d.origin[place{table: "cable", n: at}] = i
	stated[at] = e.link(&d.t.Cables[at].Link)
}

// lanes gives cables that state no lanes those of their ends.
func (d *document) lanes(stated map[int]bool) {
	for i := range d.t.Cables {
		c := &d.t.Cables[i]
		a, b := d.t.Nodes[c.Ends[0].Node], d.t.Nodes[c.Ends[1].Node]
		if a.Lanes != 0 && b.Lanes != 0 && a.Lanes != b.Lanes {
			d.fail(d.t.cablef(i, "from", "cable %s: node %s has lanes = %d and node %s has lanes = %d: both ends need the same",
				d.t.CableName(*c), a.Name, a.Lanes, b.Name, b.Lanes))
		}
		if !stated[i] {
			c.Lanes = cmp.Or(a.Lanes, b.Lanes, c.Lanes)
		}
	}
}

// number gives nodes that state no id the lowest free one, and those that state no ports as many as they need.
func (d *document) number() {
	taken := map[uint16]bool{}
	for _, n := range d.t.Nodes {
		taken[n.ID] = true
	}
	used := make([]int, len(d.t.Nodes))
	for _, c := range d.t.Cables {
		for _, e := range c.Ends {
			used[e.Node] = max(used[e.Node], e.Port)
		}
	}
	id := uint16(1)
	for i := range d.t.Nodes {
		n := &d.t.Nodes[i]
		if n.Ports == 0 {
			n.Ports = min(max(used[i], n.Kind.minPorts()), n.Kind.maxPorts())
		}
		for n.ID == 0 && taken[id] && id <= MaxID {
			id++
		}
		if n.ID == 0 {
			n.ID = id
			taken[id] = true
		}
	}
}
