package testbench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Coverage counts how often the cases that matter have come up. It is not safe for goroutines side by side: give each
// its own, made by the same function, and merge them.
type Coverage struct {
	points []*Point
}

// Bin is a case of a Point: the values for which it is meant.
type Bin struct {
	Name string
	// Matches tells which values belong to the bin.
	Matches func(v int64) bool
}

// Value is the bin of one value.
func Value(name string, v int64) Bin {
	return Bin{name, func(x int64) bool { return x == v }}
}

// Range is the bin of the values from low to high, both included.
func Range(name string, low, high int64) Bin {
	return Bin{name, func(x int64) bool { return x >= low && x <= high }}
}

// Values returns a bin for each value, named as v prints.
func Values[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](values ...T) []Bin {
	var bins []Bin
	for _, v := range values {
		bins = append(bins, Value(fmt.Sprint(v), int64(v)))
	}
	return bins
}

// Point is a quantity whose bins are to be hit, or the cross of several.
type Point struct {
	name    string
	bins    []Bin // none for a cross
	names   []string
	hits    []uint64
	without []string // why a bin cannot come up; "" for one that can
	parts   []*Point // of a cross
	last    int      // the bin that the last sample hit, or -1
}

// Point adds a quantity with its bins. A value counts for the first bin that it matches.
func (c *Coverage) Point(name string, bins ...Bin) *Point {
	p := &Point{name: name, bins: bins, last: -1}
	for _, b := range bins {
		p.names = append(p.names, b.Name)
	}
	return c.add(p)
}

// Cross adds the product of points: a bin for every combination of theirs, named like "write x odd".
func (c *Coverage) Cross(name string, points ...*Point) *Point {
	p := &Point{name: name, parts: points, names: []string{""}}
	for i, part := range points {
		var names []string
		for _, before := range p.names {
			for _, n := range part.names {
				if i > 0 {
					n = before + " x " + n
				}
				names = append(names, n)
			}
		}
		p.names = names
	}
	return c.add(p)
}

func (c *Coverage) add(p *Point) *Point {
	p.hits = make([]uint64, len(p.names))
	p.without = make([]string, len(p.names))
	c.points = append(c.points, p)
	return p
}

// Without takes bins out that cannot come up, for a reason. It panics if there is no such bin, or no reason.
func (p *Point) Without(reason string, names ...string) *Point {
	if reason == "" {
		panic("testbench: coverage point " + p.name + " leaves bins out for no reason")
	}
	for _, name := range names {
		p.without[p.index(name)] = reason
	}
	return p
}

func (p *Point) index(bin string) int {
	i := slices.Index(p.names, bin)
	if i < 0 {
		panic(fmt.Sprintf("testbench: coverage point %s has no bin %q", p.name, bin))
	}
	return i
}

// Hit counts a bin by its name. It panics if there is none.
func (p *Point) Hit(bin string) {
	p.last = p.index(bin)
	p.hits[p.last]++
}

// Sample counts a value and reports whether it hit a bin.
func (p *Point) Sample(v int64) bool {
	p.last = slices.IndexFunc(p.bins, func(b Bin) bool { return b.Matches(v) })
	if p.last < 0 {
		return false
	}
	p.hits[p.last]++
	return true
}

// SampleCross counts, for a cross, the combination of bins that its points were hit in last.
func (p *Point) SampleCross() bool {
	at := 0
	for _, part := range p.parts {
		if part.last < 0 {
			return false
		}
		at = at*len(part.names) + part.last
	}
	p.hits[at]++
	return true
}

// Hits returns how often a bin was hit; 0 when there is none of that name.
func (p *Point) Hits(bin string) uint64 {
	if i := slices.Index(p.names, bin); i >= 0 {
		return p.hits[i]
	}
	return 0
}

// Unhit lists the bins, as "point: bin", that were never hit.
func (c *Coverage) Unhit() []string { return c.list(false) }

// Impossible lists the bins, as "point: bin", that were taken out and have been hit all the same.
func (c *Coverage) Impossible() []string { return c.list(true) }

// list lists the bins that were hit though they were taken out, or neither.
func (c *Coverage) list(both bool) (bins []string) {
	for _, p := range c.points {
		for i, n := range p.hits {
			if hit, out := n > 0, p.without[i] != ""; hit == both && out == both {
				bins = append(bins, p.name+": "+p.names[i])
			}
		}
	}
	return bins
}

// Ratio returns the share of bins that were hit; 1 when there are none.
func (c *Coverage) Ratio() float64 {
	hit, all := 0, 0
	for _, p := range c.points {
		h, n := p.count()
		hit, all = hit+h, all+n
	}
	if all == 0 {
		return 1
	}
	return float64(hit) / float64(all)
}

func (p *Point) count() (hit, all int) {
	for i, n := range p.hits {
		if p.without[i] != "" {
			continue
		}
		all++
		if n > 0 {
			hit++
		}
	}
	return hit, all
}

// Merge adds the hits of another coverage with the same points and bins.
func (c *Coverage) Merge(other *Coverage) error {
	same := slices.EqualFunc(c.points, other.points, func(a, b *Point) bool {
		return a.name == b.name && slices.Equal(a.names, b.names)
	})
	if !same {
		return fmt.Errorf("testbench: coverage of %s cannot be merged with that of %s: points or bins differ",
			c.pointNames(), other.pointNames())
	}
	return c.AddCounts(other.Counts())
}

// Counts returns the hits of all bins, point by point: what AddCounts adds to a coverage of the same points and bins.
func (c *Coverage) Counts() (counts [][]uint64) {
	for _, p := range c.points {
		counts = append(counts, slices.Clone(p.hits))
	}
	return counts
}

// AddCounts adds what Counts returned.
func (c *Coverage) AddCounts(counts [][]uint64) error {
	if !slices.EqualFunc(c.points, counts, func(p *Point, hits []uint64) bool { return len(p.hits) == len(hits) }) {
		return fmt.Errorf("testbench: these are no counts of %s: points or bins differ", c.pointNames())
	}
	for i, p := range c.points {
		for k, n := range counts[i] {
			p.hits[k] += n
		}
	}
	return nil
}

func (c *Coverage) pointNames() string {
	var names []string
	for _, p := range c.points {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// WriteText writes a line a point with its share, and below it the bins with their hits.
func (c *Coverage) WriteText(w io.Writer) error {
	var s strings.Builder
	for _, p := range c.points {
		hit, all := p.count()
		fmt.Fprintf(&s, "%s: %d of %d\n", p.name, hit, all)
		for i, n := range p.hits {
			if p.without[i] == "" {
				fmt.Fprintf(&s, "%10d  %s\n", n, p.names[i])
			}
		}
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// CoveragePoint is what came out for a point.
type CoveragePoint struct {
	Name     string        `json:"name"`
	Bins     []CoverageBin `json:"bins"`     // without those that cannot come up
	Excluded []ExcludedBin `json:"excluded"` // those
}

// CoverageBin is a bin and how often it was hit.
type CoverageBin struct {
	Name string `json:"name"`
	Hits uint64 `json:"hits"`
}

// ExcludedBin is a bin that cannot come up, and why.
type ExcludedBin struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Document returns what came out, point by point.
func (c *Coverage) Document() []CoveragePoint {
	points := []CoveragePoint{}
	for _, p := range c.points {
		listed := CoveragePoint{p.name, []CoverageBin{}, []ExcludedBin{}}
		for i, n := range p.hits {
			if p.without[i] == "" {
				listed.Bins = append(listed.Bins, CoverageBin{p.names[i], n})
			} else {
				listed.Excluded = append(listed.Excluded, ExcludedBin{p.names[i], p.without[i]})
			}
		}
		points = append(points, listed)
	}
	return points
}

// MarshalJSON gives Document.
func (c *Coverage) MarshalJSON() ([]byte, error) { return json.Marshal(c.Document()) }
