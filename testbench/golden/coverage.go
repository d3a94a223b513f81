package golden

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/golden/switches"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Coverage counts how often the cases of the protocol have come up in rounds that agreed. What became of a packet is taken from
// the model, with which the RTL agreed; what happens at its own time (STOP, merged reports, counters, restarts) from the RTL.
type Coverage struct {
	*testbench.Coverage
	points map[string]*testbench.Point
}

// event is a case that has come up.
type event struct{ point, bin string }

// Add counts the rounds of both worlds, that of the RTL first.
func (c *Coverage) Add(rtl, reference *Transcript) {
	for _, e := range append(rtl.events, reference.judged...) {
		c.points[e.point].Hit(e.bin)
	}
}

// Hit counts a case that has come up elsewhere.
func (c *Coverage) Hit(point, bin string) { c.points[point].Hit(bin) }

// point is a row of points: a quantity of the protocol, its cases, and those among them that cannot come up, by reason.
type point struct {
	name    string
	bins    []string
	without map[string][]string
}

var sizes = []string{"nothing", "1 byte", "odd", "even", "a whole page"}

var points = []point{
	{name: "round", bins: stimulus.KindNames()},
	{name: "write carried out, size", bins: sizes},
	{name: "write carried out, place", bins: []string{"from the page's begin", "inside", "to the page's end", "the whole page"}},
	{name: "write denied", bins: []string{"frame not valid", "frame of another link", "across the page's end", "longer than a page",
		"just behind the buffer", "far away, low bits right", "nothing to write"}},
	{name: "link packet dropped", bins: []string{"WRITE without whole address", "PAGE too short", "PAGE too long", "PAGE of the first frame that is not",
		"PAGE of a frame that is not", "CONNECT too short", "CONNECT with too many params", "CONNECT whose TRAP is too long", "type 0", "type reserved",
		"type unknown", "a request", "an answer", "WRITE with via", "PAGE with via", "CONNECT with via"}},
	{name: "length field that does not fit", bins: []string{"one less", "one more", "256 more"}},
	{name: "trap", bins: []string{"PAGE of an own frame", "PAGE of another frame", "CONNECT without params", "CONNECT with params", "CONNECT with most params"}},
	{name: "trap, when", bins: []string{"no other link trapped", "another link trapped", "held behind a trap", "after the last was served"}},
	{name: "while trapped", bins: []string{"the peer goes on sending", "the peer is told to stop", "the host sends by the link", "the host asks",
		"another link goes on", "the peer starts again", "the host starts again"}},
	{name: "RESUME", bins: []string{"of a trap", "twice", "of a link that has not trapped", "of no link", "of the host port", "too early or too late"}},
	{name: "RETRAP", bins: []string{"a PAGE", "a CONNECT without params", "a CONNECT, its params left out", "the TRAP comes behind RESUME",
		"of a link that has not trapped", "of no link", "of the host port"}},
	{name: "request", bins: requestBins(), without: requestExclusions()},
	{name: "request of a wrong length", bins: lengthBins(), without: map[string][]string{
		"the longest packet is a BUF_WRITE of a page": {"BUF_WRITE too long"}}},
	{name: "request of a wrong type", bins: []string{"type 0", "unassigned below the answers", "an answer", "unassigned above", "a link's packet without via"}},
	{name: "request of a wrong address", bins: []string{"register behind the frame table", "register behind the status", "register behind the counters",
		"register 0xFFFF", "register that is read only", "across the page's end", "longer than a page", "just behind the buffer", "far away, low bits right", "nothing, behind the buffer"}},
	{name: "buffer read", bins: sizes},
	{name: "buffer written", bins: sizes},
	{name: "register read", bins: registerNames, without: map[string][]string{
		"built without trace buffer and error injectors (scenarios of their own)": {"TRACE", "INJECT", "TRACE_RING"},
		"built without a router":      {"ROUTER_COUNTERS", "PORT_STATUS", "PORT_PEER", "PORT_COUNTERS", "ROUTE_TABLE", "GROUP_TABLE"},
		"built without virtual links": {"VL_NUMBERS", "VL_SLOTS", "VL_WINDOW", "VL"},
		"built without contexts":      {"CONTEXTS", "CONTEXT"},
		"built without barriers":      {"BARRIER"}}},
	{name: "frame table written", bins: []string{"link", "not valid", "a link that is not"}},
	{name: "forwarded", bins: []string{"WRITE", "PAGE", "CONNECT", "type reserved", "type unknown"}},
	{name: "forwarded, size", bins: []string{"header only", "short", "long", "the longest"}},
	{name: "STOP", bins: []string{"to the host", "to a peer", "from the host", "from a peer"}},
	{name: "NOTIFY", bins: []string{"one write", "writes apart", "writes that touch", "the same range again", "a range within", "a range around", "off", "turned off and on"}},
	{name: "SPACE", bins: []string{"one packet", "several packets", "bytes wrap", "packets wrap", "lost packets", "repeated for a new host"}},
	{name: "LOST", bins: []string{"by a peer's restart", "nothing dropped", "by giving up", "by sending too much", "packets refused behind it",
		"another write of LINK_STATUS"}},
	{name: "give up", bins: ways},
	{name: "peer starts again", bins: append([]string{"all acknowledged", "delivered and not acknowledged", "not delivered", "packets to it lost", "trapped",
		"the host goes on sending"}, another...)},
	{name: "host starts again", bins: []string{"nothing underway", "not delivered", "answers lost", "answers to the one before", "a TRAP lost",
		"a queue not empty"}},
	{name: "frame taken away", bins: []string{"before all writes", "between writes", "in the middle of a write", "after all writes"}},
	{name: "violation at the host port", bins: names(slices.Concat(stimulus.Rules, stimulus.AtHost), ruleName)},
	{name: "violation at a link", bins: names(stimulus.Rules, ruleName)},
	{name: "counter of the host port", bins: counterNames, without: map[string][]string{
		"the host has no frames to write": {"denied"},
		"counts the links' queues":        {"no_space"},
	}},
	{name: "counter of a link", bins: counterNames},
	{name: rareValue, bins: rareValues()},
}

// allPoints are the points, those of pairs and those of switches.
func allPoints() []point {
	list := slices.Clip(points)
	for _, p := range pairings {
		list = append(list, p.point())
	}
	for _, p := range switches.Points {
		list = append(list, point{name: p.Name, bins: p.Bins})
	}
	return list
}

// Groups name what points are about, in the order in which they are told.
var Groups = []string{"cases of the protocol", "pairs of events", "rare values", "cases of routing"}

// Group is that of a point, by its name.
func Group(point string) string {
	switch {
	case slices.ContainsFunc(pairings, func(p pairing) bool { return p.name == point }):
		return Groups[1]
	case point == rareValue:
		return Groups[2]
	case slices.ContainsFunc(switches.Points, func(p switches.Point) bool { return p.Name == point }):
		return Groups[3]
	}
	return Groups[0]
}

// NewCoverage has all points, none hit.
func NewCoverage() *Coverage {
	c := &Coverage{new(testbench.Coverage), map[string]*testbench.Point{}}
	for _, p := range allPoints() {
		var bins []testbench.Bin
		for i, name := range p.bins {
			bins = append(bins, testbench.Value(name, int64(i)))
		}
		c.points[p.name] = c.Point(p.name, bins...)
		for reason, names := range p.without {
			c.points[p.name].Without(reason, names...)
		}
	}
	return c
}

// names are what a list's items are called.
func names[T any](list []T, name func(T) string) (all []string) {
	for _, x := range list {
		all = append(all, name(x))
	}
	return all
}

var (
	counterNames  = names(linkproto.Counters[:], func(c linkproto.CounterInfo) string { return c.Name })
	registerNames = names(linkproto.Registers[:], func(r linkproto.RegInfo) string { return r.Name })
	requestNames  = names(requests, linkproto.Type.String)
)

var requests = []linkproto.Type{linkproto.TypeRegRead, linkproto.TypeRegWrite, linkproto.TypeBufRead, linkproto.TypeBufWrite, linkproto.TypeResume,
	linkproto.TypeRetrap}

const (
	byLink   = "packet with via"
	anyOther = "any other type"
)

func ruleName(r stimulus.Rule) string { return r.Name }

// requestBins are all packets of a host by how they are answered.
func requestBins() (bins []string) {
	for _, kind := range slices.Concat(requestNames, []string{byLink, anyOther}) {
		for _, s := range linkproto.Statuses {
			bins = append(bins, kind+", "+s.Name)
		}
	}
	return bins
}

// requestExclusions are the answers that the protocol does not have.
func requestExclusions() map[string][]string {
	out := map[string][]string{}
	leave := func(reason string, statuses []linkproto.Status, kinds ...string) {
		for _, k := range kinds {
			for _, s := range statuses {
				out[reason] = append(out[reason], fmt.Sprintf("%s, %v", k, s))
			}
		}
	}
	all := slices.Clip(requestNames)
	leave("its type is a request's", []linkproto.Status{linkproto.StatusBadType}, all...)
	leave("only packets by a link take room in its queue", []linkproto.Status{linkproto.StatusNoSpace}, append(all, anyOther)...)
	leave("only RESUME and RETRAP are about a trap", []linkproto.Status{linkproto.StatusNotTrapped}, append(all[:4:4], byLink, anyOther)...)
	leave("via matters to RESUME and RETRAP only", []linkproto.Status{linkproto.StatusBadLink}, append(all[:4:4], anyOther)...)
	leave("it has no address", []linkproto.Status{linkproto.StatusBadAddress}, all[4], all[5], byLink, anyOther)
	leave("it is forwarded unseen, without an answer", []linkproto.Status{linkproto.StatusOK, linkproto.StatusBadType, linkproto.StatusBadLength}, byLink)
	leave("its type is not allowed, whatever else", []linkproto.Status{linkproto.StatusOK, linkproto.StatusBadLength}, anyOther)
	return out
}

func lengthBins() (bins []string) {
	for _, t := range requestNames {
		bins = append(bins, t+" too short", t+" too long")
	}
	return bins
}
