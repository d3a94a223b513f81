package cpu

import (
	"maps"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

type ports struct {
	MemValid *bool   `port:"*"`
	MemReady *bool   `port:"*"`
	MemWrite *bool   `port:"*"`
	MemAddr  *uint32 `port:"*"`
	MemWdata *uint32 `port:"*"`
	MemRdata *uint32 `port:"*"`
	Trap     *bool   `port:"*"`
}

// run lets the core run a program until it traps. Its memory takes up to longest clocks for an access.
func run(t *testing.T, program []uint32, longest int) *machine {
	t.Helper()
	m := &machine{memory: map[uint32]uint32{}}
	for i, word := range program {
		m.memory[uint32(4*i)] = word
	}
	memory := maps.Clone(m.memory)
	for range 10_000 {
		if !m.step() {
			break
		}
	}

	b := testbench.New(t, verilator.Design{Top: "core", Sources: []string{"core.v"}}, testbench.Config{})
	var p ports
	b.Bind(&p)
	*p.MemReady = false
	b.Reset("rst", 2)
	stores := testbench.NewScoreboard[store](b, "stores")
	for _, s := range m.stores {
		stores.Expect(s)
	}
	b.Background("memory", func(task *testbench.Task) {
		wait := b.Rand("memory")
		for {
			task.Until(func() bool { return *p.MemValid }, 0)
			task.Cycles(uint64(wait.IntN(longest + 1)))
			if *p.MemWrite {
				memory[*p.MemAddr] = *p.MemWdata
				stores.Got(store{*p.MemAddr, *p.MemWdata})
			}
			*p.MemRdata, *p.MemReady = memory[*p.MemAddr], true
			task.Cycles(1)
			*p.MemReady, *p.MemRdata = false, wait.Uint32()
		}
	})
	b.Go("end", func(task *testbench.Task) { task.Until(func() bool { return *p.Trap }, 0) })
	b.Run(500_000)
	stores.Finish()
	return m
}

// TestSum adds the numbers 1 to 100 by a function that it calls.
func TestSum(t *testing.T) {
	m := run(t, []uint32{
		addi(10, 0, 100),
		jal(1, 16), // to the function
		sw(0, 11, 0x400),
		lw(12, 0, 0x400),
		ebreak,
		addi(11, 0, 0), // the function
		add(11, 11, 10),
		addi(10, 10, -1),
		branch(1, 10, 0, -8),
		jalr(0, 1, 0),
	}, 0)
	if len(m.stores) != 1 || m.stores[0] != (store{0x400, 5050}) {
		t.Errorf("the reference stores %v, want 5050 at 0x400", m.stores)
	}
}

// TestRandomPrograms runs programs of random instructions that only jump forwards, with memories of any speed.
func TestRandomPrograms(t *testing.T) {
	for range 20 {
		random := testbench.NewRand(testbench.TestSeed(t)).Split(t.Name())
		t.Run("", func(t *testing.T) {
			random := random.Split(t.Name())
			reg := func() int { return random.IntN(8) }
			var program []uint32
			for i := 1; i < 8; i++ {
				program = append(program, lui(i, random.Uint32N(1<<20)), addi(i, i, random.Between(-2048, 2047)))
			}
			for range 200 {
				rd, rs, rt := reg(), reg(), reg()
				switch random.IntN(8) {
				case 0:
					program = append(program, imm(testbench.Pick(random, 0, 4, 6, 7), rd, rs, random.Between(-2048, 2047)))
				case 1, 2:
					program = append(program, op(0, testbench.Pick(random, 0, 4, 6, 7), rd, rs, rt))
				case 3:
					program = append(program, op(0x20, 0, rd, rs, rt))
				case 4:
					program = append(program, lw(rd, 0, 4*random.Between(400, 420)))
				case 5:
					program = append(program, sw(0, rt, 4*random.Between(400, 420)))
				case 6:
					program = append(program, branch(random.IntN(2), rs, testbench.Pick(random, rs, rt), 4*random.Between(1, 4)))
				case 7:
					program = append(program, jal(rd, 4*random.Between(1, 4)))
				}
			}
			for i := range 8 {
				program = append(program, sw(0, i, 0x600+4*i))
			}
			run(t, append(program, ebreak), random.IntN(4))
		})
	}
}

// TestTraps: what the core does not know stops it, and nothing behind it is done.
func TestTraps(t *testing.T) {
	for name, bad := range map[string]uint32{
		"ebreak": ebreak, "zero": 0, "shift": imm(1, 1, 1, 3), "multiply": op(1, 0, 1, 1, 1), "byte": lw(1, 0, 0) &^ (7 << 12), "blt": branch(4, 1, 1, 4), "jalr": jalr(0, 0, 8) | 1<<12,
	} {
		t.Run(name, func(t *testing.T) {
			if m := run(t, []uint32{sw(0, 0, 0x400), bad, sw(0, 0, 0x404), ebreak}, 2); len(m.stores) != 1 {
				t.Errorf("the reference goes on behind %#x", bad)
			}
		})
	}
}
