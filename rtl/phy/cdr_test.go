package phy_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/testbench"
)

// cdr is what cdr_oversample's contract says, in whole numbers.
type cdr struct {
	over, majority int
	seen           [3]bool // the line 1, 2 and 3 clocks ago
	phase          int     // clocks since the one in which an edge is expected
	votes          int     // late edges less early ones
	move           int     // clocks by which a bit is to be longer
	valid, d       bool
}

func (c *cdr) clock(line, rst bool) {
	late, now := 0, c.seen[1] // +1 for a late edge, -1 for an early one
	middle, last := (c.over-1)/2, c.over-1
	edge := now != c.seen[2]
	switch {
	case edge && c.phase > middle:
		late = -1
	case edge && c.phase > 0:
		late = 1
	}
	c.valid, c.d = c.phase == middle, now

	if end := last + c.move; c.phase == end || c.phase == last && c.move < 0 {
		if c.phase == end {
			c.move = 0
		}
		c.phase = 0
	} else {
		c.phase++
	}
	switch {
	case late != 0:
		if c.votes += late; c.votes == late*c.majority {
			c.votes, c.move = 0, late
		}
	case edge && c.votes > 0:
		c.votes--
	case edge && c.votes < 0:
		c.votes++
	}
	c.seen[2], c.seen[1], c.seen[0] = c.seen[1], c.seen[0], line
	if rst {
		c.phase, c.votes, c.move, c.valid = 0, 0, 0, false
	}
}

// The sampling point is, in every clock and on any line, where the votes of the edges put it; a reset forgets them.
func TestCDRVotes(t *testing.T) {
	for _, c := range []struct{ over, majority int }{{3, 2}, {5, 8}, {8, 8}} {
		t.Run(fmt.Sprintf("%d samples, %d votes", c.over, c.majority), func(t *testing.T) {
			var p struct {
				Rst   *bool `port:"rst"`
				Line  *bool `port:"line"`
				Valid *bool `port:"d_valid"`
				D     *bool `port:"d"`
			}
			b := open(t, "cdr_oversample", params{"OVERSAMPLE": strconv.Itoa(c.over), "VOTES": strconv.Itoa(c.majority)}, &p)
			rng := b.Rand("line")
			want := cdr{over: c.over, majority: c.majority}
			moved := map[int]int{}
			for range 300 {
				w := wire{rng: rng, noise: rng.Bool, level: *p.Line}
				w.period = float64(c.over) * (1 + testbench.Pick(rng, 0, 0.003, -0.003, 0.05, -0.05))
				w.jitter = w.period * testbench.Pick(rng, 0, 0.1, 0.25, 0.5)
				from := rng.IntN(c.over)
				places, share := rng.Between(1, c.over), testbench.Pick(rng, 0, 0.2, 1) // else edges in these clocks of a bit only
				for range rng.Between(1, 800) {
					if share == 0 {
						*p.Line = w.sample()
					} else if at := want.phase + 2 - from + c.over; at%c.over < places && rng.Chance(share) {
						*p.Line = !*p.Line
					}
					*p.Rst = rng.Chance(0.0005)
					before := want.move
					want.clock(*p.Line, *p.Rst)
					if want.move != before {
						moved[want.move]++
					}
					b.Step(1)
					if *p.Valid != want.valid || *p.D != want.d {
						t.Fatalf("clock %d: d_valid %t, d %t, want %t, %t", b.Cycle(), *p.Valid, *p.D, want.valid, want.d)
					}
				}
			}
			if moved[1] < 100 || moved[-1] < 100 {
				t.Errorf("the sampling point moves seldom: %v", moved)
			}
			t.Logf("%v", moved)
		})
	}
}
