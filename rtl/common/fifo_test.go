package common_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Streams keep every word and its order under all mixes of stalls; used and ready follow the model.
func TestStreams(t *testing.T) {
	for _, c := range []struct {
		top     string
		p       params
		places  int
		latency int
	}{
		{"fifo_sync", params{"WIDTH": 16, "DEPTH": 4}, 4, 2},
		{"fifo_sync", params{"WIDTH": 16, "DEPTH": 512}, 512, 2},
		{"skid_buffer", params{"WIDTH": 16}, 2, 1},
	} {
		t.Run(fmt.Sprint(c.top, c.p["DEPTH"]), func(t *testing.T) {
			var p struct {
				MValid, MReady, SValid, SReady *bool   `port:"*"`
				MData, SData                   *uint16 `port:"*"`
			}
			b := moduletest.Open(t, c.top, c.p, &p)
			r := b.Rand("words")
			var inside []uint16
			var entered []int // when
			for _, mix := range []struct {
				in, out float64
				clocks  int
			}{
				{1, 1, 2000}, {1, 0, 600}, {0, 1, 600}, {1, 1, 600}, {0.5, 0.5, 4000}, {0.9, 0.3, 3000}, {0.3, 0.9, 3000}, {1, 1, 600},
			} {
				for now := range mix.clocks {
					if *p.SReady != (len(inside) < c.places) {
						t.Fatalf("clock %d of %v: s_ready %v with %d inside", now, mix, *p.SReady, len(inside))
					}
					if *p.MValid && (len(inside) == 0 || *p.MData != inside[0]) {
						t.Fatalf("clock %d of %v: got %04x, want the first of %04x", now, mix, *p.MData, inside)
					}
					for i := range entered {
						entered[i]++
					}
					if !*p.MValid && len(inside) > 0 && entered[0] >= c.latency {
						t.Fatalf("clock %d of %v: a word is hidden for %d clocks", now, mix, entered[0])
					}
					*p.SValid, *p.SData, *p.MReady = r.Chance(mix.in), uint16(r.Uint32()), r.Chance(mix.out)
					if *p.MValid && *p.MReady {
						inside, entered = inside[1:], entered[1:]
					}
					if *p.SValid && *p.SReady {
						inside, entered = append(inside, *p.SData), append(entered, 0)
					}
					b.Step(1)
				}
			}
		})
	}
}

// fifo_commit against a model of two lists of words, and how soon a commit shows.
func TestFIFOCommit(t *testing.T) {
	for _, depth := range []int{8, 64} {
		t.Run(strconv.Itoa(depth), func(t *testing.T) {
			var p struct {
				WrEn, Commit, Rollback, Full, Overflow, MValid, MReady *bool   `port:"*"`
				WrData, MData                                          *uint16 `port:"*"`
				Used                                                   *uint8  `port:"*"`
			}
			b := moduletest.Open(t, "fifo_commit", params{"WIDTH": 16, "DEPTH": depth}, &p)
			r := b.Rand("words")
			type word struct {
				data      uint16
				committed int // when
			}
			var sure, trial []word
			hole, asked, wrote, wasInside := false, false, 0, 0 // the last three in the clock before
			wasUsed, hadWritten := 0, 0                         // and of the one before
			published, lost, taken, refusals := 0, 0, 0, 0
			for now := range 60000 {
				// used is what the memory held a clock ago, and at most three words are behind it.
				used := int(*p.Used)
				if behind := wasInside - used; behind < 0 || behind > 3 {
					t.Fatalf("clock %d: used is %d, and a clock ago %d words were inside", now, used, wasInside)
				}
				if want := wasUsed+hadWritten+wrote >= depth; *p.Full != want || !*p.Full && used+wrote >= depth {
					t.Fatalf("clock %d: full %v with %d of %d in memory two clocks ago and %d written since", now, *p.Full, wasUsed, depth, hadWritten+wrote)
				}
				wasUsed, hadWritten = used, wrote
				if want := hole || asked && *p.Full; *p.Overflow != want {
					t.Fatalf("clock %d: overflow %v, want %v", now, *p.Overflow, want)
				}
				if ripe := len(sure) > 0 && now > sure[0].committed+2; *p.MValid != ripe {
					t.Fatalf("clock %d: m_valid %v with %d committed words", now, *p.MValid, len(sure))
				}
				if *p.MValid && *p.MData != sure[0].data {
					t.Fatalf("clock %d: got %04x, want the first of %04x", now, *p.MData, sure)
				}
				phase := now / 3000 % 3 // mostly empty, mixed, mostly full
				*p.WrEn, *p.WrData = r.Chance(0.7), uint16(r.Uint32())
				*p.Commit, *p.Rollback = r.Chance(0.15), r.Chance(0.04)
				*p.MReady = r.Chance([]float64{1, 0.6, 0.2}[phase])
				asked, wrote, wasInside = *p.WrEn, 0, len(sure)+len(trial)
				read := *p.MValid && *p.MReady
				refused := *p.WrEn && *p.Full
				if refused {
					refusals++
				} else if *p.WrEn {
					trial = append(trial, word{data: *p.WrData})
					wrote = 1
				}
				switch {
				case *p.Commit && !refused && !hole:
					for _, w := range trial {
						w.committed = now
						sure = append(sure, w)
					}
					trial = nil
					published++
				case *p.Rollback:
					trial, hole = nil, false
					lost++
				case refused:
					hole = true
				}
				if read {
					sure = sure[1:]
					taken++
				}
				b.Step(1)
			}
			if published < 1000 || lost < 100 || taken < 5000 || refusals < 100 {
				t.Errorf("weak stimulus: %d commits, %d rollbacks, %d words read, %d refused", published, lost, taken, refusals)
			}
		})
	}
}

// pass_buffer outputs a word in the clock in which it arrives, keeps words in order, and holds its output until it is taken.
func TestPassBuffer(t *testing.T) {
	var p struct {
		Rst, MValid, MReady, SValid, SReady *bool   `port:"*"`
		MData, SData                        *uint16 `port:"*"`
	}
	b := moduletest.Open(t, "pass_buffer", params{"WIDTH": 16}, &p)
	r := b.Rand("words")
	var inside []uint16 // at most one word, and the one that stands at s_*
	passed, taken := 0, false
	for _, mix := range []struct {
		in, out float64
		clocks  int
	}{{1, 1, 500}, {0.5, 0.5, 4000}, {0.9, 0.3, 3000}, {0.3, 0.9, 3000}, {1, 0, 50}, {0, 1, 50}} {
		for now := range mix.clocks {
			if *p.SReady != (len(inside) == 0) {
				t.Fatalf("clock %d of %v: s_ready %v with %d inside", now, mix, *p.SReady, len(inside))
			}
			ready := *p.SReady
			if !*p.SValid || taken {
				*p.SValid, *p.SData = r.Chance(mix.in), uint16(r.Uint32())
			}
			*p.MReady = r.Chance(mix.out)
			b.Model().Eval()
			if *p.SReady != ready {
				t.Fatalf("clock %d of %v: s_ready changed with the inputs", now, mix)
			}
			if taken = *p.SValid && ready; taken {
				inside = append(inside, *p.SData)
			}
			if *p.MValid != (len(inside) > 0) || *p.MValid && *p.MData != inside[0] {
				t.Fatalf("clock %d of %v: m_valid %v, m_data %04x, want the first of %04x", now, mix, *p.MValid, *p.MData, inside)
			}
			if *p.MValid && *p.MReady {
				inside = inside[1:]
				passed++
			}
			b.Step(1)
		}
	}
	if passed < 3000 {
		t.Errorf("weak stimulus: %d words passed", passed)
	}
	*p.SValid, *p.MReady = true, false
	b.Step(1)
	*p.SValid, *p.Rst = false, true
	b.Step(1)
	*p.Rst = false
	b.Model().Eval()
	if *p.MValid || !*p.SReady {
		t.Errorf("behind rst: m_valid %v, s_ready %v", *p.MValid, *p.SReady)
	}
}
