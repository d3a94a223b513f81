package mdio_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/mdio"
	"github.com/stafflink/lmmc/verilator"
)

func design(top string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{"testdata/" + top + ".v"}}
}

func TestStation(t *testing.T) {
	b := testbench.New(t, design("mdio_regs"), testbench.Config{})
	s := check.Must(mdio.NewStation(b, "", mdio.Config{}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	rng := b.Rand("values")
	b.Go("station", func(c *testbench.Task) {
		values := map[byte]uint16{}
		for range 40 {
			r := byte(rng.IntN(4))
			values[r] = uint16(rng.Uint32())
			check.Error(t, check.Err(s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Write, PHY: 5, Register: r, Data: values[r]})))
			got, err := s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Read22, PHY: 5, Register: r})
			if err != nil || got != values[r] {
				c.Fatalf("register %d: have %#x, %v, want %#x", r, got, err, values[r])
			}
		}
		_, err := s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Read22, PHY: 6})
		check.Fails(t, "nobody", err, nil, "mdio: no PHY at address 6 answers")
	})
	check.Fatal(t, b.Run(100_000))
}

// Station and PHY speak both clauses.
func TestPHY(t *testing.T) {
	b := testbench.New(t, design("mdio_pins"), testbench.Config{})
	s := check.Must(mdio.NewStation(b, "h", mdio.Config{}))(t)
	regs := mdio.Memory{}
	y := check.Must(mdio.NewPHY(b, "d", mdio.Config{}, 9, regs))(t)
	check.Fatal(t, b.Reset("rst", 2))
	b.Go("station", func(c *testbench.Task) {
		do := func(clause int, op mdio.Op, register byte, data uint16) uint16 {
			got, err := s.Do(c, mdio.Frame{Clause: clause, Op: op, PHY: 9, Register: register, Data: data})
			check.Error(t, err)
			return got
		}
		do(22, mdio.Write, 4, 0xA5F0)
		check.Equal(t, "clause 22", do(22, mdio.Read22, 4, 0), 0xA5F0)
		do(45, mdio.Address, 3, 0x1234)
		do(45, mdio.Write, 3, 0xBEEF)
		check.Equal(t, "clause 45, next", do(45, mdio.ReadNext, 3, 0), 0xBEEF)
		check.Equal(t, "clause 45, behind", do(45, mdio.Read, 3, 0), 0)
		do(45, mdio.Address, 3, 0xFFFF)
		do(45, mdio.Write, 3, 0x0F0F)
		check.Equal(t, "clause 45, the last", do(45, mdio.ReadNext, 3, 0), 0x0F0F)
		check.Equal(t, "clause 45, the last again", do(45, mdio.ReadNext, 3, 0), 0x0F0F)
		_, err := s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Read22, PHY: 8})
		check.Fails(t, "another", err, nil, "address 8")
		_, err = s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Read22, PHY: 32})
		check.Fails(t, "no address", err, nil, "want a PHY and a register up to 31")
	})
	check.Fatal(t, b.Run(100_000))
	check.Equal(t, "frames", y.Frames(), 10)
	check.Equal(t, "registers", regs, mdio.Memory{-1: {4: 0xA5F0}, 3: {0x1234: 0xBEEF, 0xFFFF: 0x0F0F}})
	check.Equal(t, "not covered", y.Coverage().Unhit(), nil)
}

func TestViolations(t *testing.T) {
	for _, test := range []struct {
		rule    string
		broken  uint64
		station mdio.Config
		frame   mdio.Frame
	}{
		{mdio.RuleEdge, 1, mdio.Config{}, mdio.Frame{Clause: 22, Op: mdio.Write}},
		{mdio.RuleTurnaround, 2, mdio.Config{}, mdio.Frame{Clause: 22, Op: mdio.Read22}},
		{mdio.RuleTurnaround, 3, mdio.Config{}, mdio.Frame{Clause: 22, Op: mdio.Read22}},
		{mdio.RulePreamble, 0, mdio.Config{NoPreamble: true}, mdio.Frame{Clause: 22, Op: mdio.Write}},
		{mdio.RuleOp, 0, mdio.Config{}, mdio.Frame{Clause: 22, Op: mdio.Read}},
	} {
		t.Run(fmt.Sprint(test.rule, " ", test.broken), func(t *testing.T) {
			b := testbench.New(t, design("mdio_pins"), testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", test.broken))
			s := check.Must(mdio.NewStation(b, "h", test.station))(t)
			var first bus.Violation
			check.Must(mdio.NewPHY(b, "d", mdio.Config{Config: bus.Config{Violation: func(v bus.Violation) {
				if first.Rule == "" {
					first = v
				}
			}}}, 0, mdio.Memory{}))(t)
			check.Fatal(t, b.Reset("rst", 10))
			b.Go("station", func(c *testbench.Task) { _, _ = s.Do(c, test.frame) })
			check.Fatal(t, b.Run(1000))
			check.Equal(t, "rule", first.Rule, test.rule)
		})
	}
}

func TestPorts(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), design("mdio_regs"), testbench.Config{}))(t)
	defer b.Close()
	check.Fails(t, "side", check.Err(mdio.NewPHY(b, "", mdio.Config{}, 1, nil)), verilator.ErrPort, "mdio_regs has no output for MDC")
	check.Fails(t, "address", check.Err(mdio.NewPHY(b, "", mdio.Config{}, 32, nil)), nil, "PHY address 32: want 0 to 31")
}

// The station of verilog-ethernet's examples.
func TestForeign(t *testing.T) {
	d := verilator.Design{Top: "mdio_master", Sources: foreign.Files(t, "verilog-ethernet", "example/VCU118/fpga_1g/rtl/mdio_master.v")}
	b := testbench.New(t, d, testbench.Config{})
	regs := mdio.Memory{}
	y := check.Must(mdio.NewPHY(b, "", mdio.Config{}, 3, regs))(t)
	check.Fatal(t, b.Model().Poke("prescale", 3))
	var p struct {
		PHY   *uint8  `port:"cmd_phy_addr"`
		Reg   *uint8  `port:"cmd_reg_addr"`
		Data  *uint16 `port:"cmd_data"`
		Op    *uint8  `port:"cmd_opcode"`
		Valid *bool   `port:"cmd_valid"`
		Ready *bool   `port:"cmd_ready"`
		Out   *uint16 `port:"data_out"`
		Came  *bool   `port:"data_out_valid"`
		Busy  *bool   `port:"busy"`
	}
	check.Fatal(t, b.Bind(&p))
	check.Fatal(t, b.Reset("rst", 4))
	b.Go("host", func(c *testbench.Task) {
		do := func(op mdio.Op, r byte, data uint16) {
			*p.PHY, *p.Reg, *p.Data, *p.Op, *p.Valid = 3, r, data, byte(op), true
			c.Until(func() bool { return *p.Ready }, 10_000)
			c.Cycles(1)
			*p.Valid = false
			c.Until(func() bool { return !*p.Busy }, 10_000)
		}
		for r := range byte(32) {
			do(mdio.Write, r, 0x1111*uint16(r))
		}
		for r := range byte(32) {
			do(mdio.Read22, r, 0)
			check.Equal(t, fmt.Sprint("valid ", r), *p.Came, true)
			check.Equal(t, fmt.Sprint("register ", r), *p.Out, 0x1111*uint16(r))
			check.Fatal(t, b.Model().Poke("data_out_ready", 1))
			c.Cycles(1)
			check.Fatal(t, b.Model().Poke("data_out_ready", 0))
		}
	})
	check.Fatal(t, b.Run(500_000))
	t.Logf("%d frames, %d cycles, %d violations", y.Frames(), b.Cycle(), y.Violations())
}
