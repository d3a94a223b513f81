package common_test

import (
	"strconv"
	"testing"
)

// Streams keep every word and its order under all mixes of stalls; used and ready follow the model.
func TestStreams(t *testing.T) {
	for _, c := range []struct {
		top     string
		p       params
		places  int
		latency int
	}{
		{"fifo_sync", params{"WIDTH": "16", "DEPTH": "4"}, 4, 2},
		{"fifo_sync", params{"WIDTH": "16", "DEPTH": "512"}, 512, 2},
		{"skid_buffer", params{"WIDTH": "16"}, 2, 1},
	} {
		t.Run(c.top+c.p["DEPTH"], func(t *testing.T) {
			var p struct {
				Rst    *bool   `port:"rst"`
				MValid *bool   `port:"m_valid"`
				MReady *bool   `port:"m_ready"`
				MData  *uint16 `port:"m_data"`
				SValid *bool   `port:"s_valid"`
				SReady *bool   `port:"s_ready"`
				SData  *uint16 `port:"s_data"`
			}
			r := random(t)
			m := start(t, c.top, c.p, &p.Rst, &p)
			var inside []uint16
			var entered []int // when
			for _, mix := range []struct{ in, out, clocks int }{
				{100, 100, 2000}, {100, 0, 600}, {0, 100, 600}, {100, 100, 600}, {50, 50, 4000}, {90, 30, 3000}, {30, 90, 3000}, {100, 100, 600},
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
					*p.SValid, *p.SData, *p.MReady = often(r, mix.in), uint16(r.Uint32()), often(r, mix.out)
					if *p.MValid && *p.MReady {
						inside, entered = inside[1:], entered[1:]
					}
					if *p.SValid && *p.SReady {
						inside, entered = append(inside, *p.SData), append(entered, 0)
					}
					step(t, m)
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
				Rst      *bool   `port:"rst"`
				WrEn     *bool   `port:"wr_en"`
				WrData   *uint16 `port:"wr_data"`
				Commit   *bool   `port:"commit"`
				Rollback *bool   `port:"rollback"`
				Used     *uint8  `port:"used"`
				Full     *bool   `port:"full"`
				Overflow *bool   `port:"overflow"`
				MValid   *bool   `port:"m_valid"`
				MReady   *bool   `port:"m_ready"`
				MData    *uint16 `port:"m_data"`
			}
			r := random(t)
			m := start(t, "fifo_commit", params{"WIDTH": "16", "DEPTH": strconv.Itoa(depth)}, &p.Rst, &p)
			var sure, trial []uint16
			hole, late := false, 0 // late: words too new to show
			published, lost, taken := 0, 0, 0
			for now := range 60000 {
				inside := len(sure) + len(trial)
				if int(*p.Used) != inside || *p.Full != (inside == depth) || *p.Overflow != hole {
					t.Fatalf("clock %d: used %d full %v overflow %v, want %d of %d, %v", now, *p.Used, *p.Full, *p.Overflow, inside, depth, hole)
				}
				if *p.MValid != (len(sure) > late) {
					t.Fatalf("clock %d: m_valid %v with %d committed words, %d of them new", now, *p.MValid, len(sure), late)
				}
				if *p.MValid && *p.MData != sure[0] {
					t.Fatalf("clock %d: got %04x, want the first of %04x", now, *p.MData, sure)
				}
				phase := now / 3000 % 3 // mostly empty, mixed, mostly full
				*p.WrEn, *p.WrData = often(r, 70), uint16(r.Uint32())
				*p.Commit, *p.Rollback = often(r, 15), often(r, 4)
				*p.MReady = often(r, []int{100, 60, 20}[phase])
				read := *p.MValid && *p.MReady
				refused := *p.WrEn && inside == depth
				if *p.WrEn && !refused {
					trial = append(trial, *p.WrData)
				}
				late = 0
				switch {
				case *p.Rollback:
					trial, hole = nil, false
					lost++
				case refused || hole:
					hole = true
				case *p.Commit:
					sure, trial = append(sure, trial...), nil
					published++
					if *p.WrEn {
						late = 1
					}
				}
				if read {
					sure = sure[1:]
					taken++
				}
				step(t, m)
			}
			if published < 1000 || lost < 100 || taken < 5000 {
				t.Errorf("weak stimulus: %d commits, %d rollbacks, %d words read", published, lost, taken)
			}
		})
	}
}
