package golden

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// span is a range of bytes in a frame, both ends included.
type span struct{ first, last int }

func (s span) and(t span) span { return span{min(s.first, t.first), max(s.last, t.last)} }

// notified takes note of a NOTIFY.
func (p *Player) notified(q linkproto.Packet) {
	if int(q.Frame) >= p.Params.Frames || q.First > q.Last || int(q.Last) >= p.Params.PageBytes {
		p.fail("NOTIFY of frame %d, bytes %d to %d", q.Frame, q.First, q.Last)
		return
	}
	p.out.Notified[int(q.Frame)] = append(p.out.Notified[int(q.Frame)], span{int(q.First), int(q.Last)})
}

// observe takes note of the remote writes that a model has carried out.
func (p *Player) observe(o model.Observation) {
	if o.Outcome == model.Written {
		var q linkproto.Packet
		if err := q.Decode(o.Packet); err != nil {
			p.fail("the model has carried out % x: %w", o.Packet, err)
			return
		}
		if n := len(q.Data); n > 0 {
			first := int(q.Addr) % p.Params.PageBytes
			frame := int(q.Addr) / p.Params.PageBytes
			p.out.Written[frame] = append(p.out.Written[frame], span{first, first + n - 1})
		}
	}
	p.judge(o)
}

// checkNotes compares what a host was notified of with the writes that were carried out.
func checkNotes(t *Transcript, written map[int][]span) error {
	for _, frame := range slices.Sorted(maps.Keys(t.Notified)) {
		notes := t.Notified[frame]
		if t.Muted {
			return fmt.Errorf("round %d (%v): NOTIFY of frame %d, bytes %v, while CONTROL says none", t.Round, t.Kind, frame, notes)
		}
		if frame == t.Unsure {
			continue
		}
		groups, ok := explain(notes, written[frame], t.Gaps)
		if !ok {
			return fmt.Errorf("round %d (%v): frame %d was written at %v in this order, and NOTIFY came for %v, which are not the smallest ranges for them",
				t.Round, t.Kind, frame, written[frame], notes)
		}
		for _, g := range groups {
			t.hit("NOTIFY", merged(g))
		}
	}
	for _, frame := range slices.Sorted(maps.Keys(written)) {
		if !t.Muted && !t.Gaps && frame != t.Unsure && len(t.Notified[frame]) == 0 {
			return fmt.Errorf("round %d (%v): frame %d was written at %v, and no NOTIFY came", t.Round, t.Kind, frame, written[frame])
		}
	}
	if t.Muted && len(written) > 0 {
		t.hit("NOTIFY", "off")
	}
	return nil
}

// merged names how the last of the writes that a NOTIFY was for goes with those before.
func merged(group []span) string {
	if len(group) == 1 {
		return "one write"
	}
	before, last := group[0], group[len(group)-1]
	for _, s := range group[1 : len(group)-1] {
		before = before.and(s)
	}
	return firstOf([]candidate{
		{"the same range again", last == before},
		{"writes apart", last.first > before.last+1 || last.last < before.first-1},
		{"a range within", before.and(last) == before},
		{"a range around", before.and(last) == last},
		{"writes that touch", true},
	})
}

// explain cuts writes into groups of neighbours that have the notes for their smallest ranges, if that can be done. With gaps, writes may
// be left out.
func explain(notes, writes []span, gaps bool) (groups [][]span, ok bool) {
	type step struct{ from, to, before int } // a group, and where in the writes the search stood before it
	reached := []map[int]step{{0: {}}}       // after each note, by how many writes it and those before may have been for
	for i, note := range notes {
		next := map[int]step{}
		for _, start := range slices.Sorted(maps.Keys(reached[i])) {
			for from := start; from < len(writes) && (gaps || from == start); from++ {
				for to, all := from, writes[from]; to < len(writes); to++ {
					if all = all.and(writes[to]); all == note {
						next[to+1] = step{from, to + 1, start}
					}
				}
			}
		}
		reached = append(reached, next)
	}
	last := reached[len(notes)]
	at := len(writes)
	if _, all := last[at]; !all {
		if !gaps || len(last) == 0 {
			return nil, false
		}
		at = slices.Max(slices.Collect(maps.Keys(last)))
	}
	for i := len(notes); i > 0; i-- {
		s := reached[i][at]
		groups = append(groups, writes[s.from:s.to])
		at = s.before
	}
	slices.Reverse(groups)
	return groups, true
}
