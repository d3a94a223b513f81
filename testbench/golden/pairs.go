package golden

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// pairing is a point whose bins are pairs of what two lines bring, and how many clocks the second comes behind the first.
type pairing struct {
	name     string
	apart    func(first, second line) bool
	families []family
}

// family is the pairs of one of the first with one of the second, at all distances; less than 0: the second comes before.
type family struct {
	first, second []happening
	from, to      int
}

// line is one direction of a port's cable.
type line struct {
	port int
	toNI bool
}

// at is something that a line has brought.
type at struct {
	clock uint64
	line  line
	what  happening
}

// all makes a family's list of one line.
func all(list ...happening) []happening { return list }

// The distances at a link are those from what arrives to what the network interface sends because of it: it takes six clocks from a word to the
// first symbol that shows it. So STOP and INIT let frames end for five clocks more, and GO lets none begin before.
var pairings = []pairing{
	{"arriving at a link, leaving by it",
		func(a, b line) bool { return a.port > 0 && b.port == a.port && a.toNI && !b.toNI },
		[]family{
			{all(begins, ends, ack), all(begins, ends, ack), 0, 12},
			{all(lost), all(begins, ends), 0, 10},
			{all(begins, ends), all(lost, stop), 0, 12},
			{all(stop, initial), all(begins, ends), 0, 5},
			{all(goes), all(begins, ends), 6, 12},
			{all(begins), all(initial), 0, 5},
		}},
	{"arriving from the host, arriving at a link",
		func(a, b line) bool { return a.port == 0 && b.port > 0 && a.toNI && b.toNI },
		[]family{
			{all(begins, ends), all(begins, ends, traps, ack, lost, initial, stop, goes), -4, 4},
			{all(resumes, reads, writes, grants), all(begins, ends, traps, ack), -4, 4},
		}},
	{"arriving at a link, arriving at another",
		func(a, b line) bool { return a.port > 0 && b.port > a.port && a.toNI && b.toNI },
		[]family{{all(begins, ends, traps, ack), all(begins, ends, traps, ack), -2, 2}}},
	{"arriving at a link, leaving to the host",
		func(a, b line) bool { return a.port > 0 && b.port == 0 && a.toNI && !b.toNI },
		[]family{{all(ends, traps), all(begins, ends, answers, told, freed, traps), -4, 4}}},
}

// bin is how a pair is called.
func bin(first, second happening, clocks int) string {
	return fmt.Sprintf("%v, %v, %+d", first, second, clocks)
}

// point is the pairing as a point of Coverage.
func (p pairing) point() point {
	out := point{name: p.name}
	for _, f := range p.families {
		for _, a := range f.first {
			for _, b := range f.second {
				for d := f.from; d <= f.to; d++ {
					out.bins = append(out.bins, bin(a, b, d))
				}
			}
		}
	}
	return out
}

// holds reports whether two things are a pair.
func (p *pairing) holds(a, b at, clocks int) bool {
	return p.apart(a.line, b.line) && slices.ContainsFunc(p.families, func(f family) bool {
		return clocks >= f.from && clocks <= f.to && slices.Contains(f.first, a.what) && slices.Contains(f.second, b.what)
	})
}

// widest is the most clocks between the two of a pair.
const widest = 12

// pairs finds pairs among what all lines bring.
type pairs struct {
	recent []at // in the last clocks
	looked int  // how many of them all pairs among have been found
	found  map[pair]bool
	rare   map[event]bool
}

// pair is a bin of a pairing.
type pair struct {
	pairing       int
	first, second happening
	clocks        int
}

// watch has all told that passes a port.
func (p *pairs) watch(index int, port *ni.Port) {
	toNI, fromNI := newTap(index, true, port), newTap(index, false, port)
	port.Tap = func(to bool, clock uint64, s linkproto.Symbol) {
		t := fromNI
		if to {
			t = toNI
		}
		t.next(s, func(what happening) {
			if what >= wraps {
				p.rare[event{rareValue, what.String() + t.whose}] = true
				return
			}
			p.recent = append(p.recent, at{clock, t.line, what})
		})
	}
}

// tap reads a line.
type tap struct {
	lineReader
	line  line
	whose string
}

var whose = []string{", from the host", ", to the host", ", from a peer", ", to a peer"}

func newTap(index int, toNI bool, port *ni.Port) *tap {
	at := 2 * min(index, 1)
	if !toNI {
		at++
	}
	return &tap{lineReader{longest: port.Link.Config().MaxPacket}, line{index, toNI}, whose[at]}
}

// look finds the pairs that are new since it was called last. The lines come one after the other, each in order.
func (p *pairs) look() {
	for i := p.looked; i < len(p.recent); i++ {
		for _, before := range p.recent[:i] {
			p.take(before, p.recent[i])
			p.take(p.recent[i], before)
		}
	}
	last := uint64(0)
	for _, a := range p.recent[p.looked:] {
		last = max(last, a.clock)
	}
	p.recent = slices.DeleteFunc(p.recent, func(a at) bool { return a.clock+widest+look < last })
	p.looked = len(p.recent)
}

func (p *pairs) take(a, b at) {
	clocks := int(b.clock - a.clock)
	if a.line == b.line || clocks < -widest || clocks > widest {
		return
	}
	for i := range pairings {
		if f := (pair{i, a.what, b.what, clocks}); !p.found[f] && pairings[i].holds(a, b, clocks) {
			p.found[f] = true
		}
	}
}

// events are the bins that have been found, and are not any more.
func (p *pairs) events() (all []event) {
	for f := range p.found {
		all = append(all, event{pairings[f.pairing].name, bin(f.first, f.second, f.clocks)})
	}
	for e := range p.rare {
		all = append(all, e)
	}
	clear(p.found)
	clear(p.rare)
	return all
}
