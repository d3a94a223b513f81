package testbench

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
)

// FaultRates says what happens to a link at random. Rates are per symbol; the zero value makes nothing. At most one fault begins at
// a symbol, and none while a burst, a stuck symbol or an unplugged cable lasts.
type FaultRates struct {
	// Symbols is how many symbols a plan is for.
	Symbols uint64
	// Width is how many bits a symbol has, up to 16; 0 means 9.
	Width int
	// BitError is the probability that a bit is flipped (per bit, not per symbol), up to 1/4 for each symbol.
	BitError float64
	// Drop, Duplicate, Burst, Stuck and Unplug are the probabilities that such a fault begins at a symbol, up to 1/8.
	Drop, Duplicate, Burst, Stuck, Unplug float64
	// BurstLength, StuckLength and UnplugLength are the most symbols that one lasts, up to 32768 and rounded up to a power of two;
	// 0 means 16, 64 and 1024.
	BurstLength, StuckLength, UnplugLength int
	// Open is what an unplugged link reads as.
	Open uint64
}

// FaultSource draws faults symbol by symbol. What it draws follows from a 64-bit number a symbol, made by a xorshift generator
// (Marsaglia 2003, shifts 13, 7, 17), as simply as it can so that hardware does the same:
//
//   - bits 63:61 name a kind (Chances says which), and a fault of that kind begins if bits 60:32 are below its chance;
//   - of the rest, bits 31:16 choose the bit that is flipped, or how long the fault lasts (1 and as many bits of them as its length has), and
//     the low bits are the value that a link is stuck at, or all 32 the Value of a burst.
type FaultSource struct {
	// Seed is the first number. It is odd.
	Seed uint64
	// Chances are what bits 60:32 of a number are compared with, by its bits 63:61: flip, flip, drop, duplicate, burst, stuck, unplug, none.
	Chances [8]uint32
	// Lengths are the logarithms, base 2, of the most symbols that a burst, a stuck symbol and an unplugged cable last.
	Lengths [3]int
	// Open is what an unplugged cable reads as.
	Open uint64

	width int
	state uint64
	index uint64
	busy  uint64 // symbols for which a fault lasts
}

var faultCodes = [8]FaultKind{FaultFlip, FaultFlip, FaultDrop, FaultDuplicate, FaultBurst, FaultStuck, FaultUnplug, faultKinds}

// Source returns what draws faults of these rates; equal seeds draw equal faults.
func (rates FaultRates) Source(seed uint64) (*FaultSource, error) {
	rates.Width = cmp.Or(rates.Width, 9)
	if rates.Width < 1 || rates.Width > 16 {
		return nil, fmt.Errorf("testbench: faults on symbols of %d bits: want 1 to 16", rates.Width)
	}
	s := &FaultSource{Seed: scramble(seed) | 1, Open: rates.Open, width: rates.Width}
	flip := rates.BitError * float64(rates.Width)
	for code, of := range [...]struct {
		name  string
		rate  float64
		codes int
	}{{"bit error", flip, 2}, {"bit error", flip, 2}, {"drop", rates.Drop, 1}, {"duplicate", rates.Duplicate, 1}, {"burst", rates.Burst, 1},
		{"stuck", rates.Stuck, 1}, {"unplug", rates.Unplug, 1}} {
		most := float64(of.codes) / 8
		if math.IsNaN(of.rate) || of.rate < 0 || of.rate > most {
			return nil, fmt.Errorf("testbench: %s rate of %v a symbol: want 0 to %v", of.name, of.rate, most)
		}
		if of.rate > 0 {
			s.Chances[code] = uint32(min(max(math.Round(of.rate/most*(1<<29)), 1), 1<<29-1))
		}
	}
	for i, of := range [...]struct {
		name           string
		length, normal int
	}{{"burst", rates.BurstLength, 16}, {"stuck", rates.StuckLength, 64}, {"unplug", rates.UnplugLength, 1024}} {
		length := cmp.Or(of.length, of.normal)
		if length < 1 || length > 1<<15 {
			return nil, fmt.Errorf("testbench: %s lasts up to %d symbols: want 1 to 32768", of.name, length)
		}
		s.Lengths[i] = bits.Len(uint(length - 1))
	}
	s.state = s.Seed
	return s, nil
}

// scramble makes numbers without a pattern from those that people choose.
func scramble(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Next returns the fault that begins at the next symbol; ok is false if none does.
func (s *FaultSource) Next() (f Fault, ok bool) {
	n := s.state
	s.state ^= s.state << 13
	s.state ^= s.state >> 7
	s.state ^= s.state << 17
	at := s.index
	s.index++
	if s.busy > 0 {
		s.busy--
		return f, false
	}
	code, low := n>>61, n&0xFFFFFFFF
	if uint32(n>>32)&(1<<29-1) >= s.Chances[code] {
		return f, false
	}
	f = Fault{At: at, Kind: faultCodes[code], Count: 1}
	switch f.Kind {
	case FaultFlip:
		f.Value = 1 << (low >> 16 * uint64(s.width) >> 16)
	case FaultBurst:
		f.Value = low
	case FaultStuck:
		f.Value = low & (1<<s.width - 1)
	case FaultUnplug:
		f.Value = s.Open
	}
	if code >= 4 { // those that last
		f.Count = 1 + low>>16&(1<<s.Lengths[code-4]-1)
		s.busy = f.Count - 1
	}
	return f, true
}

// Plan draws the faults of the next n symbols, counted from the first.
func (s *FaultSource) Plan(n uint64) FaultPlan {
	var plan FaultPlan
	for range n {
		if f, ok := s.Next(); ok {
			plan = append(plan, f)
		}
	}
	return plan
}

// GenerateFaults draws a plan. It panics if the rates are out of bounds; FaultRates.Source returns an error instead.
func GenerateFaults(r *Rand, rates FaultRates) FaultPlan {
	s, err := rates.Source(r.Split("faults").Uint64())
	if err != nil {
		panic(err)
	}
	return s.Plan(rates.Symbols)
}
