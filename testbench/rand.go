package testbench

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Rand is a stream of random numbers that follows from a seed and a name. The methods of math/rand/v2 come with it.
type Rand struct {
	*rand.Rand
	key [sha256.Size]byte
}

// NewRand returns the stream of a seed.
func NewRand(seed uint64) *Rand {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return newRand(sha256.Sum256(b[:]))
}

func newRand(key [sha256.Size]byte) *Rand {
	pcg := rand.NewPCG(binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:]))
	return &Rand{rand.New(pcg), key}
}

// Split returns the stream of a name below r. It depends on the seed and the names only, not on what was drawn from r
// before, and takes nothing from r.
func (r *Rand) Split(name string) *Rand {
	return newRand(sha256.Sum256(append(r.key[:], name...)))
}

// Chance is true in share (0 to 1) of all cases.
func (r *Rand) Chance(share float64) bool { return r.Float64() < share }

// Bool is true in half of all cases.
func (r *Rand) Bool() bool { return r.Uint64()>>63 != 0 }

// Between returns a number from low to high, both included.
func (r *Rand) Between(low, high int) int { return low + r.IntN(high-low+1) }

// Fill makes every byte of p random.
func (r *Rand) Fill(p []byte) {
	var word [8]byte
	for len(p) > 0 {
		binary.LittleEndian.PutUint64(word[:], r.Uint64())
		p = p[copy(p, word[:]):]
	}
}

// Bytes returns n random bytes.
func (r *Rand) Bytes(n int) []byte {
	p := make([]byte, n)
	r.Fill(p)
	return p
}

// Weighted returns an index into weights, each as often as its weight says. It panics unless one weight is above zero
// and none below.
func (r *Rand) Weighted(weights ...int) int {
	total := 0
	for _, w := range weights {
		if w < 0 {
			panic("testbench: Rand.Weighted: negative weight")
		}
		total += w
	}
	n := r.IntN(total)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	panic("unreachable")
}

// Pick returns one of the items.
func Pick[T any](r *Rand, items ...T) T { return items[r.IntN(len(items))] }

// Size returns a length from 0 to max. Half of them are corners: none, one, two, odd, just below, at and just above a
// multiple of page (0 means that there are no pages), and the greatest; the rest is uniform.
func (r *Rand) Size(max, page int) int {
	if r.Bool() {
		return r.IntN(max + 1)
	}
	n := max
	switch r.IntN(7) {
	case 0:
		n = 0
	case 1:
		n = 1
	case 2:
		n = 2
	case 3:
		n = r.IntN(max+1) | 1
	case 4:
		n = max - 1
	case 5:
		if page > 0 {
			n = page*r.Between(1, 1+max/page) + r.Between(-1, 1)
		}
	}
	if n < 0 || n > max {
		return max
	}
	return n
}
