package harness

import (
	"cmp"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Rate is a random rate between two, evenly spread over the orders of magnitude.
func Rate(rng *testbench.Rand, low, high float64) float64 {
	x := rng.Float64()
	for ; low*10 <= high && x > 0.5; x = rng.Float64() {
		low *= 10
	}
	return min(low*(1+9*x), high)
}

// FaultPlan is n faults spread over the next span symbol times of a wire. No unplugging lasts so long that the link would start again, nor do
// several.
func FaultPlan(rng *testbench.Rand, p rtl.Params, from uint64, n, span int) []verilator.Fault {
	if p.LinkPHY != rtl.Direct {
		return lineFaults(rng, p, from, n, span)
	}
	var faults []verilator.Fault
	for range n {
		f := verilator.Fault{At: from + uint64(rng.IntN(span))}
		switch rng.IntN(5) {
		case 0:
			f.Kind, f.Value = verilator.Flip, 1<<rng.IntN(9)
		case 1:
			f.Kind, f.Cycles = verilator.Drop, 1+uint64(rng.IntN(3))
		case 2:
			f.Kind, f.Cycles, f.Value = verilator.Flip, 1+uint64(rng.IntN(20)), uint64(rng.IntN(512))
		case 3:
			f.Kind, f.Cycles, f.Value = verilator.Stuck, 1+uint64(rng.IntN(50)), uint64(rng.IntN(512))
		default:
			f.Kind, f.Cycles, f.Value = verilator.Cut, uint64(rng.IntN(5000)), uint64(linkproto.SymIdle)
		}
		faults = append(faults, f)
	}
	limitSilence(faults, uint64(p.WordTimer))
	return faults
}

// limitSilence ends cuts early that would, with those before them, keep every word from a peer for more than 2 WORD_TIMER. A word is said after
// a WORD_TIMER at most, so 4 of them never pass without one.
func limitSilence(faults []verilator.Fault, wordTimer uint64) {
	var cuts []*verilator.Fault
	for i := range faults {
		if faults[i].Kind == verilator.Cut {
			cuts = append(cuts, &faults[i])
		}
	}
	slices.SortFunc(cuts, func(a, b *verilator.Fault) int { return cmp.Compare(a.At, b.At) })
	var since, end uint64
	for i, f := range cuts {
		if i == 0 || f.At > end+wordTimer {
			since = f.At
		}
		f.Cycles = min(f.Cycles, max(since+2*wordTimer, f.At)-f.At)
		end = max(end, f.At+f.Cycles)
	}
}

// lineFaults is n faults spread over the next span symbol times of a line of one wire. Two cuts in a row, and the time until a
// serial PHY has a comma again, are no silence.
func lineFaults(rng *testbench.Rand, p rtl.Params, from uint64, n, span int) []verilator.Fault {
	_, symbol := p.SymbolClocks()
	bit := symbol / 10
	var faults []verilator.Fault
	for range n {
		at := from + uint64(rng.IntN(span*symbol))
		level := uint64(rng.IntN(2))
		switch rng.IntN(4) {
		case 0: // an edge moved, or a bit wrong
			faults = append(faults, verilator.Fault{Kind: verilator.Flip, At: at, Cycles: 1 + uint64(rng.IntN(2*bit)), Value: 1})
		case 1: // stuck: a break, when it is low
			faults = append(faults, verilator.Fault{Kind: verilator.Stuck, At: at, Cycles: 1 + uint64(rng.IntN(5*symbol)), Value: level})
		case 2: // levels that last any number of clocks: the receiver follows them, and has slipped when they end
			for range 20 + rng.IntN(100) {
				clocks := uint64(1 + rng.IntN(3*bit))
				faults = append(faults, verilator.Fault{Kind: verilator.Stuck, At: at, Cycles: clocks, Value: level})
				at, level = at+clocks, 1-level
			}
		default:
			faults = append(faults, verilator.Fault{Kind: verilator.Cut, At: at, Cycles: uint64(rng.IntN(350 * symbol)), Value: level})
		}
	}
	return faults
}

// flipBits is a cable to a host with bit errors.
func flipBits(rng *testbench.Rand, rate float64) func([]linkproto.Symbol) []linkproto.Symbol {
	own := testbench.NewRand(rng.Uint64())
	return func(line []linkproto.Symbol) []linkproto.Symbol {
		for i := range line {
			for bit := range 9 {
				if own.Float64() < rate {
					line[i] ^= 1 << bit
				}
			}
		}
		return line
	}
}
