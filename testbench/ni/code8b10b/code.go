// Package code8b10b is the 8b/10b code of serial links, made from the tables as printed (IEEE 802.3 clause 36.2.4). A code group is a number of ten
// bits, the first one on the line highest; a running disparity is true if it is positive.
package code8b10b

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
)

// Only the column of negative running disparity is written down.
var (
	sixBits = strings.Fields(`
		100111 011101 101101 110001 110101 101001 011001 111000
		111001 100101 010101 110100 001101 101100 011100 010111
		011011 100011 010011 110010 001011 101010 011010 111010
		110011 100110 010110 110110 001110 101110 011110 101011`)
	fourBits  = strings.Fields("1011 1001 0101 1100 1101 1010 0110 1110")
	fourBitsK = strings.Fields("1011 0110 1010 1100 1101 0101 1001 0111")
)

// K are the K symbols of the code. Not to be modified.
var K = []linkproto.Symbol{0x11C, 0x13C, 0x15C, 0x17C, 0x19C, 0x1BC, 0x1DC, 0x1FC, 0x1F7, 0x1FB, 0x1FD, 0x1FE}

// Groups is how many code groups there are, right and wrong.
const Groups = 1024

// Both by disparity, negative first.
var (
	encodings [2][512]uint16
	decodings [2][Groups]decoded
)

type decoded struct {
	sym linkproto.Symbol
	ok  bool
}

func init() {
	for rd := range 2 {
		add := func(s linkproto.Symbol) {
			c := encode(s, rd == 1)
			encodings[rd][s], decodings[rd][c] = uint16(c), decoded{s, true}
		}
		for b := range 256 {
			add(linkproto.Data(byte(b)))
		}
		for _, k := range K {
			add(k)
		}
	}
}

// half encodes one half of a symbol, given its bits at negative disparity: rd is the disparity before and after it.
func half(text string, rd *bool) uint {
	code, _ := strconv.ParseUint(text, 2, 8) // of the tables above
	ones := strings.Count(text, "1")
	tilted := 2*ones != len(text)
	if *rd && (tilted || text == "111000" || text == "1100") {
		code ^= 1<<len(text) - 1
	}
	*rd = *rd != tilted
	return uint(code)
}

func encode(s linkproto.Symbol, rd bool) uint {
	x, y := int(s&31), int(s>>5&7)
	if s.IsData() {
		code := half(sixBits[x], &rd) << 4
		four := fourBits[y]
		if y == 7 && (!rd && (x == 17 || x == 18 || x == 20) || rd && (x == 11 || x == 13 || x == 14)) {
			four = "0111"
		}
		return code | half(four, &rd)
	}
	six := sixBits[x]
	if x == 28 {
		six = "001111"
	}
	code := half(six, &rd) << 4
	// A K symbol's four bits are complemented at positive disparity whether they tilt or not.
	four := half(fourBitsK[y], new(bool))
	if rd {
		four ^= 15
	}
	return code | four
}

// Encode returns the code group of a symbol of the code, and changes the running disparity.
func Encode(s linkproto.Symbol, rd *bool) uint {
	code := uint(encodings[column(*rd)][s])
	*rd = After(code, *rd)
	return code
}

// Decode returns the symbol of a code group at a running disparity. ok is false if there is none.
func Decode(code uint, rd bool) (s linkproto.Symbol, ok bool) {
	d := decodings[column(rd)][code]
	return d.sym, d.ok
}

func column(rd bool) int {
	if rd {
		return 1
	}
	return 0
}

// After is the running disparity after a code group, right or wrong: that of its last half that tilts, or is right at one disparity only.
func After(code uint, rd bool) bool {
	for _, h := range [...]struct{ bits, n, up, down uint }{{code >> 4, 6, 0b000111, 0b111000}, {code & 15, 4, 0b0011, 0b1100}} {
		switch ones := uint(bits.OnesCount(h.bits)); {
		case 2*ones > h.n || h.bits == h.up:
			rd = true
		case 2*ones < h.n || h.bits == h.down:
			rd = false
		}
	}
	return rd
}
