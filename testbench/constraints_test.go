package testbench_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

func TestDrawnFieldsKeepAllConstraints(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var c testbench.Constraints
		page := int64(rapid.IntRange(16, 4096).Draw(r, "page"))
		size := c.Field("size", testbench.In(1, 4).Weight(9), testbench.In(5, page))
		addr := c.Field("addr", testbench.In(0, 1<<32-1))
		end := c.Field("end", testbench.In(0, 1<<33))
		c.Require("within a page", func() bool { return addr.Value()%page+size.Value() <= page }, addr, size)
		c.Require("aligned", func() bool { return addr.Value()%4 == 0 }, addr)
		c.Require("end is far enough", func() bool { return end.Value() >= addr.Value()+size.Value() }, addr, size, end)
		rng := testbench.NewRand(rapid.Uint64().Draw(r, "seed"))
		for range 20 {
			if err := c.Draw(rng); err != nil {
				r.Fatal(err)
			}
			s, a := size.Value(), addr.Value()
			if s < 1 || s > page || a%page+s > page || a%4 != 0 || a < 0 || a >= 1<<32 || end.Value() < a+s {
				r.Fatalf("size %d, addr %d, end %d, page %d", s, a, end.Value(), page)
			}
		}
	})
}

func TestWeightsAreKept(t *testing.T) {
	var c testbench.Constraints
	f := c.Field("f", testbench.In(0, 0).Weight(3), testbench.In(1, 1000), testbench.In(-1<<63, -1<<63).Weight(4))
	c.Require("odd or special", func() bool { return f.Value() <= 0 || f.Value()%2 == 1 }, f)
	rng := testbench.NewRand(1)
	counts := map[int64]int{}
	for range 8000 {
		check.Fatal(t, c.Draw(rng))
		counts[min(f.Value(), 1)]++
	}
	// Half of the draws from the second range are drawn again: 3 to 0.5 to 4.
	for v, want := range map[int64]int{0: 3200, 1: 533, -1 << 63: 4266} {
		if got := counts[v]; got < want*8/10 || got > want*12/10 {
			t.Errorf("%d came %d times, want some %d", v, got, want)
		}
	}
}

func TestRareValuesAreFoundAndSeedsRepeat(t *testing.T) {
	draw := func(seed uint64) string {
		var c testbench.Constraints
		a, b := c.Field("a", testbench.In(0, 200)), c.Field("b", testbench.In(0, 200))
		c.Require("only one", func() bool { return a.Value()+b.Value() == 397 && b.Value() > a.Value() }, a, b)
		all := ""
		rng := testbench.NewRand(seed)
		for range 3 {
			check.Fatal(t, c.Draw(rng))
			all += fmt.Sprintf("%d+%d ", a.Int(), b.Int())
		}
		return all
	}
	check.Equal(t, "draws", draw(5), draw(5))
}

func TestConstraintsThatCannotHoldAreNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(c *testbench.Constraints)
		want []string
	}{
		{"one field", func(c *testbench.Constraints) {
			f := c.Field("size", testbench.In(1, 64))
			c.Require("positive", func() bool { return f.Value() > 0 }, f)
			c.Require("huge", func() bool { return f.Value() > 64 }, f)
		}, []string{`"huge" holds for no values of size (1 to 64)`}},
		{"two fields", func(c *testbench.Constraints) {
			a, b := c.Field("a", testbench.In(0, 9)), c.Field("b", testbench.In(20, 29))
			c.Require("order", func() bool { return a.Value() > b.Value() }, a, b)
		}, []string{`"order" holds for no values of a (0 to 9) and b (20 to 29)`}},
		{"contradiction", func(c *testbench.Constraints) {
			a, b := c.Field("a", testbench.In(0, 9)), c.Field("b", testbench.In(0, 9))
			c.Require("less", func() bool { return a.Value() < b.Value() }, a, b)
			c.Require("more", func() bool { return a.Value() > b.Value() }, a, b)
		}, []string{`"less"`, `"more"`, "contradict each other"}},
		{"too rare", func(c *testbench.Constraints) {
			a := c.Field("a", testbench.In(0, 1<<60))
			c.Require("magic", func() bool { return a.Value() == 12345 }, a)
		}, []string{`"magic" spoke against`, "narrow the fields' choices"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var set testbench.Constraints
			c.make(&set)
			err := set.Draw(testbench.NewRand(1))
			if !errors.Is(err, testbench.ErrUnsatisfied) {
				t.Fatalf("got %v", err)
			}
			check.Contains(t, "error", err.Error(), c.want...)
		})
	}
	var set testbench.Constraints
	a := set.Field("a", testbench.In(0, 9))
	b := set.Field("b", testbench.In(0, 9))
	set.Require("hidden", func() bool { return a.Value() <= b.Value() }, a)
	check.Fails(t, "a field that is not listed", set.Draw(testbench.NewRand(1)), nil, "looks at field b, which it does not list")
}

// A burst that may not cross a page of 1 KiB, short ones being most frequent.
func ExampleConstraints() {
	var burst testbench.Constraints
	size := burst.Field("size", testbench.In(1, 4).Weight(3), testbench.In(5, 256))
	addr := burst.Field("addr", testbench.In(0, 0xffff))
	burst.Require("within a page", func() bool { return addr.Int()%1024+size.Int() <= 1024 }, addr, size)
	rng := testbench.NewRand(4)
	for range 3 {
		if err := burst.Draw(rng); err != nil {
			fmt.Println(err)
		}
		fmt.Println(size.Int(), "bytes, within a page:", addr.Int()%1024+size.Int() <= 1024)
	}
	// Output:
	// 1 bytes, within a page: true
	// 3 bytes, within a page: true
	// 4 bytes, within a page: true
}
