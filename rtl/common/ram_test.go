package common_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Byte enables, and read data that holds; a word read in the clock of its writing comes out wrong on
// purpose.
func TestRAM(t *testing.T) {
	var p struct {
		WrEn, WrAddr, RdAddr *uint8  `port:"*"`
		WrData, RdData       *uint32 `port:"*"`
		RdEn                 *bool   `port:"*"`
	}
	b := moduletest.New(t, "ram_sdp", params{"WIDTH": 32, "DEPTH": 16, "WORD_BYTES": 4}, &p)
	r := b.Rand("words")
	var words [16]uint32
	for a := range words { // contents are random at first
		*p.WrEn, *p.WrAddr, *p.WrData, words[a] = 15, uint8(a), 0, 0
		b.Step(1)
	}
	*p.WrEn, *p.RdEn = 0, true
	b.Step(1)
	var want uint32
	for now := range 10000 {
		if *p.RdData != want {
			t.Fatalf("clock %d: read %08x, want %08x", now, *p.RdData, want)
		}
		*p.WrEn, *p.WrAddr, *p.WrData = uint8(r.IntN(16)), uint8(r.IntN(16)), r.Uint32()
		*p.RdEn, *p.RdAddr = r.Chance(0.6), uint8(r.IntN(16))
		var mask uint32
		for lane := range 4 {
			mask |= uint32(*p.WrEn>>lane&1) * 0xFF << (8 * lane)
		}
		if *p.RdEn {
			want = words[*p.RdAddr]
			if *p.RdAddr == *p.WrAddr {
				want = want&^mask | ^*p.WrData&mask
			}
		}
		words[*p.WrAddr] = words[*p.WrAddr]&^mask | *p.WrData&mask
		b.Step(1)
	}
}

// A word stays as written until it is written again, and what was read until the next read; the clocks have nothing to do with each
// other.
func TestRAM2Clk(t *testing.T) {
	var p struct {
		WrClk, WrEn, RdClk, RdEn *bool   `port:"*"`
		WrAddr, RdAddr           *uint8  `port:"*"`
		WrData, RdData           *uint16 `port:"*"`
	}
	b := moduletest.New(t, "ram_2clk", params{"WIDTH": 16, "DEPTH": 16}, &p)
	r := b.Rand("words")
	tick := func(clk *bool) {
		for _, level := range []bool{true, false} {
			*clk = level
			check.Fatal(t, b.Model().Eval())
		}
	}
	tick(p.WrClk)
	var words [16]uint16
	for a := range words { // contents are random at first
		*p.WrEn, *p.WrAddr, *p.WrData, words[a] = true, uint8(a), 0, 0
		tick(p.WrClk)
	}
	*p.RdEn = true
	tick(p.RdClk)
	var want uint16
	for now := range 5000 {
		*p.WrEn, *p.WrAddr, *p.WrData = r.Chance(0.6), uint8(r.IntN(16)), uint16(r.Uint32())
		*p.RdEn, *p.RdAddr = r.Chance(0.6), uint8(r.IntN(16))
		if r.Chance(0.5) {
			tick(p.WrClk)
			if *p.WrEn {
				words[*p.WrAddr] = *p.WrData
			}
		} else {
			tick(p.RdClk)
			if *p.RdEn {
				want = words[*p.RdAddr]
			}
		}
		if *p.RdData != want {
			t.Fatalf("edge %d: read %04x, want %04x", now, *p.RdData, want)
		}
	}
}
