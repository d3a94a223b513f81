package common_test

import (
	"fmt"
	"slices"
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

// fifo_commit against a list of words, and how soon a word or its commit shows.
func TestFIFOCommit(t *testing.T) {
	for _, c := range []struct{ depth, early, spaced int }{{8, 0, 0}, {64, 0, 0}, {8, 1, 0}, {64, 1, 0}, {8, 0, 1}, {64, 0, 1}} {
		t.Run(fmt.Sprintf("%d/early=%d/spaced=%d", c.depth, c.early, c.spaced), func(t *testing.T) {
			var p struct {
				WrEn, Commit, Rollback, Full, Overflow, MValid, MReady, MSure, MVoid *bool   `port:"*"`
				WrData, MData                                                        *uint16 `port:"*"`
				Used                                                                 *uint8  `port:"*"`
			}
			b := moduletest.Open(t, "fifo_commit", params{"WIDTH": 16, "DEPTH": c.depth, "EARLY": c.early, "SPACED": c.spaced}, &p)
			r := b.Rand("words")
			type word struct {
				data               uint16
				written, committed int // when; never: far ahead
			}
			const never = 1 << 30
			var words []word                                    // that are not read, those on trial at the end
			hole, asked, wrote, wasInside := false, false, 0, 0 // the last three in the clock before
			wasUsed, hadWritten := 0, 0                         // and of the one before
			undone, shown := false, false                       // a rollback in the clock before; what is on trial has been shown
			took := false                                       // a word in the clock before
			published, lost, taken, refusals, voids := 0, 0, 0, 0, 0
			for now := range 60000 {
				// used is what the memory held a clock ago, and at most three words are behind it.
				used := int(*p.Used)
				if behind := wasInside - used; behind < 0 || behind > 3 {
					t.Fatalf("clock %d: used is %d, and a clock ago %d words were inside", now, used, wasInside)
				}
				if want := wasUsed+hadWritten+wrote >= c.depth; *p.Full != want || !*p.Full && used+wrote >= c.depth {
					t.Fatalf("clock %d: full %v with %d of %d in memory two clocks ago and %d written since", now, *p.Full, wasUsed, c.depth, hadWritten+wrote)
				}
				wasUsed, hadWritten = used, wrote
				if want := hole || asked && *p.Full; *p.Overflow != want {
					t.Fatalf("clock %d: overflow %v, want %v", now, *p.Overflow, want)
				}
				ripe := len(words) > 0 && (now > words[0].committed+2 || c.early > 0 && now > words[0].written+2)
				if *p.MValid != (ripe && !(took && c.spaced > 0)) {
					t.Fatalf("clock %d: m_valid %v with %v", now, *p.MValid, words)
				}
				if *p.MValid && (*p.MData != words[0].data || *p.MSure != (now > words[0].committed)) {
					t.Fatalf("clock %d: got %04x, sure %v, want the first of %v", now, *p.MData, *p.MSure, words)
				}
				if *p.MVoid && !undone || undone && shown && !*p.MVoid {
					t.Fatalf("clock %d: m_void %v", now, *p.MVoid)
				}
				phase := now / 3000 % 3 // mostly empty, mixed, mostly full
				*p.WrEn, *p.WrData = r.Chance(0.7), uint16(r.Uint32())
				*p.Commit, *p.Rollback = r.Chance(0.15), r.Chance(0.04)
				*p.MReady = r.Chance([]float64{1, 0.6, 0.2}[phase])
				asked, wrote, wasInside = *p.WrEn, 0, len(words)
				if undone {
					shown = false
				}
				shown = shown || *p.MValid && !*p.MSure
				refused := *p.WrEn && *p.Full
				if refused {
					refusals++
				} else if *p.WrEn {
					words = append(words, word{*p.WrData, now, never})
					wrote = 1
				}
				took = *p.MValid && *p.MReady
				if took {
					words = words[1:]
					taken++
				}
				undone = false
				switch {
				case *p.Commit && !refused && !hole:
					for i := range words {
						words[i].committed = min(words[i].committed, now)
					}
					published++
					shown = false
				case *p.Rollback:
					words = slices.DeleteFunc(words, func(w word) bool { return w.committed == never })
					hole, undone = false, true
					lost++
					if shown {
						voids++
					}
				case refused:
					hole = true
				}
				b.Step(1)
			}
			if published < 1000 || lost < 100 || taken < 5000 || refusals < 100 || voids < 100*c.early {
				t.Errorf("weak stimulus: %d commits, %d rollbacks, %d words read, %d refused, %d taken back", published, lost, taken, refusals, voids)
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
