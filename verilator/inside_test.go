package verilator_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

var lookup = verilator.Design{
	Top: "lookup", Sources: []string{"testdata/lookup.v"}, Public: []string{"g_half[?].mem", "clocks", "twice"}, Trace: true, Checkpoint: true,
}

// TestMemories: registers and memories inside a design are set and read, each model's its own, and a wave of it can be had.
func TestMemories(t *testing.T) {
	lib := build(t, lookup)
	var squares, cubes []uint64
	for i := range uint64(16) {
		squares, cubes = append(squares, i*i%32), append(cubes, i*i*i%32)
	}
	var p struct {
		At    *uint8  `port:"at"`
		Found *uint16 `port:"found"`
		Since *uint32 `port:"since"`
		Mem   []uint8 `port:"g_half[1].mem"`
	}
	m, other := start(t, lib, verilator.Config{Seed: 1, Record: 100}), start(t, lib, verilator.Config{Seed: 1})
	check.Fatal(t, m.Bind(&p))
	for _, m := range []*verilator.Model{m, other} {
		must(m.Clock("clk", 2, 0))
		check.Fatal(t, m.Run(3))
	}
	before := must(other.Dump("g_half[0].mem", 0, -1))
	check.Fatal(t, m.Load("g_half[0].mem", 0, squares))
	check.Fatal(t, m.Load("g_half[1].mem", 0, cubes[:5]))
	check.Fatal(t, m.Load("g_half[1].mem", 5, cubes[5:]))
	check.Fatal(t, m.Load("clocks", 0, []uint64{1000}))
	check.Fatal(t, m.Poke("twice", 1<<20))
	check.Equal(t, "what follows, at once", *p.Since, 1000^1<<20)
	for at := range squares {
		*p.At = uint8(at)
		check.Fatal(t, m.Run(1))
		check.Equal(t, fmt.Sprint("found at ", at), uint64(*p.Found), squares[at]|cubes[at]<<5)
	}
	check.Equal(t, "registers", int(*p.Since), (1000+len(squares))^(1<<20+2*len(squares)))
	check.Equal(t, "the memory", must(m.Dump("g_half[1].mem", 0, -1)), cubes)
	check.Equal(t, "bound", uint64(p.Mem[3]), cubes[3])
	check.Equal(t, "the other's", must(other.Dump("g_half[0].mem", 0, -1)), before)
	must(m.DumpWave(filepath.Join(t.TempDir(), "x.fst")))

	check.Fails(t, "a word too many", m.Load("g_half[0].mem", 1, squares), verilator.ErrPort)
	check.Fails(t, "a word too wide", m.Load("clocks", 0, []uint64{1 << 32}), verilator.ErrPort)
	check.Fails(t, "what follows from others", m.Load("since", 0, []uint64{1}), verilator.ErrPort)
	check.Fails(t, "an output that the design does not name", m.Poke("found", 1), verilator.ErrPort)
	check.Fatal(t, m.Close())
	_, err := m.Peek("clocks")
	check.Fails(t, "closed", err, verilator.ErrClosed)
}

// deep is a hierarchy of which all is public.
func deep(forceable ...string) verilator.Design {
	return verilator.Design{Top: "deep", Sources: []string{"testdata/deep.v"}, Public: []string{"**"}, Forceable: forceable}
}

func TestHierarchy(t *testing.T) {
	lib := build(t, deep())
	var scopes, signals []string
	for _, s := range lib.Scopes() {
		scopes = append(scopes, s.Path+":"+s.Module)
	}
	check.Equal(t, "scopes", strings.Join(scopes, " "),
		":deep u_first:deep_leaf u_end:deep_end g_row[0]:deep g_row[0].u_leaf:deep_leaf g_row[1]:deep g_row[1].u_leaf:deep_leaf")
	for _, p := range lib.Signals() {
		if strings.HasPrefix(p.Name, "g_row[1]") {
			signals = append(signals, fmt.Sprint(strings.TrimPrefix(p.Name, "g_row[1]."), " ", p.Width, " ", p.Dims, " ", p.First, " ", p.Follows))
		}
	}
	check.Equal(t, "signals", strings.Join(signals, "\n"), `local_state 4 [] 0 false
u_leaf.bits 1 [8] 0 false
u_leaf.clk 1 [] 0 true
u_leaf.d 12 [] 0 true
u_leaf.held 12 [] 0 false
u_leaf.mem 12 [8] 4 false
u_leaf.odd 1 [] 0 true
u_leaf.q 12 [] 0 true
u_leaf.scratch 12 [] 0 false
u_leaf.sum 12 [] 0 true
u_leaf.table2 7 [3 5] 0 false
u_leaf.wide 82 [] 0 false`)
}

// TestInside reads and sets what deep has, by names, structs and conditions.
func TestInside(t *testing.T) {
	m := start(t, build(t, deep()), verilator.Config{Seed: 7})
	var p struct {
		D    *uint8 `port:"d"`
		Q    *uint8 `port:"q"`
		Leaf struct {
			Sum  *uint16  `port:"sum"`
			Mem  []uint16 `port:"mem"`
			Wide []uint32 `port:"wide"`
		} `port:"g_row[1].u_leaf."`
	}
	check.Fatal(t, m.Bind(&p))
	must(m.Clock("clk", 10, 0))
	*p.D = 0x25
	check.Fatal(t, m.Run(4))
	check.Equal(t, "held", must(m.Peek("u_first.held")), 0x25)
	check.Equal(t, "a wire", must(m.Peek("u_first.sum")), 0x28)
	check.Equal(t, "part of a wire", must(m.Peek("u_first.sum[5:3]")), 5)
	check.Equal(t, "bound", *p.Leaf.Sum, 0x29+3)
	check.Equal(t, "a word", must(m.Peek("u_first.mem[5]")), 0x25)
	check.Equal(t, "of two dimensions", must(m.Peek("u_first.table2[1][1]")), 0x25)
	check.Equal(t, "a part of one", must(m.Peek("u_first.table2[1][1][6:4]")), 2)
	check.Equal(t, "wide", must(m.Peek("u_first.wide[23:0]")), 0x252525)

	check.Fatal(t, m.Poke("u_first.held", 0x40))
	check.Equal(t, "what follows", must(m.Peek("u_first.q")), 0x43)
	check.Fatal(t, m.Poke("u_first.scratch[0]", 0))
	check.Fatal(t, m.Run(1))
	check.Equal(t, "the next edge", *p.Q, 0x42)
	check.Equal(t, "scratch", must(m.Peek("u_first.sum")), 0x27)
	check.Fatal(t, m.Poke("ticks", 200))
	check.Fatal(t, m.Run(5))
	check.Equal(t, "an output register", must(m.Peek("ticks")), 205)
	check.Fatal(t, m.Poke("u_end.last", 0xaa))
	check.Equal(t, "the output of an instance", must(m.Peek("u_end.shown")), 0xaa)
	check.Equal(t, "what it is wired to", must(m.Peek("last")), 0xaa)
	check.Fails(t, "a wire set", m.Poke("u_first.sum", 1), verilator.ErrPort)
	check.Equal(t, "a wire after that", must(m.Peek("u_first.sum")), 0x27)
	check.Fatal(t, m.Poke("u_first.mem[7][3:0]", 9))
	check.Equal(t, "part of a word", must(m.Peek("u_first.mem[7]"))&15, 9)

	check.Fatal(t, m.Load("g_row[1].u_leaf.wide", 0, []uint64{1<<63 | 5, 1<<17 | 3}))
	check.Equal(t, "wide words", fmt.Sprintf("%x", p.Leaf.Wide), "[5 80000000 20003]")
	check.Equal(t, "wide dump", must(m.Dump("g_row[1].u_leaf.wide", 0, -1)), []uint64{1<<63 | 5, 1<<17 | 3})
	check.Fails(t, "half a wide word", m.Load("g_row[1].u_leaf.wide", 0, []uint64{1}), verilator.ErrPort)

	*p.D = 0x77
	stop := must(m.RunUntil(100, verilator.Equal("g_row[1].u_leaf.mem[0]", 0x99), verilator.Changed("u_first.mem[7]")))
	check.Equal(t, "what changed", stop.Index, 1)
	check.Equal(t, "and when", stop.Ran, 1)
	s := must(m.Signal("g_row[0].u_leaf.wide[40:30]"))
	check.Equal(t, "over two words", s.Get(), must(m.Peek("g_row[0].u_leaf.wide[40:30]")))
	check.Fatal(t, s.Set(0x3ff))
	check.Equal(t, "set", s.Get(), 0x3ff)
	check.Fatal(t, m.Close())
	check.Equal(t, "kept", s.Get(), 0x3ff)
}

func TestForce(t *testing.T) {
	for _, public := range [][]string{nil, {"**"}} {
		d := deep("u_first.sum", "state", "g_row[?].u_leaf.wide", "u_first.d")
		d.Public = append(public, "u_first.held")
		m := start(t, buildForceable(t, d), verilator.Config{Seed: 7})
		must(m.Clock("clk", 10, 0))
		check.Fatal(t, m.Poke("d", 0x10))
		check.Fatal(t, m.Run(3))
		check.Equal(t, "free", must(m.Peek("state")), 0x13)
		check.Fatal(t, m.Force("u_first.sum", 0x80))
		check.Equal(t, "forced", must(m.Peek("u_first.sum")), 0x80)
		check.Equal(t, "odd", must(m.Peek("odd")), 1)
		check.Fatal(t, m.Run(1))
		check.Equal(t, "seen", must(m.Peek("q")), 0x80)
		check.Fatal(t, errors.Join(m.Run(3), m.Poke("d", 0x21), m.Run(3)))
		check.Equal(t, "held", must(m.Peek("q")), 0x80)
		check.Fatal(t, m.Release("u_first.sum"))
		check.Equal(t, "released", must(m.Peek("u_first.sum")), 0x24)
		check.Fatal(t, errors.Join(m.Force("u_first.sum[3:0]", 0xf), m.Run(2)))
		check.Equal(t, "a part", must(m.Peek("q")), 0x2f)
		check.Fatal(t, errors.Join(m.Release("u_first.sum"), m.Run(2)))

		check.Fatal(t, m.Force("state", 0x55))
		check.Equal(t, "a register", must(m.Peek("q")), 0x55)
		check.Fatal(t, m.Run(5))
		check.Equal(t, "a register held", must(m.Peek("q")), 0x55)
		check.Fatal(t, m.Release("state"))
		check.Equal(t, "until it is assigned", must(m.Peek("q")), 0x55)
		check.Fatal(t, m.Run(1))
		check.Equal(t, "assigned", must(m.Peek("q")), 0x24)
		check.Fatal(t, errors.Join(m.Force("g_row[0].u_leaf.wide[70:60]", 0x5a5), m.Run(1)))
		check.Equal(t, "wide", must(m.Peek("g_row[0].u_leaf.wide[70:60]")), 0x5a5)
		stop := must(m.RunUntil(50, verilator.NotEqual("g_row[0].u_leaf.wide[70:60]", 0x5a5)))
		check.Equal(t, "wide held", stop.Reason, verilator.Limit)
		check.Fatal(t, errors.Join(m.Force("u_first.d", 0x66), m.Run(1)))
		check.Equal(t, "an input of an instance", must(m.Peek("u_first.held")), 0x66)
		check.Fatal(t, errors.Join(m.Release("u_first.d"), m.Run(1)))
		check.Equal(t, "and its own again", must(m.Peek("u_first.held")), 0x21)

		check.Fails(t, "an input", m.Force("d", 1), verilator.ErrPort)
		check.Fails(t, "an output", m.Force("q", 1), verilator.ErrPort)
		check.Fails(t, "what was not named", m.Force("u_first.held", 1), verilator.ErrNotBuilt)
		check.Fails(t, "too wide", m.Force("state", 256), verilator.ErrPort)
	}
	d := verilator.Design{Top: "deep", Sources: []string{"testdata/deep.v"}, Forceable: []string{"u_first.mem"}}
	check.Fails(t, "a memory", check.Err(verilator.Build(t.Context(), d)), verilator.ErrPort, "only vectors can be forced")
}

func TestHexFiles(t *testing.T) {
	m := start(t, build(t, deep()), verilator.Config{Seed: 7})
	must(m.Clock("clk", 10, 0))
	check.Fatal(t, m.Load("g_row[0].u_leaf.mem", 0, make([]uint64, 8)))
	check.Fatal(t, m.LoadHex("g_row[0].u_leaf.mem", strings.NewReader("// a comment\n@6 1 2 /* two\nlines */ 3_f\n@a fff\nABC")))
	var out strings.Builder
	check.Fatal(t, m.DumpHex("g_row[0].u_leaf.mem", &out, 2, -1))
	check.Equal(t, "dump", out.String(), "@6\n001\n002\n03f\n000\nfff\nabc\n")
	check.Fatal(t, errors.Join(m.LoadHex("g_row[0].u_leaf.wide", strings.NewReader("3ffff_12345678_12345678")), m.DumpHex("g_row[0].u_leaf.wide", &out, 0, 1)))
	check.Equal(t, "wide", strings.HasSuffix(out.String(), "\n@0\n3ffff1234567812345678\n"), true)
	for _, c := range []struct{ text, want string }{
		{"@3 1", `line 1: address "@3": want one from @4 to @b`},
		{"\n@c", "line 2"},
		{"1 2\n3 4 5 6 7 8 9", "line 2: more than the 8 words"},
		{"1 x2", `word "x2": want hexadecimal digits`},
		{"1\n1000", `line 2: word "1000" does not fit 12 bits`},
	} {
		err := m.LoadHex("g_row[0].u_leaf.mem", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	check.Equal(t, "unchanged", must(m.Dump("g_row[0].u_leaf.mem", 2, 3)), []uint64{1, 2, 0x3f})
}

// TestPublicErrors: names that mean nothing are refused with what may have been meant.
func TestPublicErrors(t *testing.T) {
	for _, c := range []struct {
		public, forceable, want string
	}{
		{public: "u_first.heldd", want: `did you mean u_first.held?`},
		{public: "u_first", want: `it is a scope: say "u_first.*"`},
		{public: "g_row[2].u_leaf.*", want: "did you mean g_row[0].u_leaf?"},
		{public: "nowhere_at_all.*", want: "scopes are u_first, u_end, g_row[0], g_row[0].u_leaf"},
		{public: "u_first.zz*", want: "u_first has clk, d, q, odd, held"},
		{public: "u_first.zzzzzzzzzz", want: "u_first has clk, d, q, odd, held"},
		{forceable: "d", want: "port d cannot be forced"},
	} {
		d := verilator.Design{Top: "deep", Sources: []string{"testdata/deep.v"}}
		if c.public != "" {
			d.Public = []string{c.public}
		}
		if c.forceable != "" {
			d.Forceable = []string{c.forceable}
		}
		_, err := verilator.Build(t.Context(), d)
		check.Fails(t, c.public+c.forceable, err, verilator.ErrPort)
		if err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q", err, c.want)
		}
	}
	m := start(t, build(t, verilator.Design{Top: "deep", Sources: []string{"testdata/deep.v"}, Public: []string{"u_first.held"}}), verilator.Config{})
	for name, want := range map[string]string{
		"u_first.sum":      "is not public in this build: add it to Design.Public",
		"u_first.hel":      `did you mean u_first.held?`,
		"u_first.held[8]":  "does not lie within signal u_first.held[8]",
		"u_first.held[1:2": "no port",
	} {
		if _, err := m.Peek(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	var p struct {
		Held *uint16 `port:"u_first.held"`
	}
	check.Fails(t, "another width", m.Bind(&p), verilator.ErrPort)
}
