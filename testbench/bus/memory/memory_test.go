package memory

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Against a plain slice: whatever is written, filled and read, over borders of pages and of the memory.
func TestLikeASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 3*pageBytes + 100
		background := rapid.Byte().Draw(t, "background")
		m := New(size)
		m.Background(background)
		plain := bytes.Repeat([]byte{background}, size)
		address := rapid.OneOf(rapid.Uint64Range(0, size+10), rapid.Uint64Range(pageBytes-20, pageBytes+5), rapid.Uint64Range(math.MaxUint64-20, math.MaxUint64))
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				at, p := address.Draw(t, "at"), rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "bytes")
				err := m.Write(at, p)
				if within(t, err, at, len(p), size) {
					copy(plain[min(at, size):], p)
				}
			},
			"lanes": func(t *rapid.T) {
				at, p := address.Draw(t, "at"), rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "bytes")
				enable := rapid.Uint64().Draw(t, "enable")
				fits := true
				for i := range min(64, len(p)) {
					fits = fits && (enable>>i&1 == 0 || at+uint64(i) < size)
				}
				if err := m.WriteLanes(at, p, enable); fits != (err == nil) {
					t.Fatalf("lanes %#x of %d bytes at %#x: %v", enable, len(p), at, err)
				}
				for i := range min(64, len(p)) {
					if fits && enable>>i&1 != 0 {
						plain[at+uint64(i)] = p[i]
					}
				}
			},
			"fill": func(t *rapid.T) {
				at, n, v := address.Draw(t, "at"), rapid.IntRange(0, 2*pageBytes).Draw(t, "n"), rapid.Byte().Draw(t, "v")
				if within(t, m.Fill(at, n, v), at, n, size) {
					for i := range n {
						plain[at+uint64(i)] = v
					}
				}
			},
			"number": func(t *rapid.T) {
				at, n, v := address.Draw(t, "at"), rapid.IntRange(1, 8).Draw(t, "n"), rapid.Uint64().Draw(t, "v")
				if !within(t, m.PutUint(at, n, v), at, n, size) {
					return
				}
				for i := range n {
					plain[at+uint64(i)] = byte(v >> (8 * i))
				}
				if got, err := m.Uint(at, n); err != nil || got != v&(math.MaxUint64>>(64-8*n)) {
					t.Fatalf("%d bytes at %#x: %#x, %v; want %#x", n, at, got, err, v)
				}
			},
			"": func(t *rapid.T) {
				at, n := address.Draw(t, "at"), rapid.IntRange(0, 200).Draw(t, "n")
				p := make([]byte, n)
				if within(t, m.Read(at, p), at, n, size) && n > 0 && !bytes.Equal(p, plain[at:][:n]) {
					t.Fatalf("%d bytes at %#x: %x, want %x", n, at, p, plain[at:][:n])
				}
			},
		})
	})
}

func within(t *rapid.T, err error, at uint64, n, size int) bool {
	fits := n == 0 || at < uint64(size) && uint64(n) <= uint64(size)-at
	if fits != (err == nil) || err != nil && !errors.Is(err, ErrBounds) {
		t.Fatalf("%d bytes at %#x of %#x: %v", n, at, size, err)
	}
	return fits
}

func TestHex(t *testing.T) {
	m := New(0)
	text := "// image\n1234_5678 9\n/* two\nlines */ @10 dead_beef\n@4000_0000 1"
	if err := m.Load(strings.NewReader(text), 0x100, 4); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[uint64]uint64{0x100: 0x12345678, 0x104: 9, 0x108: 0, 0x140: 0xDEADBEEF, 0x1_0000_0100: 1} {
		if got, err := m.Uint(address, 4); got != want || err != nil {
			t.Errorf("at %#x: %#x, %v; want %#x", address, got, err, want)
		}
	}
	var out strings.Builder
	if err := m.Dump(&out, 0x100, 24, 4); err != nil {
		t.Fatal(err)
	}
	if want := "@40 12345678 00000009 00000000 00000000\n@44 00000000 00000000\n"; out.String() != want {
		t.Errorf("dump:\n%swant:\n%s", out.String(), want)
	}
	if got := m.Used(); len(got) != 2 || got[0] != (Stretch{0, pageBytes}) {
		t.Errorf("used: %v", got)
	}
}

func TestRefused(t *testing.T) {
	m := New(8)
	load := func(text string, word int) error { return m.Load(strings.NewReader(text), 0, word) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{load("12x4", 4), `line 1: word "12x4": this memory has two states, no x or z`},
		{load("\n1 g", 4), `line 2: word "g": want hexadecimal digits`},
		{load("123", 1), `word "123" does not fit 1 bytes`},
		{load("_", 1), `word "_" has no digits`},
		{load("@ 1", 1), `address "@": want @ and up to 16 hexadecimal digits`},
		{load("1\n/* ", 1), "line 2: comment without end"},
		{load("@2 1", 4), "word 0x2: memory: out of bounds: 4 bytes at 0x8, the memory has 0x8 bytes"},
		{load("@ffffffffffffffff 1", 4), "lies beyond the address space of 64 bits"},
		{load("1", 3), "load words of 3 bytes: want 1, 2, 4 … 128"},
		{m.Dump(nil, 2, 4, 4), "dump 4 bytes at 0x2: want multiples of the word of 4 bytes"},
		{m.Dump(nil, 8, 4, 4), "out of bounds"},
		{m.PutUint(0, 9, 0), "write a number of 9 bytes at 0x0: want 1 to 8"},
		{m.Fill(0, -1, 0), "fill -1 bytes at 0x0: want 0 or more"},
		{New(0).Write(math.MaxUint64, []byte{1, 2}), "2 bytes at 0xffffffffffffffff reach beyond the address space of 64 bits"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want ... %s", c.err, c.want)
		}
	}
}

// What Load takes, Dump writes so that Load reads the same.
func FuzzLoad(f *testing.F) {
	f.Add("@1 12 /* */ 34 // 5", uint8(1))
	f.Add("@ffff_ffff dead_beef", uint8(2))
	f.Fuzz(func(t *testing.T, text string, shift uint8) {
		word := 1 << (shift % 8)
		var m Memory
		if m.Load(strings.NewReader(text), 0, word) != nil {
			return
		}
		var again Memory
		for _, s := range m.Used() {
			var out bytes.Buffer
			if err := m.Dump(&out, s.Address, int(s.Bytes), word); err != nil {
				t.Fatal(err)
			}
			if err := again.Load(&out, 0, word); err != nil {
				t.Fatal(err)
			}
			a, b := make([]byte, s.Bytes), make([]byte, s.Bytes)
			if m.Read(s.Address, a) != nil || again.Read(s.Address, b) != nil || !bytes.Equal(a, b) {
				t.Fatalf("%#x: loaded again, %x is %x", s.Address, a, b)
			}
		}
	})
}
