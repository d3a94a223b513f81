package phy_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// A faster or slower sender is followed far beyond what any crystal does.
func TestSerialClockDifference(t *testing.T) {
	for _, over := range []int{3, 4, 5, 8} {
		for sign, name := range map[float64]string{1: "faster", -1: "slower"} {
			t.Run(fmt.Sprintf("%d samples, sender %s", over, name), func(t *testing.T) {
				best := limit(t, over, 1000, func(r *receiver, x float64) { r.set(sign*x, 0) },
					200, 1000, 2000, 5000, 10000, 15000, 20000, 30000)
				if best < 5000 {
					t.Errorf("clean up to %v ppm, want 5000", best)
				}
				t.Logf("clean up to %v ppm", best)
			})
		}
	}
}

// Edges may jitter by rtl.Eye while the clocks differ by no more than rtl.EyePPM, and by less when they differ by more.
func TestSerialJitter(t *testing.T) {
	type setting struct {
		over      int
		ppm, must float64
	}
	settings := []setting{{4, 200, rtl.Eye[4]}, {5, 0, rtl.Eye[5]}, {5, 200, rtl.Eye[5]}, {5, -rtl.EyePPM, rtl.Eye[5]}, {5, 5 * rtl.EyePPM, 0.10}}
	for _, over := range slices.Sorted(maps.Keys(rtl.Eye)) {
		settings = append(settings, setting{over, rtl.EyePPM, rtl.Eye[over]})
	}
	for _, c := range settings {
		t.Run(fmt.Sprintf("%d samples, %v ppm", c.over, c.ppm), func(t *testing.T) {
			best := limit(t, c.over, 3000, func(r *receiver, x float64) { r.set(c.ppm, x) },
				0.05, 0.10, 0.15, 0.175, 0.20, 0.225, 0.25, 0.275, 0.30, 0.325, 0.35, 0.375, 0.40)
			if best < c.must {
				t.Errorf("clean up to +-%.3f of a bit, want %.2f", best, c.must)
			}
			t.Logf("clean up to +-%.3f of a bit", best)
		})
	}
}

// What is sent: the symbols in their order at one a tick, K28.5 when there is none, and one K28.5 in COMMA_EVERY symbols at least.
func TestSerialSend(t *testing.T) {
	for _, c := range []struct{ over, every int }{{3, 1024}, {5, 64}} {
		t.Run(fmt.Sprintf("%d samples, comma every %d", c.over, c.every), func(t *testing.T) {
			over, every, total := c.over, c.every, max(800, 6*c.every)
			var p serialPins
			b := moduletest.Open(t, "phy_serial", params{"OVERSAMPLE": over, "COMMA_EVERY": every}, &p)
			rng := b.Rand("symbols")
			var given, sent []linkproto.Symbol
			var line []bool
			period := 10 * over
			lastTick, wanted, kept, busy := -1, linkproto.SymIdle, 0, 0
			for n := range total * period {
				*p.TxSym = uint16(wanted)
				// tx_ready depends on registers only: it is at the edge what it is now.
				if *p.Tick {
					if lastTick >= 0 && n-lastTick != period {
						t.Fatalf("%d clocks from tick to tick, want %d", n-lastTick, period)
					}
					lastTick = n
				}
				if *p.Tick && *p.TxReady == (busy == every-1) {
					t.Fatalf("tx_ready %t after %d symbols without IDLE", *p.TxReady, busy)
				}
				if *p.Tick && !*p.TxReady {
					kept, busy = kept+1, 0
				}
				if *p.TxReady {
					if busy++; wanted == linkproto.SymIdle {
						busy = 0
					}
					if !*p.Tick {
						t.Fatal("tx_ready without tick")
					}
					given = append(given, wanted)
					wanted = linkproto.SymIdle
					gaps := 0.0 // first many, then few, then none
					switch symbol := n / period; {
					case symbol >= total*7/8:
						gaps = 1
					case symbol < total/8:
						gaps = 0.5
					case symbol < total/2:
						gaps = 1.5 / float64(every)
					}
					if !rng.Chance(gaps) {
						wanted = linkproto.Data(byte(rng.IntN(256)))
					}
				}
				b.Step(1)
				if n > 0 && lastTick >= 0 {
					line = append(line, *p.LineTx)
				}
			}
			rd, started, run, forced := false, false, 0, 0
			for i := over - 1; i+period <= len(line); i += period { // from tick the last bit of the code group before it remains
				code := uint(0)
				for k := range 10 {
					code = code<<1 | uint(btoi(line[i+k*over+over/2]))
				}
				sym, ok := code8b10b.Decode(code, rd)
				if !started && !ok {
					rd = !rd
					sym, ok = code8b10b.Decode(code, rd)
				}
				if !ok {
					t.Fatalf("code group %010b after %d symbols", code, len(sent))
				}
				started = true
				rd = code8b10b.After(code, rd)
				if sent = append(sent, sym); sym == linkproto.SymIdle {
					run = 0
					forced++
				} else if run++; run >= every {
					t.Fatalf("no comma in %d symbols", run)
				}
			}
			if g, s := withoutIdle(given), withoutIdle(sent); !slices.Equal(g, s) || len(g) < 400 {
				t.Errorf("%d symbols given, %d sent, not the same", len(g), len(s))
			}
			if kept < total*3/8/every {
				t.Errorf("only %d ticks without tx_ready", kept)
			}
			t.Logf("%d symbols, %d commas, %d of them not asked for", len(sent), forced, kept)
		})
	}
}

// The receiver detects a bit slip and aligns again.
func TestSerialSlip(t *testing.T) {
	r := newReceiver(t, 5)
	r.set(300, 0.1)
	t.Logf("locked after %d symbol times of idle", r.lock(30))
	worst := 0
	for n := range 60 {
		s := traffic(r.w.rng, 200)
		r.w.symbols, r.got, r.errs = slices.Clone(s), nil, 0
		r.symbolTimes(50)
		if r.errs > 0 {
			t.Fatalf("slip %d: errors before it", n)
		}
		slip := testbench.Pick(r.w.rng, -1, 1, 3, 0.5) // half a bit may be no slip at all
		r.w.ideal += r.w.period * slip
		r.w.edge = max(r.w.ideal, r.w.now)
		r.symbolTimes(30)
		if r.errs == 0 && slip != 0.5 {
			t.Errorf("slip %d: no error", n)
		}
		from := r.rise
		took := 0
		for ; !(*r.p.Locked && len(r.w.symbols) == 0) && took < 400; took++ {
			r.symbolTimes(1)
		}
		if worst = max(worst, took); took == 400 {
			t.Fatalf("slip %d: not locked again (%d times before)", n, from)
		}
		r.symbolTimes(40)
		if r.got, r.errs = nil, 0; !r.clean(100) {
			t.Fatalf("slip %d: errors after it", n)
		}
	}
	t.Logf("at most %d symbol times to lock again, traffic of up to 150 included", worst)
}

// Without a signal the receiver drops LOCKED, delivers nothing, and recovers when the signal returns.
func TestSerialLoss(t *testing.T) {
	r := newReceiver(t, 5)
	for _, c := range []struct {
		name  string
		noise func() bool
	}{
		{"low", func() bool { return false }},
		{"high", func() bool { return true }},
		{"random", func() bool { return r.w.rng.Bool() }},
		{"square wave", func() bool { return math.Mod(r.w.now, 60) < 30 }}, // of one bit it would be D21.5, and right
	} {
		name, noise := c.name, c.noise
		r.w.noise, r.w.symbols = nil, nil
		r.lock(60)
		r.symbolTimes(20)
		r.got, r.errs = nil, 0
		r.w.noise = noise
		lost := 0
		for ; *r.p.Locked && lost < 100; lost++ {
			r.symbolTimes(1)
		}
		if lost == 100 {
			t.Errorf("%s: still locked", name)
		}
		if len(r.got) > lost+1 || r.errs < 3 {
			t.Errorf("%s: %d symbols, %d ERR", name, len(r.got), r.errs)
		}
		r.got = nil
		rise := r.rise
		r.symbolTimes(2000)
		if len(r.got) > 0 || r.rise != rise {
			t.Errorf("%s: %d symbols received, locked %d times", name, len(r.got), r.rise-rise)
		}
		r.w.noise, r.errs = nil, 0
		again := r.lock(60)
		if !r.clean(300) {
			t.Errorf("%s: errors after it", name)
		}
		t.Logf("%s: lost after %d symbol times, again after %d", name, lost, again)
	}
}

// Wrong bits at any rate cost symbols, and no more than that.
func TestSerialFlips(t *testing.T) {
	r := newReceiver(t, 5)
	r.set(-500, 0.1)
	for _, rate := range []float64{1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.5} {
		r.lock(60)
		r.symbolTimes(40)
		r.rise, r.errs, r.got = 0, 0, nil
		r.w.flips = rate
		n, open := 6000, 0
		r.w.symbols = traffic(r.w.rng, n)
		for range n {
			r.symbolTimes(1)
			open += btoi(*r.p.Locked)
		}
		t.Logf("bit error rate %g: %d symbols ERR, locked %.1f %% of the time, lost %d times", rate, r.errs, 100*float64(open)/float64(n), r.rise)
		if rate <= 1e-3 && r.rise > 0 {
			t.Errorf("bit error rate %g: lost lock", rate)
		}
		r.w.flips, r.w.symbols = 0, nil
		r.lock(60)
		if r.symbolTimes(40); r.errs == 0 {
			t.Errorf("bit error rate %g: no ERR", rate)
		}
		if r.errs = 0; !r.clean(200) {
			t.Errorf("bit error rate %g: errors after it", rate)
		}
	}
}

// K28.7 followed by certain data holds a comma, even a whole K28.5, across the border. A locked receiver does not follow it, and one
// that is not locked finds the right border in the end.
func TestSerialFalseComma(t *testing.T) {
	r := newReceiver(t, 5)
	r.lock(60)
	var flood, want []linkproto.Symbol
	for range 400 {
		flood = append(flood, 0x1FC, linkproto.Data(byte(20|r.w.rng.IntN(8)<<5)), linkproto.Data(byte(r.w.rng.IntN(256))))
	}
	r.symbolTimes(20)
	want = flood
	r.got = nil
	r.w.symbols = slices.Clone(flood)
	r.symbolTimes(len(flood) + 5)
	if !slices.Equal(r.got, want) {
		t.Errorf("%d symbols of %d, %d of them ERR", len(r.got), len(want), r.errs)
	}
	// The flood, and no more commas than one in a hundred symbols.
	r.w.noise = func() bool { return false }
	r.symbolTimes(40)
	r.w.noise, r.got = nil, nil
	r.w.symbols = slices.Clone(flood)
	r.symbolTimes(len(flood))
	for range 20 {
		r.w.symbols = append(append(r.w.symbols, linkproto.SymIdle), traffic(r.w.rng, 100)...)
	}
	for n := 0; !*r.p.Locked; n++ {
		if n > 1000 {
			t.Fatal("not locked")
		}
		r.symbolTimes(1)
	}
	r.w.symbols, r.errs = nil, 0
	if !r.clean(300) {
		t.Error("errors afterwards")
	}
}
