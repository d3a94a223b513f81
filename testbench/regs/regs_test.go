package regs_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
	"github.com/stafflink/lmmc/testbench/regs"
	"github.com/stafflink/lmmc/verilator"
)

var _ regs.Bus = (*wishbone.Master)(nil)

// ports are those of testdata/every.v, which are its bus.
type ports struct {
	Sel          *bool   `port:"*"`
	Writes       *bool   `port:"write"`
	Addr, Raise  *uint8  `port:"*"`
	Wdata, Rdata *uint32 `port:"*"`
}

func (p *ports) access(c *testbench.Task, address uint64, write bool, data uint64) (uint64, error) {
	if address < base || address >= base+64 {
		return 0, errors.New("no answer")
	}
	*p.Sel, *p.Writes, *p.Addr, *p.Wdata = true, write, uint8(address-base), uint32(data)
	if err := c.Bench().Model().Eval(); err != nil {
		return 0, err
	}
	got := *p.Rdata
	c.Cycles(1)
	*p.Sel = false
	return uint64(got), nil
}

func (p *ports) Read(c *testbench.Task, address uint64) (uint64, error) {
	return p.access(c, address, false, 0)
}

func (p *ports) Write(c *testbench.Task, address, data uint64) error {
	_, err := p.access(c, address, true, data)
	return err
}

const base = 0x1000

// open opens the design with its device, which reports nothing to the bench.
func open(t testing.TB, bug int, public ...string) (*testbench.Bench, *ports, *regs.Device) {
	t.Helper()
	block := check.Must(regs.Read("testdata/every.toml"))(t)
	b := check.Must(testbench.Open(t.Context(), verilator.Design{Top: "every", Sources: []string{"testdata/every.v"}, Public: public,
		Params: map[string]string{"BUG": fmt.Sprint(bug)}}, testbench.Config{Wave: testbench.WaveNever}))(t)
	t.Cleanup(func() { b.Close() })
	p := new(ports)
	check.Fatal(t, b.Bind(p))
	*p.Sel, *p.Raise = false, 0
	check.Fatal(t, b.Reset("rst", 2))
	d := regs.NewDevice(b, block, p, base)
	d.Report = nil
	return b, p, d
}

// run runs body as a coroutine.
func run(t testing.TB, b *testbench.Bench, body func(c *testbench.Task) error) (err error) {
	t.Helper()
	b.Go("body", func(c *testbench.Task) { err = body(c) })
	check.Fatal(t, b.Run(100_000))
	return err
}

func TestRegistersDoWhatTheirAccessTypesSay(t *testing.T) {
	b, _, d := open(t, 0)
	check.Fatal(t, run(t, b, func(c *testbench.Task) error {
		if err := d.CheckReset(c); err != nil {
			return err
		}
		return d.Bash(c, b.Rand("bash"), 3000, "pending")
	}))
}

func TestPlantedMistakesOfRegistersAreFound(t *testing.T) {
	for bug, want := range map[int]string{
		1: "mode (rw) is ", 2: "w1c (w1c) is ", 3: "every.table at ", 4: "rc (rc) is 0x11, predicted 0x0", 5: "mode (rw) is 0x0, predicted 0x1 (before: reset)",
	} {
		b, _, d := open(t, bug)
		err := run(t, b, func(c *testbench.Task) error {
			if err := d.CheckReset(c); err != nil {
				return err
			}
			return d.Bash(c, b.Rand("bash"), 3000, "pending")
		})
		check.Fails(t, fmt.Sprintf("bug %d", bug), err, nil, want, "regs: every.", "cycle ")
	}
}

func TestFieldsAreWrittenBesideOthers(t *testing.T) {
	b, _, d := open(t, 0)
	check.Fatal(t, run(t, b, func(c *testbench.Task) error {
		for _, w := range []struct {
			name string
			v    uint64
		}{{"ctrl.enable", 1}, {"ctrl.mode", 3}, {"flags.w1c", 0x05}, {"flags.w0c", 0x0f}, {"table[2]", 0xdeadbeef}, {"table[3].table", 7}} {
			if err := d.Write(c, w.name, w.v); err != nil {
				return err
			}
		}
		for name, want := range map[string]uint64{"ctrl": 0x31, "flags": 0x05a5a5a0, "table[2]": 0xdeadbeef, "table[3]": 7, "ctrl.mode": 3, "ctrl.key": 0} {
			if got, err := d.Read(c, name); err != nil || got != want {
				t.Errorf("%s is %#x, want %#x: %v", name, got, want, err)
			}
		}
		v, known, err := d.Predicted("flags.w0c")
		if v != 5 || !known || err != nil {
			t.Errorf("predicted %#x, %v, %v", v, known, err)
		}
		_, known, err = d.Predicted("count")
		if known || err != nil {
			t.Errorf("count is known: %v", err)
		}
		return nil
	}))
}

func TestBadNamesAndValuesAreRefused(t *testing.T) {
	b, _, d := open(t, 0)
	for name, want := range map[string]string{
		"ctl":         `no register "ctl" (did you mean ctrl?)`,
		"ctrl.enabel": `has no field "enabel" (did you mean enable?)`,
		"table":       "want an index", "ctrl[0]": "want an index", "table[4]": "index below 4", "a b": "want \"register\"",
	} {
		check.Fails(t, name, run(t, b, func(c *testbench.Task) error { return d.Write(c, name, 0) }), nil, "regs: every", want)
	}
	check.Fails(t, "wide field", run(t, b, func(c *testbench.Task) error { return d.Write(c, "ctrl.mode", 4) }), nil, "does not fit 2 bits")
	check.Fails(t, "wide register", run(t, b, func(c *testbench.Task) error { return d.Write(c, "table[0]", 1<<32) }), nil, "does not fit 32 bits")
	far := regs.NewDevice(b, check.Must(regs.Read("testdata/every.toml"))(t), new(ports), 0)
	check.Fails(t, "bus", run(t, b, func(c *testbench.Task) error { _, err := far.Read(c, "id"); return err }), nil, "every.id at 0x10: read: no answer")
	_, err := d.Peek("id")
	check.Fails(t, "no back door", err, nil, "give its name in the design as inside")
}

func TestTheBackDoorGoesPastTheBus(t *testing.T) {
	b, _, d := open(t, 0, "enable", "mode", "key", "flags", "table_words")
	check.Fatal(t, run(t, b, func(c *testbench.Task) error {
		if err := errors.Join(d.Poke("ctrl.mode", 3), d.Poke("flags", 0x01020304), d.Poke("flags.w1s", 0x77), d.Poke("table[2]", 0xabcd)); err != nil {
			return err
		}
		for name, want := range map[string]uint64{"ctrl.mode": 3, "flags": 0x01027704, "table[2]": 0xabcd, "table[1]": 0} {
			if got, err := d.Read(c, name); got != want || err != nil {
				return fmt.Errorf("%s is %#x by the bus, want %#x: %w", name, got, want, err)
			}
			if got, err := d.Peek(name); got != want || err != nil {
				return fmt.Errorf("%s is %#x by the back door, want %#x: %w", name, got, want, err)
			}
		}
		if err := d.Write(c, "ctrl.key", 0x5a); err != nil { // no read shows it
			return err
		}
		if got, err := d.Peek("ctrl.key"); got != 0x5a || err != nil {
			return fmt.Errorf("key is %#x: %w", got, err)
		}
		if err := d.Bash(c, b.Rand("bash"), 200, "pending"); err != nil {
			return err
		}
		return d.Check()
	}))
	check.Fatal(t, b.Model().Poke("table_words[3]", 0x1234567))
	check.Fails(t, "Check", d.Check(), nil, "regs: every.table[3].table is 0x1234567 in the design, predicted ")
}

func TestInterruptsAreWaitedForAndCleared(t *testing.T) {
	for _, edge := range []bool{false, true} {
		b, p, d := open(t, 0)
		irq := &regs.Interrupt{Device: d, Pending: "pending", Enable: "mask", Line: check.Must(b.Signal("irq"))(t), Edge: edge}
		irq.Start(b)
		b.Background("source", func(c *testbench.Task) {
			for _, s := range []uint8{4, 2} { // the first is not enabled
				c.Cycles(50)
				*p.Raise = s
				c.Cycles(1)
				*p.Raise = 0
			}
		})
		check.Fatal(t, run(t, b, func(c *testbench.Task) error {
			if err := d.Write(c, "mask", 3); err != nil {
				return err
			}
			sources, err := irq.Wait(c, 200)
			if err != nil || sources != 2 || b.Cycle() < 100 {
				return fmt.Errorf("edge %v: cycle %d: sources %#x: %w", edge, b.Cycle(), sources, err)
			}
			if err := irq.Clear(c, sources); err != nil {
				return err
			}
			if got, err := d.Read(c, "pending"); got != 4 || err != nil {
				return fmt.Errorf("pending %#x, %w", got, err)
			}
			_, err = irq.Wait(c, 20)
			if !errors.As(err, new(*testbench.ExpiredError)) || !strings.Contains(err.Error(), "no interrupt of every") {
				return fmt.Errorf("a second interrupt: %w", err)
			}
			return nil
		}))
	}
}

func TestBadDescriptionsAreRefused(t *testing.T) {
	const head = "name = \"b\"\n[[register]]\nname = \"r\"\n"
	for text, want := range map[string]string{
		"":             "block name \"\"",
		"name = \"b\"": "has no registers",
		"name = \"b\"\nwidth = 12\n[[register]]\nname=\"r\"": "width 12: want 8, 16, 32 or 64",
		head + "adress = 4":                                                             `register has no "adress" (did you mean address?)`,
		head + "address = 2":                                                            "want multiples of 4",
		head + "access = \"w1\"":                                                        `access "w1" is not known (did you mean w1c?)`,
		head + "field = [{name = \"f\", bits = \"3:4\"}]":                               "want them within 31:0",
		head + "field = [{name = \"f\", bits = \"x\"}]":                                 `want "high:low"`,
		head + "field = [{name = \"f\", bits = \"3\", reset = 2}]":                      "does not fit 1 bits",
		head + "field = [{name = \"f\", bits = \"3:0\"}, {name = \"g\", bits = \"3\"}]": "belong to another field",
		head + "field = [{name = \"f\", bits = \"1\"}, {name = \"F\", bits = \"3\"}]":   "another one of this name",
		head + "field = [{name = \"f\", bit = \"1\"}]":                                  `field has no "bit" (did you mean bits?)`,
		head + "[[register]]\nname = \"s\"":                                             "address 0x0 is that of r",
		head + "count = 2\ninside = \"x\"":                                              "want %d for the index",
		head + "name = 4":                                                               "toml",
	} {
		_, err := regs.Parse([]byte(text))
		check.Fails(t, text, err, nil, "regs: ", want)
	}
	_, err := regs.Read("testdata/every.v")
	check.Fails(t, "Verilog", err, nil, "regs: testdata/every.v: want a file .toml, .xml (IP-XACT) or .rdl")
	_, err = regs.Read("testdata/none.toml")
	check.Fails(t, "no file", err, os.ErrNotExist)
}
