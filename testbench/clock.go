package testbench

import (
	"math"

	"github.com/stafflink/lmmc/verilator"
)

// never is later than any edge.
const never = math.MaxUint64

// Clock is a clock of a Bench.
type Clock struct {
	*verilator.Clock
	name         string
	period, high uint64
	next         uint64 // time of the next rising edge
}

// Name returns the port that the clock drives.
func (k *Clock) Name() string { return k.name }

// Period returns the time between two rising edges.
func (k *Clock) Period() uint64 { return k.period }

// fall returns when the clock falls next.
func (k *Clock) fall(now uint64) uint64 {
	if t := k.next - k.period + k.high; t > now && k.Cycles() > 0 {
		return t
	}
	return k.next + k.high
}

// after returns when the clock will have risen n times more.
func (k *Clock) after(n uint64) uint64 {
	if n == 0 {
		return k.next - k.period
	}
	if n-1 > (never-k.next)/k.period {
		return never
	}
	return k.next + (n-1)*k.period
}

// risesAt reports whether the clock will rise at a time to come.
func (k *Clock) risesAt(t uint64) bool { return t >= k.next && (t-k.next)%k.period == 0 }

// advance notes that time has come to now.
func (k *Clock) advance(now uint64) {
	if k.next <= now {
		k.next += (now - k.next + k.period) / k.period * k.period
	}
}
