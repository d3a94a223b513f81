package phy_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// The reference: 8b/10b from the printed tables, in their order and with their left bit first on the line. Only the column of
// negative running disparity is written down.
var (
	sixBits = strings.Fields(`
		100111 011101 101101 110001 110101 101001 011001 111000
		111001 100101 010101 110100 001101 101100 011100 010111
		011011 100011 010011 110010 001011 101010 011010 111010
		110011 100110 010110 110110 001110 101110 011110 101011`)
	fourBits  = strings.Fields("1011 1001 0101 1100 1101 1010 0110 1110")
	fourBitsK = strings.Fields("1011 0110 1010 1100 1101 0101 1001 0111")
)

// allK are the K symbols of the code.
var allK = []linkproto.Symbol{0x11C, 0x13C, 0x15C, 0x17C, 0x19C, 0x1BC, 0x1DC, 0x1FC, 0x1F7, 0x1FB, 0x1FD, 0x1FE}

// half encodes one half of a symbol, given its bits at negative disparity: rd is the disparity before and after it.
func half(text string, rd *bool) (code uint) {
	fmt.Sscanf(text, "%b", &code)
	ones := strings.Count(text, "1")
	tilted := 2*ones != len(text)
	if *rd && (tilted || text == "111000" || text == "1100") {
		code ^= 1<<len(text) - 1
	}
	*rd = *rd != tilted
	return code
}

// encode returns the code group of a symbol, its first bit highest, and changes the running disparity (true is positive).
func encode(s linkproto.Symbol, rd *bool) uint {
	x, y := int(s&31), int(s>>5&7)
	if s.IsData() {
		code := half(sixBits[x], rd) << 4
		four := fourBits[y]
		if y == 7 && (!*rd && (x == 17 || x == 18 || x == 20) || *rd && (x == 11 || x == 13 || x == 14)) {
			four = "0111"
		}
		return code | half(four, rd)
	}
	six := sixBits[x]
	if x == 28 {
		six = "001111"
	}
	code := half(six, rd) << 4
	// A K symbol's four bits are complemented at positive disparity whether they tilt or not.
	four := fourBitsK[y]
	if y == 1 || y == 2 || y == 5 || y == 6 {
		before := *rd
		c := half(four, rd)
		if before {
			c ^= 15
		}
		return code | c
	}
	return code | half(four, rd)
}

// decoded is what a code group can be.
type decoded struct {
	sym linkproto.Symbol
	ok  bool
}

// decodings has for each disparity the symbol of each code group.
var decodings = func() (table [2][1024]decoded) {
	for rd := range 2 {
		add := func(s linkproto.Symbol) {
			d := rd == 1
			c := encode(s, &d)
			if table[rd][c].ok {
				panic(fmt.Sprintf("%v and %v have one code group", table[rd][c].sym, s))
			}
			table[rd][c] = decoded{s, true}
		}
		for b := range 256 {
			add(linkproto.Data(byte(b)))
		}
		for _, k := range allK {
			add(k)
		}
	}
	return table
}()

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
			check.Equal(t, fmt.Sprintf("%v at disparity %d", c.sym, i), fmt.Sprintf("%010b", encode(c.sym, &rd)), want)
		}
	}
}

// One wrong bit in a data symbol is never taken for the begin or the end of a frame, or a word; it may be for an ABORT.
func TestOneWrongBit(t *testing.T) {
	found := map[linkproto.Symbol]bool{}
	for rd, table := range decodings {
		for b := range 256 {
			positive := rd == 1
			code := encode(linkproto.Data(byte(b)), &positive)
			for bit := range 10 {
				if d := table[code^1<<bit]; d.ok {
					found[d.sym] = true
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
		want := encode(sent(s), &rd)
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
	right, offs := 0, 0
	for rd := range 2 {
		for code := range uint(1024) {
			before := false
			feed(encode(linkproto.SymIdle, &before)) // positive from negative, negative from positive
			if *p.Rd != (rd == 1) {
				feed(encode(linkproto.SymIdle, &before))
			}
			if *p.Rd != (rd == 1) {
				t.Fatalf("cannot reach disparity %d", rd)
			}
			feed(code)
			want, other := decodings[rd][code], decodings[1-rd][code]
			if *p.CodeErr != (!want.ok && !other.ok) || *p.DispErr != (!want.ok && other.ok) {
				t.Errorf("%010b at %d: code error %t, disparity error %t; here %v, there %v", code, rd, *p.CodeErr, *p.DispErr, want, other)
			}
			if want.ok && *p.Sym != uint16(want.sym) || other.ok && *p.Sym != uint16(other.sym) {
				t.Errorf("%010b at %d: %03x; here %v, there %v", code, rd, *p.Sym, want, other)
			}
			// The disparity after it is that of its last half that tilts, or is right at one disparity only.
			after := rd == 1
			for _, h := range []struct{ bits, n, up, down uint }{{code >> 4, 6, 0b000111, 0b111000}, {code & 15, 4, 0b0011, 0b1100}} {
				switch ones := uint(bits.OnesCount(h.bits)); {
				case 2*ones > h.n || h.bits == h.up:
					after = true
				case 2*ones < h.n || h.bits == h.down:
					after = false
				}
			}
			if *p.Rd != after {
				t.Errorf("%010b at %d: disparity after it %t, want %t", code, rd, *p.Rd, after)
			}
			right += btoi(want.ok)
			offs += btoi(!want.ok && other.ok)
		}
	}
	check.Equal(t, "right code groups", right, 2*268)
	t.Logf("%d right, %d at the wrong disparity, %d wrong", right, offs, 2048-right-offs)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
