package testbench_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

// heard is a Reporter.
type heard []string

func (h *heard) Errorf(format string, args ...any) {
	*h = append(*h, fmt.Errorf(format, args...).Error())
}

func TestScoreboardShowsTheFirstDifference(t *testing.T) {
	var said heard
	s := testbench.NewScoreboard[[]byte](&said, "rx")
	want := bytes.Repeat([]byte{0x11}, 40)
	got := bytes.Clone(want)
	got[20] = 0xEE
	s.Expect(want)
	s.Expect(want)
	s.Expect([]byte{1, 2})
	check.Error(t, s.Got(want))
	s.Got(got)
	s.Got([]byte{1})
	s.Got([]byte{9})
	check.Equal(t, "reports", said, heard{
		"rx: item 1: they differ from byte 20 (0x14) on\n" +
			"got  … 11 11 11 11 11 11 11 11 [ee] 11 11 11 11 11 11 11 11 …\n" +
			"want … 11 11 11 11 11 11 11 11 [11] 11 11 11 11 11 11 11 11 …",
		"rx: item 2: got 1 bytes, want 2; they differ from byte 1 (0x1) on\ngot  01 [end]\nwant 01 [02]",
		"rx: item 3: got 1 bytes 09, want nothing",
	})
	if s.Compared() != 4 || s.Finish() != nil {
		t.Errorf("%d compared, %d pending", s.Compared(), s.Pending())
	}
}

func TestScoreboardFinishListsWhatIsMissing(t *testing.T) {
	s := testbench.NewScoreboard[int](nil, "numbers")
	for i := range 6 {
		s.Expect(i)
	}
	s.Got(0)
	check.Equal(t, "Got", fmt.Sprint(s.Got(7)), "numbers: item 1: got 0x7, want 0x1")
	s.Expect(99)
	check.Equal(t, "Finish", fmt.Sprint(s.Finish()), "numbers: 5 missing after 2 that came:\n0x2\n0x3\n0x4\n0x5\n…")
}

func TestUnorderedCountsHowOften(t *testing.T) {
	s := testbench.NewUnordered[[]byte](nil, "events")
	for _, v := range []string{"a", "b", "a"} {
		s.Expect([]byte(v))
	}
	for _, v := range []string{"b", "a", "a"} {
		check.Error(t, s.Got([]byte(v)))
	}
	check.Fails(t, "a third a", s.Got([]byte("a")), nil, "item 3: got 1 bytes 61, want none like it")
	check.Error(t, s.Finish())
}

func TestKeyedKeepsTheOrderWithinAKey(t *testing.T) {
	type packet struct{ Port, Number int }
	s := testbench.NewKeyed(nil, "packets", func(p packet) int { return p.Port })
	for i := range 3 {
		s.Expect(packet{1, i})
		s.Expect(packet{2, i})
	}
	for _, p := range []packet{{2, 0}, {1, 0}, {2, 1}} {
		check.Error(t, s.Got(p))
	}
	check.Equal(t, "Got", fmt.Sprint(s.Got(packet{1, 2})), "packets: item 3, key 0x1: got {Port:1 Number:2}, want {Port:1 Number:1}")
	check.Equal(t, "Finish", fmt.Sprint(s.Finish()), "packets: 2 missing after 4 that came:\n{Port:1 Number:2}\n{Port:2 Number:2}")
}

func ExampleScoreboard() {
	s := testbench.NewScoreboard[[]byte](nil, "frames")
	s.Expect([]byte("hello"))
	fmt.Println(s.Got([]byte("hallo")))
	// Output:
	// frames: item 0: they differ from byte 1 (0x1) on
	// got  68 [61] 6c 6c 6f
	// want 68 [65] 6c 6c 6f
}
