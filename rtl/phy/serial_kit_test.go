package phy_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type serialPins struct {
	Rst, TxReady, RxValid, Tick, Locked, LineTx, LineRx *bool   `port:"*"`
	TxSym, RxSym                                        *uint16 `port:"*"`
}

// wire is a sender and its cable as the receiver's clock sees them. Times are in clocks of the receiver.
type wire struct {
	rng     *testbench.Rand
	symbols []linkproto.Symbol // to be sent; IDLE when there are none
	rd      bool
	shift   []bool // bits of the present code group that are still to be sent

	period float64 // of a bit
	jitter float64 // each edge is moved by up to so much either way, evenly spread
	flips  float64 // share of bits that are wrong
	noise  func() bool

	now, ideal, edge float64 // time; the next edge without and with jitter
	level            bool
	sent             int // bits
}

func (w *wire) bit() bool {
	if w.noise != nil {
		return w.noise()
	}
	if len(w.shift) == 0 {
		s := linkproto.SymIdle
		if len(w.symbols) > 0 {
			s, w.symbols = w.symbols[0], w.symbols[1:]
		}
		code := code8b10b.Encode(s, &w.rd)
		for i := 9; i >= 0; i-- {
			w.shift = append(w.shift, code>>i&1 == 1)
		}
	}
	bit := w.shift[0]
	w.shift = w.shift[1:]
	w.sent++
	return bit != (w.flips > 0 && w.rng.Chance(w.flips))
}

// sample is the level of the line at the receiver's next clock.
func (w *wire) sample() bool {
	w.now++
	for w.now >= w.edge {
		w.level = w.bit()
		w.ideal += w.period
		w.edge = w.ideal + w.jitter*(2*w.rng.Float64()-1)
	}
	return w.level
}

// receiver is phy_serial with a wire to its input.
type receiver struct {
	t    *testing.T
	b    *testbench.Bench
	p    serialPins
	w    wire
	over int
	got  []linkproto.Symbol // without IDLE
	errs int                // ERRs among them
	rise int                // times that locked rose
	was  bool
}

func newReceiver(t *testing.T, over int) *receiver {
	r := &receiver{t: t, over: over}
	r.b = moduletest.Open(t, "phy_serial", params{"OVERSAMPLE": over}, &r.p)
	*r.p.TxSym = uint16(linkproto.SymIdle)
	r.w.rng = r.b.Rand("wire")
	r.set(0, 0)
	return r
}

// set makes the sender's clock faster by so many ppm, and its edges jitter by a share of a bit either way.
func (r *receiver) set(ppm, jitter float64) {
	r.w.period = float64(r.over) / (1 + ppm*1e-6)
	r.w.jitter = jitter * r.w.period
}

func (r *receiver) clocks(n int) {
	for range n {
		*r.p.LineRx = r.w.sample()
		r.b.Step(1)
		if *r.p.Locked && !r.was {
			r.rise++
		}
		r.was = *r.p.Locked
		if s := linkproto.Symbol(*r.p.RxSym); *r.p.RxValid && s != linkproto.SymIdle {
			r.got = append(r.got, s)
			r.errs += btoi(s == linkproto.SymErr)
		}
	}
}

func (r *receiver) symbolTimes(n int) { r.clocks(n * 10 * r.over) }

// lock waits until the receiver is locked and returns how many symbol times that took.
func (r *receiver) lock(limit int) int {
	r.t.Helper()
	for n := range limit {
		if *r.p.Locked {
			return n
		}
		r.symbolTimes(1)
	}
	r.t.Fatalf("not locked after %d symbol times", limit)
	return 0
}

// traffic returns n symbols as a link sends them: mostly data, some of the protocol's K symbols, a comma now and then.
func traffic(rng *testbench.Rand, n int) (symbols []linkproto.Symbol) {
	k := []linkproto.Symbol{linkproto.SymSOP, linkproto.SymEOP, linkproto.SymAbort, linkproto.SymLSW, linkproto.SymIdle}
	// Stretches of one byte hold the fewest and the most edges that the code allows.
	for len(symbols) < n {
		b := byte(rng.IntN(256))
		for range rng.Between(1, 30) {
			symbols = append(symbols, linkproto.Data(b))
		}
		for range rng.Between(1, 60) {
			symbols = append(symbols, linkproto.Data(byte(rng.IntN(256))))
		}
		symbols = append(symbols, testbench.Pick(rng, k...))
	}
	return symbols[:n]
}

func withoutIdle(s []linkproto.Symbol) []linkproto.Symbol {
	return slices.DeleteFunc(slices.Clone(s), func(s linkproto.Symbol) bool { return s == linkproto.SymIdle })
}

// clean sends traffic and reports whether all of it arrived as it was.
func (r *receiver) clean(n int) bool {
	r.symbolTimes(40)
	if !*r.p.Locked {
		return false
	}
	s := traffic(r.w.rng, n)
	r.w.symbols, r.got = slices.Clone(s), nil
	for len(r.w.symbols) > 0 {
		r.symbolTimes(100)
		if r.errs > 0 {
			return false
		}
	}
	r.symbolTimes(5)
	return slices.Equal(r.got, withoutIdle(s))
}

// limit returns the largest of some values, tried upwards, up to which traffic arrives without an error.
func limit(t *testing.T, over, n int, set func(r *receiver, x float64), values ...float64) (best float64) {
	for _, x := range values {
		r := newReceiver(t, over)
		set(r, x)
		if !r.clean(n) {
			break
		}
		best = x
	}
	return best
}

type params = moduletest.Params
