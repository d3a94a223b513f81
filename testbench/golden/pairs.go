package golden

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// pairing is a point whose bins are pairs of what two lines bring, and how many clocks the second comes behind the first.
type pairing struct {
	name          string
	first, second []happening
	from, to      int // clocks; less than 0: the second comes before
	apart         func(first, second line) bool
	without       map[string][]string
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

// pairings are the points of pairs.
var pairings = []pairing{
	{name: "arriving at a link, leaving by it", from: 0, to: 12,
		first:  []happening{begins, ends, ack, lost, initial, stop, goes},
		second: []happening{begins, ends, ack, lost, initial, stop},
		apart:  func(a, b line) bool { return a.port > 0 && b.port == a.port && a.toNI && !b.toNI }},
	{name: "arriving from the host, arriving at a link", from: -4, to: 4,
		first:  []happening{begins, ends, resumes, reads, grants},
		second: []happening{begins, ends, traps, ack, lost, initial, stop},
		apart:  func(a, b line) bool { return a.port == 0 && b.port > 0 && a.toNI && b.toNI }},
	{name: "arriving at a link, arriving at another", from: -2, to: 2,
		first:  []happening{ends, traps, ack, lost, initial},
		second: []happening{ends, traps, ack, lost, initial},
		apart:  func(a, b line) bool { return a.port > 0 && b.port > a.port && a.toNI && b.toNI }},
	{name: "arriving at a link, leaving to the host", from: -4, to: 4,
		first:  []happening{ends, traps},
		second: []happening{begins, ends, answers, told, freed, traps},
		apart:  func(a, b line) bool { return a.port > 0 && b.port == 0 && a.toNI && !b.toNI }},
}

// bin is how a pair is called.
func (p pairing) bin(first, second happening, clocks int) string {
	return fmt.Sprintf("%v, %v, %+d", first, second, clocks)
}

// point is the pairing as a point of Coverage.
func (p pairing) point() point {
	out := point{name: p.name, without: p.without}
	for _, a := range p.first {
		for _, b := range p.second {
			for d := p.from; d <= p.to; d++ {
				out.bins = append(out.bins, p.bin(a, b, d))
			}
		}
	}
	return out
}

// holds reports whether two things are a pair, and how many clocks apart.
func (p *pairing) holds(a, b at) (clocks int, ok bool) {
	d := int(b.clock - a.clock)
	return d, d >= p.from && d <= p.to && p.apart(a.line, b.line) && slices.Contains(p.first, a.what) && slices.Contains(p.second, b.what)
}

// widest is the most clocks between the two of a pair.
const widest = 12

// pairs finds pairs among what all lines bring.
type pairs struct {
	recent []at // in the last clocks
	looked int  // how many of them all pairs among have been found
	found  map[pair]bool
}

// pair is a bin of a pairing.
type pair struct {
	pairing       int
	first, second happening
	clocks        int
}

// watch has all told that passes a port.
func (p *pairs) watch(index int, port *ni.Port) {
	var readers [2]lineReader
	port.Tap = func(toNI bool, clock uint64, s linkproto.Symbol) {
		r := &readers[0]
		if toNI {
			r = &readers[1]
		}
		r.next(s, func(what happening) { p.recent = append(p.recent, at{clock, line{index, toNI}, what}) })
	}
}

// look finds the pairs that are new since it was called last. The lines of a port come one after the other, each in order, a look at a time.
func (p *pairs) look() {
	slices.SortStableFunc(p.recent[p.looked:], func(a, b at) int { return cmp.Compare(a.clock, b.clock) })
	for i := p.looked; i < len(p.recent); i++ {
		for k := i - 1; k >= 0; k-- {
			a, b := p.recent[k], p.recent[i]
			switch {
			case k >= p.looked && b.clock-a.clock > widest:
				k = p.looked // on to those seen before
			default:
				p.take(a, b)
				p.take(b, a)
			}
		}
	}
	if len(p.recent) > 0 {
		end := p.recent[len(p.recent)-1].clock
		p.recent = slices.DeleteFunc(p.recent, func(a at) bool { return a.clock+widest+2*look < end })
	}
	p.looked = len(p.recent)
}

func (p *pairs) take(a, b at) {
	if a.line == b.line {
		return
	}
	for i := range pairings {
		if d, ok := pairings[i].holds(a, b); ok {
			p.found[pair{i, a.what, b.what, d}] = true
		}
	}
}

// events are the bins that have been found, and are not any more.
func (p *pairs) events() (all []event) {
	for f := range p.found {
		all = append(all, event{pairings[f.pairing].name, pairings[f.pairing].bin(f.first, f.second, f.clocks)})
	}
	p.found = map[pair]bool{}
	return all
}
