package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// netSample is how a network is, and what has happened since a while before.
type netSample struct {
	Place  string         `json:"place"`
	Wall   time.Duration  `json:"wall_ns"` // since the look before, of real time
	Clocks uint64         `json:"clocks"`  // and of the network's
	Nodes  []netNodeLine  `json:"nodes"`
	Cables []netCableLine `json:"cables"`
	Now    live.State     `json:"now"`

	title string
}

// netNodeLine is a node. Loads are shares of the clocks since the look before, added up over the node's links.
type netNodeLine struct {
	Name     string  `json:"name"`
	Kind     string  `json:"kind"`
	In       float64 `json:"in"`
	Out      float64 `json:"out"`
	Stopped  float64 `json:"stopped"`  // the largest share of the clocks in which it said STOP by one of them
	Underway int     `json:"underway"` // frames that it has sent, and that are not acknowledged
	Down     int     `json:"down"`     // links of cables that are not cut
	Tells    bool    `json:"tells"`    // what it has dropped
	Dropped  uint64  `json:"dropped"`
	Drops    uint64  `json:"drops"` // of them, since the look before
}

// netCableLine is a cable.
type netCableLine struct {
	Name  string         `json:"name"`
	State string         `json:"state"`
	Ways  [2]netWayShare `json:"ways"`
}

// netWayShare is one direction of it.
type netWayShare struct {
	Load    float64 `json:"load"`
	Stopped float64 `json:"stopped"` // in which its sender said STOP
	Frames  uint64  `json:"frames"`
	Again   uint64  `json:"again"`
}

func sampledNet(place string, shape live.Shape, before, now live.State, wall time.Duration) netSample {
	s := netSample{Place: place, Wall: wall, Clocks: now.Clocks - before.Clocks, Now: now, title: shape.Title}
	share := func(n uint64) float64 { return float64(n) / float64(max(s.Clocks, 1)) }
	for _, n := range shape.Nodes {
		s.Nodes = append(s.Nodes, netNodeLine{Name: n.Name, Kind: n.Kind})
	}
	for i, c := range shape.Cables {
		line := netCableLine{Name: c.Ends[0] + " - " + c.Ends[1], State: netCableState(now.Cables[i], c.Lanes)}
		for k, way := range now.Cables[i].Ways {
			was := before.Cables[i].Ways[k]
			w := netWayShare{share(way.Symbols-was.Symbols) / float64(max(c.Lanes, 1)), share(way.Stopped - was.Stopped), way.Frames - was.Frames, way.Again - was.Again}
			line.Ways[k] = w
			from, to := &s.Nodes[c.Nodes[k]], &s.Nodes[c.Nodes[1-k]]
			from.Out += w.Load
			to.In += w.Load
			from.Underway += way.Underway
			from.Stopped = max(from.Stopped, w.Stopped)
			if line.State == "down" {
				from.Down++
			}
		}
		s.Cables = append(s.Cables, line)
	}
	drops := func(l cluster.SwitchLook) uint64 { return l.Bad + l.Lost + l.Hops + l.Late }
	for i, l := range now.Switches {
		n := &s.Nodes[l.Node]
		n.Tells, n.Dropped, n.Drops = true, drops(l), drops(l)-drops(before.Switches[i])
	}
	return s
}

// netCableState says whether a cable is up, and over how many lanes if not over all.
func netCableState(c cluster.CableLook, lanes int) string {
	switch open := c.Open(); {
	case c.Cut:
		return "cut"
	case c.Ways[0].Up && c.Ways[1].Up && open < lanes:
		return fmt.Sprintf("up %d/%d", open, lanes)
	case c.Ways[0].Up && c.Ways[1].Up:
		return "up"
	}
	return "down"
}

// renderNet writes a sample, with a last line of its own. Where there is not room for all nodes and cables, those with most load come first.
func (v *topView) renderNet(s *netSample, last string) string {
	v.lines = nil
	pace := ""
	if s.Wall > 0 {
		pace = fmt.Sprintf(", %s a second", thousands(uint64(float64(s.Clocks)/s.Wall.Seconds())))
	}
	v.add(bold, "%s   %s   %s clocks%s   traffic %d %%", s.Place, s.title, thousands(s.Now.Clocks), pace, s.Now.Traffic)
	v.add("", "")
	nodes, cables := len(s.Nodes), len(s.Cables)
	if v.height > 0 {
		room := max(v.height-7, 4) // but for titles and blank lines
		nodes = min(nodes, max(room/2, room-cables))
		cables = min(cables, room-nodes)
	}
	v.add(bold, "%-12s %-7s %9s %9s %9s %10s %6s %10s", "node", "kind", "in", "out", "STOP", "under way", "down", "dropped")
	for _, n := range busiest(s.Nodes, nodes, func(n netNodeLine) float64 { return n.In + n.Out + float64(n.Down+int(n.Drops)) }) {
		style := ""
		if n.Down > 0 || n.Drops > 0 {
			style = red
		}
		dropped := "-"
		if n.Tells {
			dropped = thousands(n.Dropped)
		}
		v.add(style, "%-12s %-7s %9s %9s %9s %10d %6d %10s", n.Name, n.Kind, percentOf(n.In), percentOf(n.Out), percentOf(n.Stopped), n.Underway, n.Down, dropped)
	}
	v.add("", "")
	v.add(bold, "%-26s %-5s %9s %9s %9s %9s %10s %10s", "cable", "state", "there", "back", "STOP", "STOP", "frames", "sent again")
	for _, c := range busiest(s.Cables, cables, func(c netCableLine) float64 {
		worse := map[string]float64{"down": 10, "cut": 5}
		return c.Ways[0].Load + c.Ways[1].Load + worse[c.State]
	}) {
		style := ""
		if c.State != "up" || c.Ways[0].Again+c.Ways[1].Again > 0 {
			style = red
		}
		a, b := c.Ways[0], c.Ways[1]
		v.add(style, "%-26s %-5s %9s %9s %9s %9s %10s %10s", c.Name, c.State, percentOf(a.Load), percentOf(b.Load), percentOf(a.Stopped), percentOf(b.Stopped),
			thousands(a.Frames+b.Frames), thousands(a.Again+b.Again))
	}
	if last != "" {
		v.add("", "")
		v.add(dim, "%s", last)
	}
	return strings.Join(v.lines, "\n")
}

// busiest are all of a list if there is room, else those of most weight.
func busiest[V any](list []V, room int, weight func(V) float64) []V {
	if room >= len(list) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b V) int { return cmp.Compare(weight(b), weight(a)) })
	return list[:room]
}

func percentOf(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
