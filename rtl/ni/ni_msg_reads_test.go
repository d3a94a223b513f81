package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestReads: the host has its word a clock later whatever the units do, and it stays; a unit has that of the address at which it asks, or asks anew if the word was
// written meanwhile.
func TestReads(t *testing.T) {
	var p struct {
		HEn, HClash, MEn, MClash    *bool   `port:"*"`
		HAddr, EValid, EDone, MAddr *uint8  `port:"*"`
		EAddr                       *uint16 `port:"*"`
		HData, EData, MData         *uint32 `port:"*"`
	}
	const units, width = 3, 5
	b := moduletest.Open(t, "ni_msg_reads", params{"UNITS": units, "AW": width}, &p)
	r := b.Rand("others")
	var kept uint32                 // the host's word
	host, unit := false, -1         // whose word comes
	known, waits := false, [3]int{} // the host's word is known; clocks in which each unit has been passed over
	seen := map[string]int{}
	hosts, asks, clashes := 0.0, 0.0, 0.0
	for clock := range 12_000 {
		if clock%400 == 0 {
			hosts, asks, clashes = testbench.Pick(r, 0, 0.2, 0.6, 1), testbench.Pick(r, 0.1, 0.5, 1), testbench.Pick(r, 0, 0.3)
		}
		if *p.HEn, *p.HAddr = r.Chance(hosts), uint8(r.IntN(1<<width)); clock%400 == 0 {
			*p.HEn = false
		}
		for i := range units {
			if *p.EValid>>i&1 == 0 && r.Chance(asks) {
				*p.EValid |= 1 << i
				*p.EAddr = *p.EAddr&^(0x1F<<(width*i)) | uint16(r.IntN(1<<width))<<(width*i)
			}
		}
		*p.MData = r.Uint32()
		*p.MClash = (host || unit >= 0) && r.Chance(clashes)
		settle(t, b)
		// The word that comes, and whose it is.
		done := uint8(0)
		if unit >= 0 && !*p.MClash {
			done = 1 << unit
			check.Equal(t, "a unit's word", *p.EData, *p.MData)
		}
		check.Equal(t, "units that have their word", *p.EDone, done)
		check.Equal(t, "the host's word may be wrong", *p.HClash, host && *p.MClash)
		if host {
			kept, known = *p.MData, true
		}
		if known && *p.HData != kept {
			t.Fatalf("clock %d: the host reads %#x, want %#x", clock, *p.HData, kept)
		}
		// Who reads next: the host, or the first unit, if none has its word now.
		next := -1
		if !*p.HEn && unit < 0 {
			for next = 0; next < units && *p.EValid>>next&1 == 0; next++ {
			}
			if next == units {
				next = -1
			}
		}
		check.Equal(t, "it reads", *p.MEn, *p.HEn || next >= 0)
		switch {
		case *p.HEn:
			check.Equal(t, "the host's address", *p.MAddr, *p.HAddr)
		case next >= 0:
			check.Equal(t, "a unit's address", *p.MAddr, uint8(*p.EAddr>>(width*next)&0x1F))
			waits[next]++
		}
		if host, unit = *p.HEn, next; t.Failed() {
			t.Fatalf("clock %d", clock)
		}
		seen["clashes"] += count(*p.MClash)
		seen["host and units at once"] += count(*p.HEn && *p.EValid != 0)
		b.Step(1)
		*p.EValid &^= done
	}
	for what, n := range seen {
		if n < 300 {
			t.Errorf("%s: %d, too few", what, n)
		}
	}
	if waits[2] < 100 {
		t.Errorf("the last unit reads %d times: too few", waits[2])
	}
}
