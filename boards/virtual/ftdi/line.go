package ftdi

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// frame is how one end of a serial line sends and expects bytes.
type frame struct {
	rate   float64 // bits a second
	bits   int     // of data
	parity parity
	stop   float64 // bits
}

type parity int

// As requestData has them.
const (
	noParity parity = iota
	oddParity
	evenParity
	markParity
	spaceParity
)

// eightN1 is the format that the FPGA has.
func eightN1(rate float64) frame { return frame{rate: rate, bits: 8, stop: 1} }

// bit is what a parity bit is of a byte.
func (p parity) bit(b byte) bool {
	odd := bits.OnesCount8(b)%2 != 0
	switch p {
	case oddParity:
		return !odd
	case evenParity:
		return odd
	}
	return p == markParity
}

// Errors of bytes, as bits of the line's status.
const (
	errOverrun = 1 << 1
	errParity  = 1 << 2
	errFraming = 1 << 3
	errBreak   = 1 << 4
)

// character is what a receiver makes of a line.
type character struct {
	b      byte
	errors byte
}

// noise turns bits over on their way.
type noise struct {
	chance float64 // of each
	random *rand.Rand
	turned uint64
}

// tolerance is by how much rates may differ so that no receiver notices: half a bit in ten is the most, and edges are a bit's fifth away from where they
// should be.
const tolerance = 0.02

// carry returns what the receiver makes of bytes that are sent without a pause, and then nothing for a while. A noise of nil makes none.
func carry(from, to frame, n *noise, data []byte) (received []character) {
	quiet := n == nil || n.chance == 0
	if ratio := from.rate / to.rate; quiet && from.bits == to.bits && from.parity == to.parity && math.Abs(ratio-1) <= tolerance {
		for _, b := range data {
			received = append(received, character{b: b & (1<<from.bits - 1)})
		}
		return received
	}
	var w wave
	for _, b := range data {
		w.send(from, b)
	}
	if !quiet {
		w.disturb(n)
	}
	return w.receive(to, from.rate/to.rate)
}

// wave is the line's level in each half of the sender's bits; it is high before and after.
type wave []bool

const halves = 2

func (w *wave) level(high bool, long float64) {
	for range int(halves * long) {
		*w = append(*w, high)
	}
}

func (w *wave) send(f frame, b byte) {
	b &= 1<<f.bits - 1
	w.level(false, 1)
	for i := range f.bits {
		w.level(b>>i&1 != 0, 1)
	}
	if f.parity != noParity {
		w.level(f.parity.bit(b), 1)
	}
	w.level(true, f.stop)
}

// disturb turns bits over.
func (w wave) disturb(n *noise) {
	for at := 0; at+halves <= len(w); at += halves {
		if n.random.Float64() < n.chance {
			n.turned++
			for i := range halves {
				w[at+i] = !w[at+i]
			}
		}
	}
}

// at is the level at a time in the sender's bits.
func (w wave) at(t float64) bool {
	i := int(t * halves)
	return i >= len(w) || w[i]
}

// receive samples in the middle of the receiver's bits, of which each is so many of the sender's long.
func (w wave) receive(f frame, bit float64) (all []character) {
	for t := 0.0; ; {
		start, found := w.falls(t)
		if !found {
			return all
		}
		now := start + bit/2
		sample := func() bool {
			high := w.at(now)
			now += bit
			return high
		}
		if sample() { // too short for a start bit
			t = start + 1.0/halves
			continue
		}
		var c character
		any := false
		for i := range f.bits {
			if sample() {
				c.b |= 1 << i
				any = true
			}
		}
		if f.parity != noParity {
			high := sample()
			any = any || high
			if high != f.parity.bit(c.b) {
				c.errors |= errParity
			}
		}
		t = now
		if !sample() {
			c.errors |= errFraming
			if !any {
				c.errors |= errBreak
			}
		}
		all = append(all, c)
	}
}

// falls is when the line falls for the first time from t on.
func (w wave) falls(t float64) (float64, bool) {
	for i := int(math.Ceil(t * halves)); i < len(w); i++ {
		if !w[i] && (i == 0 || w[i-1]) {
			return float64(i) / halves, true
		}
	}
	return 0, false
}
