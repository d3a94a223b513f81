package spi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/spi"
	"github.com/stafflink/lmmc/verilator"
)

func design(top string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{"testdata/" + top + ".v"}}
}

// echo answers each word with the one before it, plus one.
type echo struct{ words []uint64 }

func (e *echo) Select() spi.Phase { return spi.Phase{Data: 1} }
func (e *echo) Deselect()         {}
func (e *echo) Next(in uint64) spi.Phase {
	e.words = append(e.words, in)
	return spi.Phase{Data: in + 1}
}

func modes(t *testing.T, run func(t *testing.T, mode int)) {
	for mode := range 4 {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) { run(t, mode) })
	}
}

// A master exchanges words with a device of RTL, and with a model.
func TestMaster(t *testing.T) {
	modes(t, func(t *testing.T, mode int) {
		b := testbench.New(t, design("spi_slave"), testbench.Config{})
		check.Fatal(t, b.Model().Poke("mode", uint64(mode)))
		m := check.Must(spi.NewMaster(b, "", spi.Config{Mode: mode}))(t)
		check.Fatal(t, b.Reset("rst", 2))
		b.Go("master", func(c *testbench.Task) {
			for range 2 {
				m.Select(c)
				got := m.Exchange(c, 0x12, 0x80, 0xFE)
				m.Deselect(c)
				check.Equal(t, "came", got, []uint64{1, 0x13, 0x81})
			}
		})
		check.Fatal(t, b.Run(2000))
	})
}

func TestSlave(t *testing.T) {
	modes(t, func(t *testing.T, mode int) {
		b := testbench.New(t, design("spi_master"), testbench.Config{})
		check.Fatal(t, b.Model().Poke("mode", uint64(mode)))
		var p struct {
			Start *bool   `port:"*"`
			Done  *bool   `port:"*"`
			Out   *uint16 `port:"*"`
			In    *uint16 `port:"*"`
		}
		check.Fatal(t, b.Bind(&p))
		d := &echo{}
		s := check.Must(spi.NewSlave(b, "", spi.Config{Mode: mode, Bits: 16}, d))(t)
		check.Fatal(t, b.Reset("rst", 2))
		sent := []uint64{0xA5C3, 0x0001, 0x8000}
		b.Go("words", func(c *testbench.Task) {
			for _, w := range sent {
				*p.Out, *p.Start = uint16(w), true
				c.Until(func() bool { return *p.Done }, 200)
				*p.Start = false
				check.Equal(t, "came", *p.In, 1)
				c.Cycles(3)
			}
		})
		check.Fatal(t, b.Run(1000))
		check.Equal(t, "words", d.words, sent)
		check.Equal(t, "count", s.Words(), 3)
	})
}

// Words of other sizes and orders, from model to model.
func TestWords(t *testing.T) {
	modes(t, func(t *testing.T, mode int) {
		b := testbench.New(t, design("spi_through"), testbench.Config{})
		c := spi.Config{Mode: mode, Bits: 12, LowFirst: true}
		d := &echo{}
		m := check.Must(spi.NewMaster(b, "h", c))(t)
		check.Must(spi.NewSlave(b, "d", c, d))(t)
		check.Fatal(t, b.Reset("rst", 2))
		b.Go("master", func(c *testbench.Task) {
			m.Select(c)
			check.Equal(t, "came", m.Exchange(c, 0x123, 0x801), []uint64{1, 0x124})
			m.Deselect(c)
		})
		check.Fatal(t, b.Run(2000))
		check.Equal(t, "words", d.words, []uint64{0x123, 0x801})
	})
}

// flashBench has a master at a flash.
func flashBench(t *testing.T) (b *testbench.Bench, m *spi.Master, f *spi.Flash, refused *[]byte) {
	b = testbench.New(t, design("spi_through"), testbench.Config{})
	refused = new([]byte)
	f = &spi.Flash{Memory: memory.New(1 << 24), ID: [3]byte{0xEF, 0x40, 0x18}, Unknown: func(c byte) { *refused = append(*refused, c) }}
	f.Memory.Background(0xFF)
	m = check.Must(spi.NewMaster(b, "h", spi.Config{}))(t)
	s := check.Must(spi.NewSlave(b, "d", spi.Config{}, f))(t)
	check.Fatal(t, b.Reset("rst", 2))
	t.Cleanup(func() {
		if s.Violations() > 0 {
			t.Errorf("%d violations", s.Violations())
		}
	})
	return b, m, f, refused
}

func TestFlashReads(t *testing.T) {
	for _, test := range []struct {
		command              uint64
		lanes, data, between int
		mode                 []uint64
	}{
		{spi.ReadData, 1, 1, 0, nil}, {spi.FastRead, 1, 1, 8, nil}, {spi.DualOut, 1, 2, 8, nil}, {spi.QuadOut, 1, 4, 8, nil},
		{spi.DualIO, 2, 2, 0, []uint64{0}}, {spi.QuadIO, 4, 4, 4, []uint64{0x20}},
	} {
		t.Run(fmt.Sprintf("%#x", test.command), func(t *testing.T) {
			b, m, f, refused := flashBench(t)
			check.Fatal(t, f.Memory.Write(0x123456, []byte{0xDE, 0xAD, 0xBE, 0xEF}))
			want := []uint64{0xDE, 0xAD, 0xBE, 0xEF, 0xFF}
			read := func(c *testbench.Task, command bool, mode []uint64) {
				m.Select(c)
				if command {
					m.Exchange(c, test.command)
				}
				m.Send(c, test.lanes, append([]uint64{0x12, 0x34, 0x56}, mode...)...)
				if test.between > 0 {
					m.Dummy(c, test.between)
				}
				check.Equal(t, "read", m.Receive(c, test.data, len(want)), want)
				m.Deselect(c)
			}
			b.Go("read", func(c *testbench.Task) {
				read(c, true, test.mode)
				if len(test.mode) > 0 && test.mode[0] == 0x20 { // the command stays
					read(c, false, []uint64{0})
					read(c, true, []uint64{0})
				}
			})
			check.Fatal(t, b.Run(20_000))
			check.Equal(t, "refused", *refused, nil)
		})
	}
}

func TestFlashPrograms(t *testing.T) {
	b, m, f, refused := flashBench(t)
	command := func(c *testbench.Task, words ...uint64) {
		m.Select(c)
		m.Exchange(c, words...)
		m.Deselect(c)
	}
	at := func(address uint64, want ...byte) {
		t.Helper()
		got := make([]byte, len(want))
		check.Fatal(t, f.Memory.Read(address, got))
		check.Equal(t, fmt.Sprintf("at %#x", address), got, want)
	}
	b.Go("program", func(c *testbench.Task) {
		m.Select(c)
		check.Equal(t, "ID", m.Exchange(c, spi.ReadID, 0, 0, 0)[1:], []uint64{0xEF, 0x40, 0x18})
		m.Deselect(c)
		command(c, spi.PageProgram, 0, 0x10, 0, 0x11) // not enabled
		at(0x1000, 0xFF)
		command(c, spi.WriteEnable)
		m.Select(c)
		check.Equal(t, "status", m.Exchange(c, spi.ReadStatus, 0)[1:], []uint64{2})
		m.Deselect(c)
		command(c, spi.PageProgram, 0, 0x10, 0xFE, 0x11, 0x22, 0x33) // wraps within the page
		at(0x10FE, 0x11, 0x22)
		at(0x1000, 0x33)
		command(c, spi.WriteEnable)
		command(c, spi.PageProgram, 0, 0x10, 0xFE, 0x0F) // clears bits only
		at(0x10FE, 0x01)
		command(c, spi.WriteEnable)
		command(c, spi.EraseSector, 0, 0x11, 0)
		at(0x10FE, 0xFF, 0xFF)
		command(c, 0x77)
		command(c, spi.Sleep)
		command(c, spi.ReadID, 0)
		command(c, spi.WakeUp)
		command(c, spi.ReadID, 0)
	})
	check.Fatal(t, b.Run(20_000))
	check.Equal(t, "refused", *refused, []byte{spi.PageProgram, 0x77, spi.ReadID})
}

func TestViolations(t *testing.T) {
	for i, rule := range []string{spi.RuleIdle, spi.RuleWord, spi.RuleData, spi.RuleBoth} {
		t.Run(rule, func(t *testing.T) {
			b := testbench.New(t, design("spi_through"), testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", uint64(i+1)))
			m := check.Must(spi.NewMaster(b, "h", spi.Config{}))(t)
			var rules []string
			check.Must(spi.NewSlave(b, "d", spi.Config{Config: bus.Config{Violation: func(v bus.Violation) { rules = append(rules, v.Rule) }}},
				&spi.Flash{Memory: memory.New(1 << 24)}))(t)
			check.Fatal(t, b.Reset("rst", 8))
			b.Go("master", func(c *testbench.Task) {
				m.Select(c)
				m.Exchange(c, spi.DualOut, 1, 2, 3)
				m.Dummy(c, 8)
				m.Receive(c, 2, 2)
				m.Deselect(c)
			})
			check.Fatal(t, b.Run(2000))
			if !slices.Contains(rules, rule) || rule != spi.RuleWord && rules[0] != rule { // a word that is cut off ends with SCLK at 1
				t.Errorf("found %v", rules)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), design("spi_slave"), testbench.Config{}))(t)
	defer b.Close()
	check.Fails(t, "mode", check.Err(spi.NewMaster(b, "", spi.Config{Mode: 4})), nil, "spi: Config.Mode is 4: want 0 to 3")
	check.Fails(t, "bits", check.Err(spi.NewMaster(b, "", spi.Config{Bits: 7})), nil, "Config.Bits is 7: want a multiple of 4 up to 64")
	check.Fails(t, "side", check.Err(spi.NewSlave(b, "", spi.Config{}, &echo{})), verilator.ErrPort, "spi_slave has no output for SCLK")
}
