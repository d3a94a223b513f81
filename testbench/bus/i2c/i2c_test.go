package i2c_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/i2c"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

func design(top string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{"testdata/" + top + ".v"}}
}

// Registers of RTL that stretches the clock, beside an EEPROM that does so too.
func TestMaster(t *testing.T) {
	b := testbench.New(t, design("i2c_regs"), testbench.Config{})
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{Low: 8, High: 8}))(t)
	m := wires.NewMaster()
	rom := &i2c.EEPROM{Target: memory.New(1 << 16), AddressBytes: 2}
	slow := check.Must(wires.AddTarget(0x50, rom))(t)
	slow.SetThrottle(0.8)
	check.Fatal(t, b.Reset("rst", 2))
	rng := b.Rand("data")
	b.Go("master", func(c *testbench.Task) {
		var regs [16]byte
		check.Error(t, m.Write(c, 0x42, append([]byte{0}, regs[:]...)...))
		for range 20 {
			at := rng.IntN(16)
			data := rng.Bytes(rng.Between(1, 16-at))
			copy(regs[at:], data)
			check.Error(t, m.Write(c, 0x42, append([]byte{byte(at)}, data...)...))
			from := rng.IntN(16)
			got, err := m.Transfer(c, 0x42, []byte{byte(from)}, 16-from)
			if err != nil || !bytes.Equal(got, regs[from:]) {
				c.Fatalf("from %d: have %x, %v, want %x", from, got, err, regs[from:])
			}
			check.Error(t, m.Write(c, 0x50, append([]byte{0x12, byte(at)}, data...)...))
			got, err = m.Transfer(c, 0x50, []byte{0x12, byte(at)}, len(data))
			if err != nil || !bytes.Equal(got, data) {
				c.Fatalf("EEPROM: have %x, %v, want %x", got, err, data)
			}
		}
		check.Fails(t, "nobody", m.Write(c, 0x11, 1), i2c.ErrNack, "address 0x11")
		check.Fails(t, "beyond", m.Write(c, 0x42, 15, 1, 2), i2c.ErrNack, "byte 3, 0x2, of 3 to address 0x42")
		check.Error(t, m.Write(c, 0x42)) // only asks whether it is there
		check.Fails(t, "full", m.Write(c, 0x50, 0xFF, 0xFF, 1, 2), i2c.ErrNack, "byte 4")
	})
	check.Fatal(t, b.Run(1_000_000))
	check.Equal(t, "not covered", wires.Coverage().Unhit(), []string{"bits of an address: 10"})
}

// Devices with addresses of 10 bits, of RTL and of the model, whose low or high bits are those of others.
func TestTenBits(t *testing.T) {
	b := testbench.New(t, design("i2c_regs"), testbench.Config{})
	check.Fatal(t, b.Model().Poke("ten", 1))
	var low []i2c.Byte
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{Item: func(v i2c.Byte) {
		if v.Low {
			low = append(low, v)
		}
	}}))(t)
	m := wires.NewMaster()
	devices := []i2c.Address{i2c.Ten(0x242), i2c.Ten(0x243), i2c.Ten(0x342), 0x42}
	for _, a := range devices[1:] {
		check.Must(wires.AddTarget(a, &i2c.EEPROM{Target: memory.New(16)}))(t)
	}
	check.Fatal(t, b.Reset("rst", 2))
	rng := b.Rand("data")
	b.Go("master", func(c *testbench.Task) {
		var data [4][]byte
		for k, a := range devices {
			data[k] = rng.Bytes(16)
			check.Error(t, m.Write(c, a, append([]byte{0}, data[k]...)...))
		}
		for range 20 {
			k, from := rng.IntN(4), rng.IntN(16)
			got, err := m.Transfer(c, devices[k], []byte{byte(from)}, 16-from)
			if err != nil || !bytes.Equal(got, data[k][from:]) {
				c.Fatalf("address %s, from %d: have %x, %v, want %x", devices[k], from, got, err, data[k][from:])
			}
		}
		check.Error(t, m.Write(c, devices[0], 3))
		check.Equal(t, "read", check.Must(m.Read(c, devices[0], 2))(t), data[0][3:5])
		for _, nobody := range []uint16{0x2FF, 0x142} {
			check.Fails(t, "nobody", m.Write(c, i2c.Ten(nobody), 1), i2c.ErrNack, fmt.Sprintf("address %#x (10 bits)", nobody))
		}
		check.Fails(t, "beyond", m.Write(c, devices[0], 15, 1, 2), i2c.ErrNack, "byte 3, 0x2, of 3 to address 0x242 (10 bits)")
	})
	check.Fatal(t, b.Run(1_000_000))
	check.Equal(t, "not covered", wires.Coverage().Unhit(), nil)
	if len(low) == 0 || low[0] != (i2c.Byte{Low: true, Value: 0x42, Ack: true}) {
		t.Errorf("low bytes of addresses: %+v", low)
	}
}

// Of two masters that begin together one loses, and tries again.
func TestArbitration(t *testing.T) {
	b := testbench.New(t, design("i2c_regs"), testbench.Config{})
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	lost := 0
	for k := range byte(2) {
		m := wires.NewMaster()
		b.Go("master", func(c *testbench.Task) {
			for {
				err := m.Write(c, 0x42, k, 0x10+k)
				if err == nil {
					return
				}
				if !errors.Is(err, i2c.ErrArbitration) {
					c.Fatalf("master %d: %v", k, err)
				}
				lost++
			}
		})
	}
	check.Fatal(t, b.Run(10_000))
	m := wires.NewMaster()
	b.Go("read", func(c *testbench.Task) {
		got, err := m.Transfer(c, 0x42, []byte{0}, 2)
		if err != nil || !bytes.Equal(got, []byte{0x10, 0x11}) {
			c.Fatalf("have %x, %v", got, err)
		}
	})
	check.Fatal(t, b.Run(10_000))
	check.Equal(t, "lost", lost, 1)
}

func TestViolations(t *testing.T) {
	// Each letter is four clocks: h and l for SCL and, as capitals, SDA at 1: "H" both 1, "h" SCL 1 and SDA 0, "L" SCL 0 and SDA 1, "l" both 0.
	address := "Hhl" + "LHL" + "lhl" + "lhl" + "lhl" + "lhl" + "LHL" + "lhl" + "lhl" + "LHL"
	for _, test := range []struct{ rule, wave string }{
		{i2c.RuleByte, "HhlLHLlhlLHhl"},
		{i2c.RuleVoid, "HhH"},
		{i2c.RuleNack, address + "lhl" + "lhl"},
		{i2c.RuleTiming, "Hhl-LHL"},
		{i2c.RuleTen, "Hhl" + strings.Repeat("LHL", 4) + "lhl" + "lhl" + "lhl" + "LHL" + "LHL"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			b := testbench.New(t, design("i2c_pins"), testbench.Config{})
			var rules []string
			check.Must(i2c.NewBus(b, "", i2c.Config{Low: 6, High: 3, Config: bus.Config{Violation: func(v bus.Violation) { rules = append(rules, v.Rule) }}}))(t)
			scl, sda := check.Must(b.Signal("want_scl"))(t), check.Must(b.Signal("want_sda"))(t)
			scl.Set(1)
			sda.Set(1)
			check.Fatal(t, b.Reset("rst", 2))
			quick := uint64(4)
			b.Go("wave", func(c *testbench.Task) {
				for _, v := range test.wave {
					if v == '-' {
						quick = 2
						continue
					}
					scl.Set(map[bool]uint64{true: 1}[v == 'H' || v == 'h'])
					sda.Set(map[bool]uint64{true: 1}[v == 'H' || v == 'L'])
					c.Cycles(quick)
				}
				c.Cycles(4)
			})
			check.Fatal(t, b.Run(1000))
			if len(rules) == 0 || slices.ContainsFunc(rules, func(r string) bool { return r != test.rule }) {
				t.Errorf("found %v", rules)
			}
		})
	}
	t.Run(i2c.RuleDrain, func(t *testing.T) {
		b := testbench.New(t, design("i2c_regs"), testbench.Config{})
		var first bus.Violation
		check.Must(i2c.NewBus(b, "", i2c.Config{Config: bus.Config{Violation: func(v bus.Violation) { first = v }}}))(t)
		check.Fatal(t, b.Reset("rst", 2))
		check.Fatal(t, b.Model().Poke("push", 1))
		check.Fatal(t, b.Step(3))
		check.Equal(t, "rule", first.Rule, i2c.RuleDrain)
	})
}

func TestPorts(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), design("i2c_regs"), testbench.Config{}))(t)
	defer b.Close()
	check.Fails(t, "prefix", check.Err(i2c.NewBus(b, "i2c", i2c.Config{})), verilator.ErrPort, "i2c i2c: ", "no input for SCL_I", "did you mean scl_i?")
	none := map[string]string{"sda_o": "-", "sda_oe": "-"}
	check.Fails(t, "no output", check.Err(i2c.NewBus(b, "", i2c.Config{Config: bus.Config{Names: none}})), verilator.ErrPort, "no output for SDA")
	wires := check.Must(i2c.NewBus(b, "", i2c.Config{}))(t)
	check.Fails(t, "address", check.Err(wires.AddTarget(0x80, &i2c.EEPROM{})), nil, "address 0x80: want 7 bits", "i2c.Ten(0x80)")
	check.Fails(t, "address", check.Err(wires.AddTarget(i2c.Ten(0x400), &i2c.EEPROM{})), nil, "address 0x400 (10 bits): want 10 bits")
}
