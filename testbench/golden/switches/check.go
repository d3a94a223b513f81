package switches

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
)

// Check plays a program on a world to be tested and on one with the model, round by round, up to the first difference. It returns how many packets have
// come out of the former; seen is called with the cases that have come up in rounds that agreed.
func Check(p Program, tested, reference *World, seen func(point, bin string)) (packets uint64, err error) {
	err = try.Run(func() {
		want, have := newPlayer(reference, p), newPlayer(tested, p)
		for round := range p.Rounds {
			j := &judge{player: want, seen: map[event]int{}}
			j.round(p.Rounds[round])
			reference.passed, reference.dealt = j.passed, j.dealt // of a switch, and of a network interface
			b, err := want.play(round, -1)
			if err != nil {
				try.Failf("the model, round %d: %w", round, err)
			}
			j.barriers(p.Rounds[round])
			a, err := have.play(round, b.Packets)
			if err != nil {
				try.Failf("round %d: %w", round, err)
			}
			packets += uint64(a.Packets)
			try.OK(compare(a, b))
			for e := range j.seen {
				seen(e.point, e.bin)
			}
		}
		if p.Deaf != 0 {
			have.deaf(p.Deaf)
		}
	})
	return packets, err
}

// Difference is the first place where two switches have done something else.
type Difference struct {
	Round, Line int
	Lane        string
	Have, Want  string // "" for nothing
}

func (d *Difference) Error() string {
	return fmt.Sprintf("round %d, %s: line %d is %q in RTL, and %q in the model", d.Round, d.Lane, d.Line, d.Have, d.Want)
}

// compare finds the first difference of a round.
func compare(have, want *Transcript) error {
	lanes := slices.Sorted(maps.Keys(want.Lanes))
	for lane := range have.Lanes {
		if want.Lanes[lane] == nil {
			lanes = append(lanes, lane)
		}
	}
	for _, lane := range lanes {
		a, b := have.Lanes[lane], want.Lanes[lane]
		for i := range max(len(a), len(b)) {
			if x, y := lineAt(a, i), lineAt(b, i); x != y {
				return &Difference{have.Round, i, lane, x, y}
			}
		}
	}
	return nil
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
