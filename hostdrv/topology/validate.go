package topology

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
)

// Error says what is wrong with a topology, and where.
type Error struct {
	File string // "" if it is in none
	Line int    // from 1 on; 0 if it is on none
	Text string // what is wrong, and what to do

	where []place // the first of these that the file states
}

// Error names file and line, if there are any.
func (e *Error) Error() string {
	text := e.Text
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	if e.File != "" {
		text = e.File + ": " + text
	}
	return "topology: " + text
}

// place is what an error is about: a key of the file, or of the n-th node or cable of the topology.
type place struct {
	table string // "", "node" or "cable"
	n     int
	key   string
}

// failf is an error about a key of the file.
func failf(key, format string, args ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, args...), where: []place{{key: key}}}
}

func nodef(n int, key, format string, args ...any) *Error {
	return &Error{Text: fmt.Sprintf(format, args...), where: []place{{"node", n, key}}}
}

// cablef is an error about a cable, or if that is not stated about a node at its end.
func (t *Topology) cablef(n int, key, format string, args ...any) *Error {
	where := []place{{"cable", n, key}}
	for _, e := range t.Cables[n].Ends {
		where = append(where, place{"node", e.Node, "name"})
	}
	return &Error{Text: fmt.Sprintf(format, args...), where: where}
}

// Validate returns what is wrong with a topology: an *Error, or nil.
func (t *Topology) Validate() error {
	if err := t.validate(); err != nil {
		return err
	}
	return nil
}

func (t *Topology) validate() *Error {
	switch {
	case len(t.Nodes) == 0:
		return failf("topology", "it has no nodes: name a topology, one of %s, or list nodes by [[node]]", strings.Join(shapeNames(), ", "))
	case len(t.Nodes) > MaxNodes:
		return nodef(MaxNodes, "name", "there are %d nodes, and a router's table has an entry for each of at most %d: leave some out", len(t.Nodes), MaxNodes)
	}
	if t.Routing != "" {
		if err := oneOf("routing", t.Routing, Routings()); err != "" {
			return failf("routing", "%s", err)
		}
	}
	if err := checkRung(t.Rung); err != "" {
		return failf("rung", "%s", err)
	}
	if key, err := t.Default.check(); err != "" {
		return failf(key, "%s", err)
	}
	if err := t.validateNodes(); err != nil {
		return err
	}
	if err := t.validateCables(); err != nil {
		return err
	}
	return t.validateWhole()
}

func (t *Topology) validateNodes() *Error {
	names, ids := map[string]int{}, map[uint16]int{}
	for i, n := range t.Nodes {
		switch first, taken := names[n.Name]; {
		case n.Kind > Switch:
			return nodef(i, "kind", "node %s: no kind %d", n.Name, n.Kind)
		case !goodName(n.Name):
			return nodef(i, "name", "node %q: want a name of at most 32 letters, digits, '.', '_' and '-'", n.Name)
		case taken:
			return nodef(i, "name", "there are two nodes %s, number %d and %d: rename one", n.Name, first+1, i+1)
		case n.ID < 1 || n.ID > MaxID:
			return nodef(i, "id", "node %s: id = %d: want 1 to %d, for which a router's table has entries", n.Name, n.ID, MaxID)
		case n.Ports < n.Kind.minPorts() || n.Ports > n.Kind.maxPorts():
			return nodef(i, "ports", "node %s: ports = %d: %s has %d to %d", n.Name, n.Ports, article(n.Kind), n.Kind.minPorts(), n.Kind.maxPorts())
		case n.Lanes < 0 || n.Lanes > MaxLanes:
			return nodef(i, "lanes", "node %s: lanes = %d: want 1 to %d, or none to leave it to the cables", n.Name, n.Lanes, MaxLanes)
		}
		if other, taken := ids[n.ID]; taken {
			err := nodef(i, "id", "nodes %s and %s have the same id %d: give one another", t.Nodes[other].Name, n.Name, n.ID)
			err.where = append(err.where, place{"node", other, "id"})
			return err
		}
		if err := checkRung(n.Rung); err != "" {
			return nodef(i, "rung", "node %s: %s", n.Name, err)
		}
		names[n.Name], ids[n.ID] = i, i
	}
	return nil
}

func (t *Topology) validateCables() *Error {
	taken := map[End]int{}
	for i, c := range t.Cables {
		for side, e := range c.Ends {
			if e.Node < 0 || e.Node >= len(t.Nodes) {
				return t.cablef(i, sides[side], "cable %d: there is no node number %d", i+1, e.Node)
			}
		}
		for side, e := range c.Ends {
			key := sides[side]
			n := t.Nodes[e.Node]
			if e.Port < 1 || e.Port > n.Ports {
				return t.cablef(i, key, "cable %s: node %s has ports 1 to %d", t.CableName(c), n.Name, n.Ports)
			}
			if other, is := taken[e]; is {
				if other == i {
					return t.cablef(i, key, "cable %s: both ends are in the same port", t.CableName(c))
				}
				return t.cablef(i, key, "cable %s: port %s is taken by cable %s: choose another port", t.CableName(c), t.EndName(e), t.CableName(t.Cables[other]))
			}
			taken[e] = i
			if n.Lanes != 0 && n.Lanes != c.Lanes {
				return t.cablef(i, "lanes", "cable %s: it has lanes = %d, but node %s says lanes = %d: both ends need the same", t.CableName(c), c.Lanes, n.Name, n.Lanes)
			}
		}
		if c.Ends[0].Node == c.Ends[1].Node {
			return t.cablef(i, "to", "cable %s: both ends are at node %s, where no packet would take it: leave it out", t.CableName(c), t.Nodes[c.Ends[0].Node].Name)
		}
		if key, err := c.Link.check(); err != "" {
			return t.cablef(i, key, "cable %s: %s", t.CableName(c), err)
		}
	}
	return nil
}

// validateWhole looks for what is not connected.
func (t *Topology) validateWhole() *Error {
	neighbours := make([][]int, len(t.Nodes))
	for _, c := range t.Cables {
		a, b := c.Ends[0].Node, c.Ends[1].Node
		neighbours[a], neighbours[b] = append(neighbours[a], b), append(neighbours[b], a)
	}
	seen := make([]bool, len(t.Nodes))
	seen[0] = true
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		for _, n := range neighbours[queue[0]] {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	for i, there := range seen {
		if !there {
			return nodef(i, "name", "no way leads from node %s to node %s: add a cable", t.Nodes[0].Name, t.Nodes[i].Name)
		}
	}
	return nil
}

// check returns the key of what is wrong, and a text, or "".
func (l Link) check() (key, text string) {
	switch {
	case l.Lanes < 1 || l.Lanes > MaxLanes:
		return "lanes", fmt.Sprintf("lanes = %d: want 1 to %d", l.Lanes, MaxLanes)
	case l.Latency < 1:
		return "latency", fmt.Sprintf("latency = %d: want 1 clock or more", l.Latency)
	case !(l.BitErrorRate >= 0 && l.BitErrorRate <= 1): // nor NaN
		return "bit_error_rate", fmt.Sprintf("bit_error_rate = %v: want a share of bits, 0 to 1", l.BitErrorRate)
	}
	return "", ""
}

func goodName(name string) bool {
	const good = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return name != "" && len(name) <= 32 && strings.Trim(name, good) == ""
}

// checkRung returns what is wrong with a rung, or "".
func checkRung(rung string) string {
	forms := []string{"rtl", "model", "gates:BOARD", "tcp:HOST:PORT", "serial:PATH"}
	if strings.ContainsFunc(rung, func(r rune) bool { return r == '\uFFFD' || !strconv.IsPrint(r) }) {
		return fmt.Sprintf("rung = %q: it has characters that cannot be printed", rung)
	}
	scheme, rest, found := strings.Cut(rung, ":")
	for _, form := range forms {
		name, _, takesRest := strings.Cut(form, ":")
		if rung == "" || scheme == name && found == takesRest && (rest != "") == takesRest {
			return ""
		}
	}
	return oneOf("rung", rung, forms)
}

// oneOf returns a text unless value is one of a list.
func oneOf(key, value string, list []string) string {
	for _, v := range list {
		if v == value {
			return ""
		}
	}
	return fmt.Sprintf("%s = %q: no such %s%s; there are %s", key, value, key, nearest.Hint(value, list), strings.Join(list, ", "))
}
