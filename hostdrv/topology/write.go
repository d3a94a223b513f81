package topology

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Write writes a topology as a file that Read makes the same of. Of a shape it lists only the nodes and cables that differ from it, or come besides.
func (t *Topology) Write(w io.Writer) error {
	if err := t.Validate(); err != nil {
		return err
	}
	base := &Topology{}
	var b strings.Builder
	if t.Shape != "" {
		var err error
		if base, err = Generate(t.Shape, t.Size, t.Links); err != nil {
			return err
		}
		if !base.beginsLike(t) {
			return &Error{Text: fmt.Sprintf("nodes or cables of the %s are missing: set Shape to \"\", so that all are listed", t.Shape)}
		}
		fmt.Fprintf(&b, "topology = %q\nsize = [%s]\n", t.Shape, strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Size), "[]"), " ", ", "))
		writeNumber(&b, "links", t.Links, 1)
	}
	writeText(&b, "routing", t.Routing)
	writeText(&b, "rung", t.Rung)
	t.Default.write(&b, plainLink)
	for i, n := range t.Nodes {
		t.writeNode(&b, n, base, i)
	}
	for i, c := range t.Cables {
		if i >= len(base.Cables) || c.Link != t.Default {
			fmt.Fprintf(&b, "\n[[cable]]\nfrom = %q\nto = %q\n", t.EndName(c.Ends[0]), t.EndName(c.Ends[1]))
			c.Link.write(&b, t.Default)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// beginsLike reports whether the nodes and cables of a shape are the first ones of t.
func (t *Topology) beginsLike(of *Topology) bool {
	if len(of.Nodes) < len(t.Nodes) || len(of.Cables) < len(t.Cables) {
		return false
	}
	return slices.EqualFunc(t.Nodes, of.Nodes[:len(t.Nodes)], func(a, b Node) bool { return a.Name == b.Name && a.Kind == b.Kind && slices.Equal(a.At, b.At) }) &&
		slices.EqualFunc(t.Cables, of.Cables[:len(t.Cables)], func(a, b Cable) bool { return a.Ends == b.Ends })
}

func (t *Topology) writeNode(b *strings.Builder, n Node, base *Topology, i int) {
	generated := i < len(base.Nodes)
	var from Node
	if generated {
		from = base.Nodes[i]
		if n.ID == from.ID && n.Ports == from.Ports && n.Lanes == from.Lanes && n.Rung == from.Rung {
			return
		}
	}
	fmt.Fprintf(b, "\n[[node]]\nname = %q\n", n.Name)
	if !generated {
		fmt.Fprintf(b, "kind = %q\n", n.Kind)
	}
	writeNumber(b, "id", int(n.ID), int(from.ID))
	writeNumber(b, "ports", n.Ports, from.Ports)
	writeNumber(b, "lanes", n.Lanes, from.Lanes)
	writeText(b, "rung", n.Rung)
}

// write writes what differs from another link.
func (l Link) write(b *strings.Builder, from Link) {
	writeNumber(b, "lanes", l.Lanes, from.Lanes)
	writeNumber(b, "latency", l.Latency, from.Latency)
	if l.BitErrorRate != from.BitErrorRate {
		rate := strconv.FormatFloat(l.BitErrorRate, 'g', -1, 64)
		fmt.Fprintf(b, "bit_error_rate = %s\n", rate)
	}
}

func writeNumber(b *strings.Builder, key string, n, from int) {
	if n != from {
		fmt.Fprintf(b, "%s = %d\n", key, n)
	}
}

func writeText(b *strings.Builder, key, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s = %q\n", key, text)
	}
}
