// Package timing draws timing diagrams: lanes of labelled spans over one axis of clock cycles, as SVG.
//
// A Diagram holds what happened when; SVG lays it out. Stretches in which nothing changes are cut short, and marked so, such that what
// does change is wide enough to read. Colours are left to the page: every shape has a class, named after the Kind of its span.
package timing

import (
	"cmp"
	"slices"
)

// Kind says what a span is; it becomes the class "t-KIND" of its shape.
type Kind string

// The kinds of spans.
const (
	Frame Kind = "frame" // a unit of transfer
	Word  Kind = "word"  // control between or inside frames
	Level Kind = "level" // a signal that is 1
	Event Kind = "event" // an instant
	Fault Kind = "fault" // something wrong, or done wrong on purpose
)

// Span is something that lasts from one clock to another.
type Span struct {
	// From is the first clock, To the one after the last.
	From, To int
	Kind     Kind
	// Labels are ways to write what it is, longest first: the first that there is room for is drawn.
	Labels []string
	// Text says in words what it is; "" for the first label. It is the shape's title, and its line in Happenings.
	Text string
	// Parts are what the span consists of, drawn below it. They lie inside it, in order.
	Parts []Span
}

// Lane is a signal or a direction of a cable.
type Lane struct {
	Name  string
	Spans []Span
}

// Mark is a line across all lanes.
type Mark struct {
	At    int
	Label string
}

// Diagram is what happened on several lanes from one clock to another.
type Diagram struct {
	// Name identifies the diagram in its document, Title is for readers.
	Name, Title string
	// Text describes the diagram in a few sentences.
	Text     string
	From, To int
	Lanes    []Lane
	Marks    []Mark
}

// Happening is a line of the diagram in words.
type Happening struct {
	At   int // clocks after Diagram.From
	For  int // clocks
	Lane string
	Text string
}

// Happenings lists the spans of all lanes in the order in which they begin.
func (d Diagram) Happenings() []Happening {
	var list []Happening
	for _, lane := range d.Lanes {
		for _, s := range d.visible(lane) {
			list = append(list, Happening{s.From - d.From, s.To - s.From, lane.Name, s.text()})
		}
	}
	slices.SortStableFunc(list, func(a, b Happening) int { return cmp.Compare(a.At, b.At) })
	return list
}

func (s Span) text() string {
	if s.Text == "" && len(s.Labels) > 0 {
		return s.Labels[0]
	}
	return s.Text
}

// visible returns the spans of a lane that lie in the diagram, cut to it.
func (d Diagram) visible(lane Lane) []Span { return d.cut(lane.Spans) }

func (d Diagram) cut(spans []Span) []Span {
	var in []Span
	for _, s := range spans {
		s.From, s.To = max(s.From, d.From), min(s.To, d.To)
		if s.From >= s.To {
			continue
		}
		s.Parts = d.cut(s.Parts)
		in = append(in, s)
	}
	return in
}
