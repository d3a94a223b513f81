package timing

import "slices"

// axis maps clocks to places. The scale is the same all over the diagram, except that a stretch of more than keep clocks in which nothing
// changes is not made wider than longest.
type axis struct {
	bounds []int
	x      []float64 // of each bound
	scale  float64   // of a clock in a stretch that is not cut short
}

const (
	keep     = 12
	longest  = 120.0
	widest   = 21.0 // of a clock: two digits
	thinnest = 1.0
)

// newAxis finds the scale with which the diagram is width wide, if there is one.
func newAxis(d Diagram, width float64) axis {
	a := axis{bounds: []int{d.From, d.To}}
	for _, lane := range d.Lanes {
		for _, s := range d.visible(lane) {
			a.bounds = append(a.bounds, s.From, s.To)
			for _, p := range s.Parts {
				a.bounds = append(a.bounds, p.From, p.To)
			}
		}
	}
	for _, m := range d.Marks {
		if m.At >= d.From && m.At <= d.To {
			a.bounds = append(a.bounds, m.At)
		}
	}
	slices.Sort(a.bounds)
	a.bounds = slices.Compact(a.bounds)
	low, high := thinnest, widest
	for range 40 {
		a.place((low + high) / 2)
		if a.width() > width {
			high = a.scale
		} else {
			low = a.scale
		}
	}
	a.place(low)
	return a
}

func (a *axis) place(scale float64) {
	a.scale = scale
	a.x = make([]float64, len(a.bounds))
	for i := 1; i < len(a.bounds); i++ {
		n := a.bounds[i] - a.bounds[i-1]
		a.x[i] = a.x[i-1] + float64(n)*scale
		if a.isCut(n) {
			a.x[i] = a.x[i-1] + longest
		}
	}
}

// isCut says whether a stretch of n clocks is cut short.
func (a axis) isCut(n int) bool { return n > keep && float64(n)*a.scale > longest }

func (a axis) width() float64 { return a.x[len(a.x)-1] }

// at is the place of a clock.
func (a axis) at(clock int) float64 {
	i, found := slices.BinarySearch(a.bounds, clock)
	switch {
	case found:
		return a.x[i]
	case i == 0:
		return 0
	case i == len(a.bounds):
		return a.width()
	}
	share := float64(clock-a.bounds[i-1]) / float64(a.bounds[i]-a.bounds[i-1])
	return a.x[i-1] + share*(a.x[i]-a.x[i-1])
}

// cut is a stretch that was cut short.
type cut struct {
	from, to float64
	clocks   int
}

func (a axis) cuts() []cut {
	var cuts []cut
	for i := 1; i < len(a.bounds); i++ {
		if n := a.bounds[i] - a.bounds[i-1]; a.isCut(n) {
			cuts = append(cuts, cut{a.x[i-1], a.x[i], n})
		}
	}
	return cuts
}

// ticks are clocks to name, at least apart from each other, none inside a stretch that was cut short.
func (a axis) ticks(apart float64) []int {
	step := 1
	for _, s := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} {
		step = s
		if float64(s)*a.scale >= apart {
			break
		}
	}
	first := a.bounds[0]
	ticks := []int{first}
	last := 0.0
	add := func(clock int) {
		if x := a.at(clock); x-last >= apart {
			ticks, last = append(ticks, clock), x
		}
	}
	for i := 1; i < len(a.bounds); i++ {
		from, to := a.bounds[i-1], a.bounds[i]
		if !a.isCut(to - from) {
			for c := first + (from-first+step-1)/step*step; c < to; c += step {
				add(c)
			}
		}
	}
	return ticks
}
