package linkproto_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestStuffing(t *testing.T) {
	for _, c := range []struct {
		symbols []linkproto.Symbol
		bytes   string
		back    []linkproto.Symbol // nil: the same
	}{
		{[]linkproto.Symbol{0x00, 0xDB, 0xFF}, "\x00\xDB\xDB\xFF", nil},
		{[]linkproto.Symbol{linkproto.SymSOP, linkproto.SymEOP, linkproto.SymAbort, linkproto.SymLSW}, "\xDB\x1C\xDB\x7C\xDB\x5C\xDB\x9C", nil},
		{[]linkproto.Symbol{1, linkproto.SymIdle, 2}, "\x01\x02", []linkproto.Symbol{1, 2}},
		{[]linkproto.Symbol{linkproto.SymErr, 0x1F7, 0x201}, "\xDB\xFE\xDB\xFE\xDB\xFE",
			[]linkproto.Symbol{linkproto.SymErr, linkproto.SymErr, linkproto.SymErr}},
	} {
		b := linkproto.AppendStuffed(nil, c.symbols)
		check.Equal(t, fmt.Sprint(c.symbols), string(b), c.bytes)
		want := c.back
		if want == nil {
			want = c.symbols
		}
		var u linkproto.Unstuffer
		var got []linkproto.Symbol
		for _, x := range b {
			got = u.Append(got, []byte{x})
		}
		check.Equal(t, fmt.Sprintf("%x", b), got, want)
	}
}

// TestStuffingLong has every byte, ESC and the rest, and every symbol of the link at every place in a long row, cut into parts of all lengths.
func TestStuffingLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []linkproto.Symbol{linkproto.ESC, linkproto.SymSOP, linkproto.SymEOP, linkproto.SymAbort, linkproto.SymLSW, linkproto.SymErr}
	for long := range 1000 {
		want := make([]linkproto.Symbol, long)
		for i := range want {
			want[i] = linkproto.Data(byte(rng.Uint32()))
			if rng.IntN(40) == 0 {
				want[i] = special[rng.IntN(len(special))]
			}
		}
		var got []linkproto.Symbol
		var u linkproto.Unstuffer
		for part := range slices.Chunk(linkproto.AppendStuffed(nil, want), 1+long%61) {
			got = u.Append(got, part)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%d symbols (-want +got):\n%s", long, diff)
		}
	}
}

func TestUnstufferErrors(t *testing.T) {
	var u linkproto.Unstuffer
	got := u.Append(nil, []byte{0xDB, 0x00, 0x41, 0xDB, 0xBC, 0xDB})
	check.Equal(t, "symbols", got, []linkproto.Symbol{linkproto.SymErr, 0x41, linkproto.SymIdle})
}

// FuzzUnstuffer: any bytes give symbols of the link, which survive stuffing.
func FuzzUnstuffer(f *testing.F) {
	f.Add([]byte("\xDB\x1Cabc\xDB\xDB\xDB\x7C"))
	f.Add([]byte("\xDB\x00\xDB\xBC\xDB\x5C\xDB"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var u, again linkproto.Unstuffer
		s := u.Append(nil, b)
		back := again.Append(nil, linkproto.AppendStuffed(nil, s))
		s = slices.DeleteFunc(s, func(s linkproto.Symbol) bool { return s == linkproto.SymIdle })
		check.Equal(t, "symbols after stuffing and unstuffing", s, back)
	})
}

func BenchmarkStuffing(b *testing.B) {
	s := linkproto.AppendFrame(nil, 0, 1, make([]byte, 1032))
	stuffed := linkproto.AppendStuffed(nil, s)
	b.Run("AppendStuffed", func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		b.ReportAllocs()
		for b.Loop() {
			stuffed = linkproto.AppendStuffed(stuffed[:0], s)
		}
	})
	b.Run("Unstuffer", func(b *testing.B) {
		var u linkproto.Unstuffer
		b.SetBytes(int64(len(stuffed)))
		b.ReportAllocs()
		for b.Loop() {
			s = u.Append(s[:0], stuffed)
		}
	})
}
