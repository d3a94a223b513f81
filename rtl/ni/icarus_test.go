package ni_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/icarus"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

// TestSecondSimulator repeats a run of two network interfaces, with requests, remote writes and bit errors, under Icarus: both
// simulators must send the same symbols at every clock, and none of them may be unknown.
func TestSecondSimulator(t *testing.T) {
	seed := testbench.TestSeed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	d := probe.Design("ni_pair", map[string]int{"PAGE_BYTES": 256, "REPLAY_BYTES": 1024, "RX_BYTES": 1024})
	p := ni.Params{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024}
	lib, err := verilator.Build(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lib.New(verilator.Config{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	_, err = m.Clock("clk", 2, 0)
	check(err)
	var pins struct {
		Rst *bool `port:"rst"`
	}
	check(m.Bind(&pins))
	a, err := ni.NewHost(m, "a_rx", "a_tx", p, 1)
	check(err)
	b, err := ni.NewHost(m, "b_rx", "b_tx", p, 2)
	check(err)
	record, err := icarus.Record(m, lib, "clk")
	check(err)
	const reset, cycles = 64, 8000
	*pins.Rst = true
	check(record.Run(reset))
	*pins.Rst = false
	noise := func(line []linkproto.Symbol) []linkproto.Symbol {
		for i := range line {
			if rng.IntN(2000) == 0 {
				line[i] ^= 1 << rng.IntN(9)
			}
		}
		return line
	}
	a.Mangle, b.Mangle = noise, noise
	hosts := []*ni.Host{a, b}
	answers, writes := 0, 0
	for i := range cycles {
		h := hosts[i%2]
		switch {
		case i < 2000 && i%200 < 2: // the memories first: what was never written is unknown
			page := make([]byte, p.PageBytes)
			for j := range page {
				page[j] = byte(rng.Uint32())
			}
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(i / 200 % 4 * p.PageBytes), Data: page}, func(linkproto.Packet) {})
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(i / 200 % 4), Value: 1<<31 | 1}, func(linkproto.Packet) {})
		case i >= 4000 && i%40 < 2:
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(rng.IntN(4) * p.PageBytes), Count: uint16(rng.IntN(100))},
				func(linkproto.Packet) { answers++ })
		case i >= 2000 && i%17 < 2:
			if h.Write(1, uint32(rng.IntN(4*p.PageBytes)), make([]byte, rng.IntN(64))) == nil {
				writes++
			}
		}
		check(ni.Turn(record, 1, hosts...))
	}
	result, err := record.Compare(t.Context(), d, reset+1)
	check(err)
	if result.Cycles != reset+cycles || result.Unknown != 0 || answers == 0 || writes < 50 {
		t.Errorf("seed %d: %d clocks compared, %d unknown bits, %d answers, %d writes; want %d, 0, some, at least 50", seed, result.Cycles,
			result.Unknown, answers, writes, reset+cycles)
	}
	t.Logf("%d clocks, %d answers, %d writes: both simulators agree on rtl %016x", result.Cycles, answers, writes, rtl.Hash())
}
