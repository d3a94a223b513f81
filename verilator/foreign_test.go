package verilator_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/verilator"
)

// serve runs a core for so many clocks; its instructions come from memory that answers at once.
func serve(t *testing.T, m *verilator.Model, address, request, ready, data string, program []uint64, cycles int) {
	t.Helper()
	for range cycles {
		asked := must(m.Peek(request)) != 0
		check.Fatal(t, m.Poke(ready, map[bool]uint64{true: 1}[asked]))
		if at := must(m.Peek(address)) / 4; asked && at < uint64(len(program)) {
			check.Fatal(t, m.Poke(data, program[at]))
		}
		check.Fatal(t, m.Run(1))
	}
}

// program adds x1 to itself for ever: addi x1, x0, 5; add x2, x1, x1; jal x0, -4.
var program = []uint64{0x00500093, 0x00108133, 0xffdff06f}

// TestForeignPicoRV32 looks at a core's registers, sets and forces what is in it, and takes its own program counter for a condition.
func TestForeignPicoRV32(t *testing.T) {
	d := verilator.Design{Top: "picorv32", Sources: foreign.Files(t, "picorv32", "picorv32.v"),
		Public: []string{"cpuregs", "reg_pc", "decoded_*", "cpu_state"}, Forceable: []string{"alu_out"}}
	m := start(t, buildForceable(t, d), verilator.Config{Seed: 3})
	must(m.Clock("clk", 10, 0))
	check.Fatal(t, m.Run(5))
	check.Fatal(t, m.Poke("resetn", 1))
	run := func(n int) { serve(t, m, "mem_addr", "mem_valid", "mem_ready", "mem_rdata", program, n) }
	run(100)
	check.Equal(t, "x1 and x2", must(m.Dump("cpuregs", 1, 2)), []uint64{5, 10})
	if pc := must(m.Peek("reg_pc")); pc > 8 || pc%4 != 0 {
		t.Errorf("reg_pc is %#x", pc)
	}
	check.Fatal(t, m.Poke("cpuregs[1]", 21))
	run(100)
	check.Equal(t, "of the new x1", must(m.Peek("cpuregs[2]")), 42)
	check.Fatal(t, m.Force("alu_out", 0x77))
	run(100)
	check.Equal(t, "forced", must(m.Peek("cpuregs[2]")), 0x77)
	check.Fatal(t, m.Release("alu_out"))
	run(100)
	check.Equal(t, "released", must(m.Peek("cpuregs[2]")), 42)
}

// TestForeignSERV reads and sets registers that a bit-serial core keeps in a memory of two bits a word.
func TestForeignSERV(t *testing.T) {
	d := verilator.Design{Top: "serv_rf_top", Sources: foreign.Files(t, "serv", "rtl/serv_*.v"), Public: []string{"rf_ram.memory", "cpu.state.*"}}
	m := start(t, build(t, d), verilator.Config{Seed: 3})
	must(m.Clock("clk", 10, 0))
	check.Fatal(t, m.Poke("i_rst", 1))
	check.Fatal(t, m.Run(5))
	check.Fatal(t, m.Poke("i_rst", 0))
	register := func(x int) (v uint64) {
		for i, bits := range must(m.Dump("rf_ram.memory", 16*x, 16)) {
			v |= bits << (2 * i)
		}
		return v
	}
	run := func(n int) {
		serve(t, m, "o_ibus_adr", "o_ibus_cyc", "i_ibus_ack", "i_ibus_rdt", program, n)
	}
	run(600)
	check.Equal(t, "x1", register(1), 5)
	check.Equal(t, "x2", register(2), 10)
	check.Fatal(t, m.Load("rf_ram.memory", 16, []uint64{2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))
	run(600)
	check.Equal(t, "of the new x1", register(2), 2*(2+2*4+1*16))
	seen := map[uint64]bool{}
	for range 80 {
		run(1)
		seen[must(m.Peek("cpu.state.o_cnt"))] = true
	}
	check.Equal(t, "counts", len(seen), 8)
}
