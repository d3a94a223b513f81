package wishbone_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
	"github.com/stafflink/lmmc/verilator"
)

func design(top string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{"testdata/" + top + ".v"}}
}

// open makes a bench of a design in a mode, with one of its violations.
func open(t *testing.T, top string, pipelined bool, broken int) *testbench.Bench {
	b := testbench.New(t, design(top), testbench.Config{})
	check.Fatal(t, b.Model().Poke("broken", uint64(broken)))
	if pipelined {
		check.Fatal(t, b.Model().Poke("pipelined", 1))
	}
	return b
}

func modes(t *testing.T, run func(t *testing.T, pipelined bool)) {
	for _, pipelined := range []bool{false, true} {
		t.Run(map[bool]string{false: "classic", true: "pipelined"}[pipelined], func(t *testing.T) { run(t, pipelined) })
	}
}

// Random accesses give what a map of bytes says, and reach all of the coverage.
func TestMaster(t *testing.T) {
	modes(t, func(t *testing.T, pipelined bool) {
		b := open(t, "wb_ram", pipelined, 0)
		m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{Pipelined: pipelined, WordAddress: true}))(t)
		check.Fatal(t, b.Reset("rst", 3))
		b.RandomStall("wb", m, 30)
		rng, mirror := b.Rand("accesses"), make([]byte, 255*4)
		b.Go("cpu", func(c *testbench.Task) {
			for i := range uint64(255) {
				check.Error(t, m.Write(c, 4*i, 0))
			}
			for range 200 {
				var started []*bus.Pending
				var want []uint64
				for range rng.Between(1, 12) {
					a := bus.Access{Write: rng.Bool(), Addr: uint64(4 * rng.IntN(255)), Data: uint64(rng.Uint32()), Mask: uint64(rng.Between(1, 15))}
					var word uint64
					for i := range uint64(4) {
						if a.Write && a.Mask>>i&1 != 0 {
							mirror[a.Addr+i] = byte(a.Data >> (8 * i))
						}
						word |= uint64(mirror[a.Addr+i]) << (8 * i)
					}
					started, want = append(started, m.Start(a)), append(want, word)
				}
				for i, p := range started {
					if got, err := p.Wait(c); err != nil || !p.Write && got != want[i] {
						c.Fatalf("read %#x: have %#x, %v, want %#x", p.Addr, got, err, want[i])
					}
				}
			}
			if _, err := m.Read(c, 255*4); !errors.Is(err, wishbone.ErrBus) {
				c.Fatalf("the last word: have %v, want ErrBus", err)
			}
			if err := m.Write(c, 255*4, 1); !errors.Is(err, wishbone.ErrBus) {
				c.Fatalf("the last word: have %v, want ErrBus", err)
			}
		})
		check.Fatal(t, b.Run(100_000))
		unhit := map[bool][]string{false: {"waits: 0", "bytes: none"}, true: {"open accesses: 4 and more", "bytes: none"}}[pipelined]
		check.Equal(t, "not covered", m.Coverage().Unhit(), unhit)
	})
}

// A design reads from a memory, and writes to it.
func TestSlave(t *testing.T) {
	modes(t, func(t *testing.T, pipelined bool) {
		b := open(t, "wb_copy", pipelined, 0)
		var store memory.Memory
		rng := b.Rand("memory")
		for i := range uint64(32) {
			check.Fatal(t, store.PutUint(4*i, 4, uint64(rng.Uint32())))
		}
		s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{Pipelined: pipelined, WordAddress: true}, &store))(t)
		done := check.Must(b.Signal("done"))(t)
		check.Fatal(t, b.Reset("rst", 3))
		b.RandomStall("slave", s, 10)
		b.Go("wait", func(c *testbench.Task) { c.Until(done.Is, 5000) })
		check.Fatal(t, b.Run(5000))
		for i := range uint64(32) {
			from, _ := store.Uint(4*i, 4)
			to, _ := store.Uint(4*(512+i), 4)
			check.Equal(t, fmt.Sprint("word ", i), to, (from+1)&0xFFFFFFFF)
		}
		check.Equal(t, "accesses", s.Items(), 64)
	})
}

// An access that the memory refuses is an error on the bus.
func TestSlaveAnswersErrors(t *testing.T) {
	b := open(t, "wb_copy", true, 0)
	s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{Pipelined: true, WordAddress: true}, memory.New(64)))(t)
	failed := check.Must(b.Signal("failed"))(t)
	check.Fatal(t, b.Reset("rst", 3))
	check.Fatal(t, b.Step(300))
	if !failed.Is() || s.Coverage().Ratio() == 1 {
		t.Errorf("failed is %d", failed.Get())
	}
}

func TestViolationsOfSlaves(t *testing.T) {
	modes(t, func(t *testing.T, pipelined bool) {
		for i, rule := range []string{wishbone.RuleNoCycle, wishbone.RuleAnswer, wishbone.RuleOneEnd} {
			t.Run(rule, func(t *testing.T) {
				b := open(t, "wb_ram", pipelined, i+1)
				found := map[string]int{}
				m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{Pipelined: pipelined, WordAddress: true,
					Config: bus.Config{Violation: func(v bus.Violation) { found[v.Rule]++ }}}))(t)
				check.Fatal(t, b.Reset("rst", 3))
				m.SetThrottle(0.5)
				for i := range uint64(16) {
					m.Start(bus.Access{Addr: 4 * (i + 240)})
				}
				check.Fatal(t, b.Step(200))
				if found[rule] == 0 || len(found) != 1 {
					t.Errorf("found %v", found)
				}
			})
		}
	})
}

func TestViolationsOfMasters(t *testing.T) {
	modes(t, func(t *testing.T, pipelined bool) {
		dropped := wishbone.RuleClassic
		if pipelined {
			dropped = wishbone.RulePipeline
		}
		for i, rule := range []string{wishbone.RuleCycle, dropped, wishbone.RuleQualify, wishbone.RuleQualify, wishbone.RuleQualify, wishbone.RuleReset,
			wishbone.RuleReset} {
			t.Run(fmt.Sprint(i+1, " ", rule), func(t *testing.T) {
				b := open(t, "wb_copy", pipelined, i+1)
				var first bus.Violation
				s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{Pipelined: pipelined, WordAddress: true,
					Config: bus.Config{Violation: func(v bus.Violation) {
						if first.Rule == "" {
							first = v
						}
					}}}, &memory.Memory{}))(t)
				s.SetThrottle(0.7)
				check.Fatal(t, b.Reset("rst", 3))
				check.Fatal(t, b.Step(300))
				check.Equal(t, "rule", first.Rule, rule)
			})
		}
	})
}

// What Waive lists is not reported.
func TestWaive(t *testing.T) {
	b := open(t, "wb_ram", false, 1)
	m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true, Config: bus.Config{Waive: []string{wishbone.RuleNoCycle}}}))(t)
	check.Fatal(t, b.Reset("rst", 3))
	check.Fatal(t, b.Step(20))
	check.Equal(t, "violations", m.Violations(), 0)
}

// A monitor sees what a driver does; the accesses of a reset end with an error.
func TestMonitorAndReset(t *testing.T) {
	b := open(t, "wb_ram", true, 0)
	m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{Pipelined: true, WordAddress: true}))(t)
	var seen []bus.Access
	check.Must(wishbone.NewMonitor(b, "wb", wishbone.Config{Pipelined: true, WordAddress: true, Item: func(a bus.Access) { seen = append(seen, a) }}))(t)
	check.Fatal(t, b.Reset("rst", 3))
	b.Go("write", func(c *testbench.Task) { check.Error(t, m.Write(c, 12, 99)) })
	check.Fatal(t, b.Run(100))
	if len(seen) != 1 || seen[0].Addr != 12 || seen[0].Data != 99 || !seen[0].Write {
		t.Errorf("seen: %+v", seen)
	}
	p := m.Start(bus.Access{Addr: 12})
	check.Fatal(t, b.Step(1))
	check.Fatal(t, b.Reset("rst", 3))
	if !p.Done() || !errors.Is(p.Err, bus.ErrReset) {
		t.Errorf("after reset: %+v", p)
	}
}

func TestPortsThatDoNotFit(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), verilator.Design{Top: "wb_ram", Sources: []string{"testdata/wb_ram.v"}}, testbench.Config{}))(t)
	defer b.Close()
	for _, test := range []struct {
		prefix string
		names  map[string]string
		want   []string
	}{
		{"bw", nil, []string{"wishbone bw: ", "wb_ram has no input for CYC: none of bw_cyc", "(did you mean wb_cyc?)", `Names["cyc"]`}},
		{"wb", map[string]string{"cyc": "wb_sel"}, []string{"CYC is wb_sel with 4 bits, want 1"}},
		{"wb", map[string]string{"cyc": "wb_ack"}, []string{"wb_ack is an output of wb_ram, and CYC must be an input"}},
		{"wb", map[string]string{"cyc": "wb_cyk"}, []string{`no port "wb_cyk" (did you mean wb_cyc?)`}},
		{"wb", map[string]string{"cyc": "-"}, []string{"the bus cannot do without CYC"}},
		{"wb", map[string]string{"stop": "wb_cyc"}, []string{`Names has "stop"`, "(did you mean stb?)"}},
		{"wb", map[string]string{"sel": "wb_sel[1:0]"}, []string{"wb_sel[1:0] has 2 bits, want 4"}},
		{"wb", map[string]string{"dat_w": "wb_dat_i[7:0]"}, []string{"wb_dat_i[7:0] has 8 bits and wb_dat_o has 32"}},
	} {
		_, err := wishbone.NewMaster(b, test.prefix, wishbone.Config{Config: bus.Config{Names: test.names}})
		check.Fails(t, test.prefix, err, verilator.ErrPort, test.want...)
	}
	_, err := wishbone.NewMonitor(b, "", wishbone.Config{})
	check.Fails(t, "a reset that is not there", check.Err(wishbone.NewMaster(b, "wb", wishbone.Config{Config: bus.Config{Reset: "reset"}})), verilator.ErrPort, "reset")
	check.Fails(t, "monitor", err, verilator.ErrPort)
}
