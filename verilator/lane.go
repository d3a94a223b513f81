package verilator

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Lane is a text that stands beside the signals of a wave and changes with time, as what a bus does.
type Lane struct {
	Name    string
	Changes []Text // in the order of time
}

// Text is what a lane says from a time on.
type Text struct {
	Time uint64
	Text string
}

// encodeLanes writes lanes as the runtime reads them: their number, their names, then each change as time since the one before, lane and text.
// Of changes at the same time only the last one of a lane is written.
func encodeLanes(lanes []Lane) (b []byte) {
	if len(lanes) == 0 {
		return nil
	}
	type change struct {
		Text
		lane int
	}
	var changes []change
	b = binary.AppendUvarint(b, uint64(len(lanes)))
	for i, lane := range lanes {
		b = append(binary.AppendUvarint(b, uint64(len(lane.Name))), lane.Name...)
		changes = append(changes, change{Text{}, i})
		for _, c := range lane.Changes {
			if last := &changes[len(changes)-1]; last.Time == c.Time {
				last.Text = c
			} else {
				changes = append(changes, change{c, i})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.Time, b.Time) })
	now := uint64(0)
	for _, c := range changes {
		b = binary.AppendUvarint(binary.AppendUvarint(b, c.Time-now), uint64(c.lane))
		b = append(binary.AppendUvarint(b, uint64(len(c.Text.Text))), c.Text.Text...)
		now = c.Time
	}
	return b
}
