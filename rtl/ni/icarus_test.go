package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/icarus"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

// repeated is a run of a model that is noted to be repeated under Icarus.
type repeated struct {
	*icarus.Recorder
	t      *testing.T
	rng    *testbench.Rand
	design verilator.Design
	model  *verilator.Model
}

const repeatReset = 64

// repeat makes a model of a design, out of reset. What is connected to it must be so by `connect`, before the first clock.
func repeat(t *testing.T, d verilator.Design, connect func(*repeated)) *repeated {
	seed := seedOf(t)
	lib := check.Must(verilator.Build(t.Context(), d))(t)
	r := &repeated{t: t, design: d, rng: testbench.NewRand(seed), model: check.Must(lib.New(verilator.Config{Seed: seed}))(t)}
	t.Cleanup(func() { r.model.Close() })
	check.Must(r.model.Clock("clk", 2, 0))(t)
	var pins struct {
		Rst *bool `port:"*"`
	}
	check.Fatal(t, r.model.Bind(&pins))
	connect(r)
	r.Recorder = check.Must(icarus.Record(r.model, lib, "clk"))(t)
	*pins.Rst = true
	check.Fatal(t, r.Run(repeatReset))
	*pins.Rst = false
	return r
}

// noise is a cable with a few bit errors.
func (r *repeated) noise(line []linkproto.Symbol) []linkproto.Symbol {
	for i := range line {
		if r.rng.IntN(2000) == 0 {
			line[i] ^= 1 << r.rng.IntN(9)
		}
	}
	return line
}

// compare repeats the run of so many clocks under Icarus: both simulators must show the same outputs at every clock, and none of them may be
// unknown once the reset is over.
func (r *repeated) compare(cycles int) {
	r.t.Helper()
	result := check.Must(r.Compare(r.t.Context(), r.design, repeatReset+1))(r.t)
	if result.Cycles != repeatReset+cycles || result.Unknown != 0 {
		r.t.Errorf("%d clocks compared, %d unknown bits; want %d and none", result.Cycles, result.Unknown, repeatReset+cycles)
	}
	r.t.Logf("%d clocks: both simulators agree on rtl %016x", result.Cycles, rtl.Hash())
}

// TestSecondSimulator repeats a run of two network interfaces, with requests, remote writes and bit errors, under Icarus.
func TestSecondSimulator(t *testing.T) {
	p := rtl.Params{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024}
	var hosts []*ni.Host
	r := repeat(t, probe.Design("ni_pair", map[string]int{"PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": p.ReplayBytes, "RX_BYTES": p.RxBytes}), func(r *repeated) {
		for i, side := range []string{"a", "b"} {
			h := check.Must(ni.NewHost(r.model, side+"_rx", side+"_tx", p, uint8(1+i)))(t)
			h.Mangle = r.noise
			hosts = append(hosts, h)
		}
	})
	const cycles = 8000
	answers, writes := 0, 0
	for i := range cycles {
		h := hosts[i%2]
		switch {
		case i == 1000 || i == 1001: // both ends are up
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: ni.Nonce(r.rng)}, func(linkproto.Packet) {})
		case i < 2000 && i%200 < 2: // the memories first: what was never written is unknown
			page := r.rng.Bytes(p.PageBytes)
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(i / 200 % 4 * p.PageBytes), Data: page}, func(linkproto.Packet) {})
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(i / 200 % 4), Value: 1<<31 | 1}, func(linkproto.Packet) {})
		case i >= 4000 && i%40 < 2:
			_ = h.Request(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(r.rng.IntN(4) * p.PageBytes), Count: uint16(r.rng.IntN(100))},
				func(linkproto.Packet) { answers++ })
		case i >= 2000 && i%17 < 2:
			if h.Write(1, uint32(r.rng.IntN(4*p.PageBytes)), make([]byte, r.rng.IntN(64))) == nil {
				writes++
			}
		}
		check.Fatal(t, ni.Turn(r, 1, hosts...))
	}
	if answers == 0 || writes < 50 {
		t.Errorf("%d answers, %d writes; want some, and at least 50", answers, writes)
	}
	r.compare(cycles)
}

// crossed is a run of a network interface whose links 1 and 2 are cabled to each other, a wire each way.
type crossed struct {
	*repeated
	pins struct {
		LinkTx, LinkRx *uint8 `port:"*"`
	}
}

// Run runs n clocks.
func (c *crossed) Run(n uint64) error {
	for range n {
		*c.pins.LinkRx = *c.pins.LinkTx>>1&1 | *c.pins.LinkTx&1<<1
		if err := c.repeated.Run(1); err != nil {
			return err
		}
	}
	return nil
}

// TestSecondSimulatorOnLines does the same with the PHYs that a board has, error injectors, and a trace buffer that is read out.
func TestSecondSimulatorOnLines(t *testing.T) {
	for _, phy := range []struct {
		name string
		phy  rtl.PHY
	}{{"serial", rtl.Serial}, {"uart", rtl.UART}} {
		t.Run(phy.name, func(t *testing.T) {
			p := rtl.Params{Links: 2, Frames: 2, PageBytes: 64, ReplayBytes: 256, RxBytes: 512, AckDelay: 64, WordTimer: 256, Retry: 512, LinkPHY: phy.phy,
				Trace: 32, Inject: true}.WithDefaults()
			var host *ni.Host
			c := &crossed{}
			c.repeated = repeat(t, ni.Design(p), func(r *repeated) {
				host = check.Must(ni.NewHost(r.model, "host_rx", "host_tx", p, 1))(t)
				check.Fatal(t, ni.Quiet(r.model, p))
				check.Fatal(t, r.model.Bind(&c.pins))
			})
			cycles := 0
			run := func(n int) {
				t.Helper()
				check.Fatal(t, ni.Turn(c, n, host))
				cycles += n
			}
			ask := func(q linkproto.Packet) (answer linkproto.Packet) {
				t.Helper()
				done := false
				check.Fatal(t, host.Request(q, func(a linkproto.Packet) { answer, done = a, true }))
				for start := cycles; !done; run(20) {
					if cycles-start > 20_000 {
						t.Fatalf("no answer to %v", q.Type)
					}
				}
				return answer
			}
			write := func(reg linkproto.Reg, value uint32) error {
				if a := ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: reg, Value: value}); a.Status != linkproto.StatusOK {
					return fmt.Errorf("register %#x: %v", reg, a.Status)
				}
				return nil
			}
			read := func(reg linkproto.Reg) (uint32, error) {
				a := ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: reg})
				if a.Type != linkproto.TypeRegData {
					return 0, fmt.Errorf("register %#x: %v", reg, a.Status)
				}
				return a.Value, nil
			}
			for frame := range p.Frames { // the memory first: what was never written is unknown
				ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(frame * p.PageBytes), Data: make([]byte, p.PageBytes)})
				check.Fatal(t, write(linkproto.FrameReg(frame), linkproto.FrameValid.In(1)|linkproto.FrameLink.In(uint32(1+frame))))
			}
			check.Fatal(t, write(linkproto.RegNonce, ni.Nonce(c.rng)))
			check.Fatal(t, linkproto.TraceSetup{}.Start(write))
			plan := [linkproto.InjectOpen + 1]uint32{linkproto.InjectSeedLo: 12345, linkproto.InjectFlip: 1 << 25}
			for reg := linkproto.InjectSeedLo; reg <= linkproto.InjectOpen; reg++ {
				check.Fatal(t, write(reg.Reg(1), plan[reg]))
			}
			check.Fatal(t, write(linkproto.InjectControl.Reg(1), linkproto.InjectRun.In(1)))
			for i := range 30 {
				link := 1 + i%2
				_ = host.Write(link, uint32((2-link)*p.PageBytes+c.rng.IntN(32)), make([]byte, c.rng.IntN(32)))
				run(250)
			}
			check.Fatal(t, write(linkproto.TraceControl.Reg(), 0))
			trace, hits := check.Must(linkproto.ReadTrace(read))(t), check.Must(read(linkproto.InjectHits.Reg(1)))(t)
			if len(trace.Entries) < 20 || hits == 0 {
				t.Errorf("%d events traced, %d symbols hit; want 20 and 1 at the least", len(trace.Entries), hits)
			}
			c.compare(cycles)
		})
	}
}
