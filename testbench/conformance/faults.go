package conformance

import (
	"math/rand/v2"

	"github.com/stafflink/lmmc/linkproto"
)

// faults are what a host's cable does to symbols. The zero value does nothing.
type faults struct {
	rng                   *rand.Rand
	flip, drop, duplicate float64 // chance for each symbol
	burst                 float64 // chance that a burst of noise begins, of up to burstLength symbols
	noise                 int     // symbols left of it
	until                 int     // tick, from disturb on, at which all this ends; 0: never

	from, to int  // ticks, from disturb on, in which the cable is cut:
	out, in  bool // what goes to the NI, what comes from it
}

const burstLength = 16

// apply returns in dst, which is empty, what becomes of symbols; they become no more than most.
func (f *faults) apply(dst, symbols []linkproto.Symbol, most, now int, cut bool) []linkproto.Symbol {
	if cut {
		return dst
	}
	if f.flip+f.drop+f.duplicate+f.burst == 0 || f.until > 0 && now >= f.until {
		return append(dst, symbols...)
	}
	for i, s := range symbols {
		if f.burst > 0 && f.rng.Float64() < f.burst {
			f.noise = 1 + f.rng.IntN(burstLength)
		}
		if f.noise > 0 {
			f.noise--
			s = linkproto.Symbol(f.rng.IntN(1 << 9))
		}
		switch p := f.rng.Float64(); {
		case p < f.flip:
			dst = append(dst, s^1<<f.rng.IntN(9))
		case p < f.flip+f.drop:
		case p < f.flip+f.drop+f.duplicate && len(dst)+len(symbols)-i < most:
			dst = append(dst, s, s)
		default:
			dst = append(dst, s)
		}
	}
	return dst
}

func (f *faults) isCut(now int) bool  { return f.from <= now && now < f.to }
func (f *faults) cutOut(now int) bool { return f.out && f.isCut(now) }
func (f *faults) cutIn(now int) bool  { return f.in && f.isCut(now) }

// change is how many ticks pass until the cable is cut or whole again.
func (f *faults) change(now int) int {
	switch {
	case now < f.from:
		return f.from - now
	case now < f.to:
		return f.to - now
	}
	return 1 << 30
}
