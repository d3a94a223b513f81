package phy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// cdr_oversample gives every bit once, at most one clock early or late, and in step with its own clock while there are no edges.
func TestCDR(t *testing.T) {
	const over = 5
	var p struct {
		Line, DValid, D *bool `port:"*"`
	}
	b := moduletest.Open(t, "cdr_oversample", nil, &p)
	rng := b.Rand("bits")
	var sent, got []bool
	var moves [3]int
	last, n, flat := -1, 0, 0
	w := wire{rng: rng, period: over * 1.002, jitter: 1}
	w.noise = func() bool {
		bit := rng.Bool()
		if len(sent)%400 >= 370 {
			bit = false // no edges for a while
		}
		sent = append(sent, bit)
		return bit
	}
	for ; n < 100000; n++ {
		before := w.level
		*p.Line = w.sample()
		if flat++; w.level != before {
			flat = 0
		}
		b.Step(1)
		if !*p.DValid {
			continue
		}
		if last >= 0 {
			d := n - last - over
			if d < -1 || d > 1 {
				t.Fatalf("%d clocks from bit to bit", n-last)
			}
			if moves[d+1]++; d != 0 && flat > 3*over {
				t.Fatal("the sampling point moves without edges")
			}
		}
		last, got = n, append(got, *p.D)
	}
	// At the beginning a bit may be missing, or be there twice, until the edges are found.
	ok := false
	for shift := -3; shift <= 3; shift++ {
		g := got[50 : len(got)-50]
		ok = ok || slices.Equal(g, sent[50+shift:50+shift+len(g)])
	}
	if !ok {
		t.Error("bits differ")
	}
	// The sender is slower by 2000 ppm, which is 200 clocks here.
	if d := moves[2] - moves[0]; d < 195 || d > 205 || moves[0] > 5 {
		t.Errorf("%d bits too short, %d right, %d too long", moves[0], moves[1], moves[2])
	}
	t.Logf("%d bits too short, %d right, %d too long", moves[0], moves[1], moves[2])
}

// comma_align sets the border at a K28.5 when it is not locked only; 16 right verdicts lock it; and wrong ones unlock it when they outweigh
// the right ones.
func TestCommaAlign(t *testing.T) {
	var p struct {
		DValid, D, CodeValid, Judged, Bad, Locked *bool   `port:"*"`
		Code                                      *uint16 `port:"*"`
	}
	b := moduletest.Open(t, "comma_align", nil, &p)
	rng := b.Rand("bits")
	rd := false
	var codes []uint
	bad := false // the verdict on all that follows
	bit := func(d bool) {
		for i := range 4 {
			*p.DValid, *p.D = i == 0, d
			b.Step(1)
			if *p.CodeValid {
				codes = append(codes, uint(*p.Code))
				*p.DValid = false
				b.Step(uint64(rng.Between(1, 6)))
				*p.Judged, *p.Bad = true, bad
				b.Step(1)
				*p.Judged, *p.Bad = false, rng.Bool()
			}
		}
	}
	send := func(s linkproto.Symbol) uint {
		c := code8b10b.Encode(s, &rd)
		for i := 9; i >= 0; i-- {
			bit(c>>i&1 == 1)
		}
		return c
	}
	slip := func(n int) {
		for range n {
			bit(rng.Bool())
		}
	}
	for round := range 30 {
		// Not locked: the border follows each comma.
		for range 3 {
			slip(rng.Between(1, 30))
			codes = nil
			for range 3 {
				want := send(linkproto.SymIdle)
				if n := len(codes); n == 0 || codes[n-1] != want || *p.Locked {
					t.Fatalf("round %d: %010b, want %010b at the end; locked %t", round, codes, want, *p.Locked)
				}
			}
		}
		// The comma that sets the border is not counted, one wrong code group stops the count until the next comma.
		slip(rng.Between(1, 9))
		send(linkproto.SymIdle)
		for range 10 {
			send(linkproto.Data(0x4A))
		}
		bad = true
		send(linkproto.Data(0x4A))
		bad = false
		for range 30 {
			send(linkproto.Data(0x4A))
		}
		if *p.Locked {
			t.Fatal("locked without a comma")
		}
		bad = rng.Bool() // its disparity may be off
		send(linkproto.SymIdle)
		bad = false
		for n := range 16 {
			if *p.Locked {
				t.Fatalf("locked after %d code groups", n)
			}
			send(linkproto.Data(0x4A))
		}
		if !*p.Locked {
			t.Fatal("not locked after 16 code groups")
		}
		// Locked: a comma elsewhere changes nothing.
		codes = nil
		slip(3)
		for range 5 {
			send(linkproto.SymIdle)
		}
		slip(7)
		want := send(linkproto.SymEOP)
		if len(codes) != 7 || codes[6] != want || !*p.Locked {
			t.Fatalf("%010b, want the last to be %010b; locked %t", codes, want, *p.Locked)
		}
		// 4 for a wrong one against 1 for a right one, up to 32.
		for score := 0; *p.Locked; {
			if bad = rng.Chance(0.35); bad {
				score += 4
			} else {
				score = max(score-1, 0)
			}
			send(linkproto.Data(0x4A))
			if *p.Locked != (score < 32) {
				t.Fatalf("score %d, locked %t", score, *p.Locked)
			}
		}
		bad = false
		for range 30 {
			if send(linkproto.Data(0x4A)); *p.Locked {
				t.Fatal("locked again without a comma")
			}
		}
	}
}

// cdr is what cdr_oversample's contract says, in whole numbers.
type cdr struct {
	over, majority int
	seen           [3]bool // the line 1, 2 and 3 clocks ago
	phase          int     // clocks since the one in which an edge is expected
	votes          int     // late edges less early ones
	move           int     // clocks by which to lengthen a bit
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
				Rst, Line, DValid, D *bool `port:"*"`
			}
			b := moduletest.Open(t, "cdr_oversample", params{"OVERSAMPLE": c.over, "VOTES": c.majority}, &p)
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
					if *p.DValid != want.valid || *p.D != want.d {
						t.Fatalf("clock %d: d_valid %t, d %t, want %t, %t", b.Cycle(), *p.DValid, *p.D, want.valid, want.d)
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
