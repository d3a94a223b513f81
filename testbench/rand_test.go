package testbench_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stafflink/lmmc/testbench"
)

func TestStreamsDoNotDisturbEachOther(t *testing.T) {
	one := testbench.NewRand(1)
	a := one.Split("a").Bytes(32)
	one.Uint64()
	one.Split("b").Uint64()
	if !bytes.Equal(a, one.Split("a").Bytes(32)) {
		t.Error("the stream a depends on what else was drawn")
	}
	if bytes.Equal(a, one.Split("b").Bytes(32)) || bytes.Equal(a, testbench.NewRand(2).Split("a").Bytes(32)) {
		t.Error("streams of another name or seed are equal")
	}
}

func TestWeightedKeepsTheWeights(t *testing.T) {
	r := testbench.NewRand(1)
	var counts [3]float64
	for range 10_000 {
		counts[r.Weighted(1, 0, 3)]++
	}
	if counts[1] != 0 || math.Abs(counts[0]-2500) > 200 {
		t.Errorf("counts %v", counts)
	}
}

func TestSizeFindsTheCorners(t *testing.T) {
	const max, page = 1000, 256
	r := testbench.NewRand(1)
	seen := map[int]int{}
	for range 5000 {
		n := r.Size(max, page)
		if n < 0 || n > max {
			t.Fatalf("size %d", n)
		}
		seen[n]++
	}
	for _, corner := range []int{0, 1, 2, page - 1, page, page + 1, max - 1, max} {
		if seen[corner] < 20 {
			t.Errorf("size %d came %d times", corner, seen[corner])
		}
	}
	for range 100 {
		if n := r.Size(0, 0); n != 0 {
			t.Fatalf("size %d of at most 0", n)
		}
	}
}
