package testbench

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// seedFlag is the value of -seed.
type seedFlag struct {
	set   bool
	value uint64
}

func (s *seedFlag) String() string {
	if !s.set {
		return ""
	}
	return strconv.FormatUint(s.value, 10)
}

func (s *seedFlag) Set(text string) error {
	if text == "random" {
		s.set, s.value = true, uint64(rand.Uint32())
		return nil
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return fmt.Errorf("want a number or \"random\", not %q", text)
	}
	s.set, s.value = true, v
	return nil
}

var (
	seedGiven seedFlag
	waveGiven bool
)

// The flags are for test programs only; other programs have their own.
func init() {
	if !testing.Testing() {
		return
	}
	flag.Var(&seedGiven, "seed", "seed of all benches: a number or \"random\"; unless set each follows from its test's name")
	flag.BoolVar(&waveGiven, "wave", false, "leave a wave of the last stretch of passing tests as well")
}

// TestSeed returns the seed for a test: that of the flag -seed or of LMMC_SEED, or else one that follows from the
// test's name.
func TestSeed(t testing.TB) uint64 {
	t.Helper()
	return SampleSeed(t, 0)
}

// SampleSeed is TestSeed for a test that tries a sample of something: unless it is given, it follows from a hash of what is tested as well, so that
// a change of that brings another sample, and the same is tried as long as nothing changes.
func SampleSeed(t testing.TB, hash uint64) uint64 {
	if seedGiven.set {
		return seedGiven.value
	}
	if text := os.Getenv("LMMC_SEED"); text != "" {
		if err := seedGiven.Set(text); err != nil {
			t.Helper()
			t.Fatalf("LMMC_SEED: %v", err)
		}
		return seedGiven.value
	}
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	return uint64(h.Sum32()) ^ hash
}
