package phy_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// A few code groups as printed in the standard, which check the reference itself.
func TestReferenceCode(t *testing.T) {
	for _, c := range []struct {
		sym         linkproto.Symbol
		minus, plus string
	}{
		{0x000, "1001110100", "0110001011"}, {0x04A, "0101010101", "0101010101"}, {0x0B5, "1010101010", "1010101010"},
		{0x0F1, "1000110111", "1000110001"}, {0x0EB, "1101001110", "1101001000"}, {0x067, "1110001100", "0001110011"},
		{0x0FF, "1010110001", "0101001110"}, {0x11C, "0011110100", "1100001011"}, {0x15C, "0011110101", "1100001010"},
		{0x17C, "0011110011", "1100001100"}, {0x1BC, "0011111010", "1100000101"}, {0x1FC, "0011111000", "1100000111"},
		{0x1F7, "1110101000", "0001010111"}, {0x1FE, "0111101000", "1000010111"},
	} {
		for i, want := range []string{c.minus, c.plus} {
			rd := i == 1
			check.Equal(t, fmt.Sprintf("%v at disparity %d", c.sym, i), fmt.Sprintf("%010b", code8b10b.Encode(c.sym, &rd)), want)
		}
	}
}

// One wrong bit in a data symbol is never taken for the begin or the end of a frame, or a word; it may be for an ABORT.
func TestOneWrongBit(t *testing.T) {
	found := map[linkproto.Symbol]bool{}
	for _, rd := range []bool{false, true} {
		for b := range 256 {
			after := rd
			code := code8b10b.Encode(linkproto.Data(byte(b)), &after)
			for bit := range 10 {
				if s, ok := code8b10b.Decode(code^1<<bit, rd); ok {
					found[s] = true
				}
			}
		}
	}
	for _, s := range []linkproto.Symbol{linkproto.SymSOP, linkproto.SymEOP, linkproto.SymLSW, linkproto.SymAbort} {
		check.Equal(t, fmt.Sprintf("%v found", s), found[s], s == linkproto.SymAbort)
	}
}

type encPins struct {
	Rst, En, Rd *bool   `port:"*"`
	Sym, Code   *uint16 `port:"*"`
}

// Every symbol after every other at either disparity gives the code group of the tables; what the link never sends goes as ERR.
func TestEncoder(t *testing.T) {
	var p encPins
	b := moduletest.Open(t, "enc_8b10b", nil, &p)
	sent := func(s linkproto.Symbol) linkproto.Symbol {
		own := []linkproto.Symbol{linkproto.SymIdle, linkproto.SymSOP, linkproto.SymEOP, linkproto.SymAbort, linkproto.SymLSW}
		if s.IsData() || slices.Contains(own, s) {
			return s
		}
		return linkproto.SymErr
	}
	var seen [2][512]bool
	rng, rd, run, last, sum := b.Rand("symbols"), false, 0, uint(2), -1
	for n := range 40000 {
		s := linkproto.Symbol(rng.IntN(512))
		if n < 2048 {
			s = linkproto.Symbol(n / 4)
		}
		before := rd
		want := code8b10b.Encode(sent(s), &rd)
		seen[btoi(before)][s] = true
		*p.Sym, *p.En = uint16(s), false
		b.Step(uint64(rng.Between(1, 3)))
		code := uint(*p.Code)
		if code != want || *p.Rd != before {
			t.Fatalf("%v at disparity %t: %010b, %t; want %010b", s, before, code, *p.Rd, want)
		}
		*p.Sym, *p.En = uint16(rng.IntN(512)), true
		b.Step(1)
		if *p.Rd != rd {
			t.Fatalf("%v at disparity %t leaves it %t, want %t", s, before, *p.Rd, rd)
		}
		if sum += 2*bits.OnesCount(code) - 10; sum != 1 && sum != -1 || (sum == 1) != *p.Rd {
			t.Fatalf("running disparity %d, rd %t", sum, *p.Rd)
		}
		for i := 9; i >= 0; i-- {
			bit := code >> i & 1
			if bit != last {
				run = 0
			}
			if run++; run > 5 {
				t.Fatalf("%d equal bits in a row", run)
			}
			last = bit
		}
	}
	for rd := range seen {
		for s, ok := range seen[rd] {
			if !ok {
				t.Errorf("%03x never sent at disparity %d", s, rd)
			}
		}
	}
}

// Every one of 1024 code groups at either disparity is what the tables say, or the right kind of error.
func TestDecoder(t *testing.T) {
	var p struct {
		Rst, En, CodeErr, DispErr, Rd *bool   `port:"*"`
		Code, Sym                     *uint16 `port:"*"`
	}
	b := moduletest.Open(t, "dec_8b10b", nil, &p)
	feed := func(code uint) {
		*p.Code, *p.En = uint16(code), false
		b.Step(1)
		*p.En = true
		b.Step(1)
		*p.Code, *p.En = uint16(code)^0x155, false
	}
	rights, offs := 0, 0
	for rd := range 2 {
		for code := range uint(1024) {
			before := false
			feed(code8b10b.Encode(linkproto.SymIdle, &before)) // positive from negative, negative from positive
			if *p.Rd != (rd == 1) {
				feed(code8b10b.Encode(linkproto.SymIdle, &before))
			}
			if *p.Rd != (rd == 1) {
				t.Fatalf("cannot reach disparity %d", rd)
			}
			feed(code)
			want, right := code8b10b.Decode(code, rd == 1)
			other, off := code8b10b.Decode(code, rd == 0)
			if *p.CodeErr != (!right && !off) || *p.DispErr != (!right && off) {
				t.Errorf("%010b at %d: code error %t, disparity error %t; right here %t, there %t", code, rd, *p.CodeErr, *p.DispErr, right, off)
			}
			if right && *p.Sym != uint16(want) || off && *p.Sym != uint16(other) {
				t.Errorf("%010b at %d: %03x; here %v, there %v", code, rd, *p.Sym, want, other)
			}
			after := code8b10b.After(code, rd == 1)
			if *p.Rd != after {
				t.Errorf("%010b at %d: disparity after it %t, want %t", code, rd, *p.Rd, after)
			}
			rights += btoi(right)
			offs += btoi(!right && off)
		}
	}
	check.Equal(t, "right code groups", rights, 2*268)
	t.Logf("%d right, %d at the wrong disparity, %d wrong", rights, offs, 2048-rights-offs)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
