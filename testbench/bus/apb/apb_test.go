package apb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/apb"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

var through = verilator.Design{Top: "apb_through", Sources: []string{"testdata/apb_through.v"}}

// accesses does random accesses to 16 words, and compares with bytes.
func accesses(b *testbench.Bench, r *apb.Requester) {
	rng := b.Rand("accesses")
	b.Go("cpu", func(c *testbench.Task) {
		var mirror [64]byte
		for i := range uint64(16) {
			if err := r.Write(c, 4*i, 0); err != nil {
				c.Fatalf("%w", err)
			}
		}
		for range 300 {
			a := bus.Access{Write: rng.Bool(), Addr: uint64(4 * rng.IntN(16)), Data: uint64(rng.Uint32()), Mask: uint64(rng.Between(1, 15))}
			var want uint64
			for i := range uint64(4) {
				if a.Write && a.Mask>>i&1 != 0 {
					mirror[a.Addr+i] = byte(a.Data >> (8 * i))
				}
				want |= uint64(mirror[a.Addr+i]) << (8 * i)
			}
			if got, err := r.Start(a).Wait(c); err != nil || !a.Write && got != want {
				c.Fatalf("read %#x: have %#x, %v, want %#x", a.Addr, got, err, want)
			}
		}
	})
}

func TestAccesses(t *testing.T) {
	b := testbench.New(t, through, testbench.Config{})
	r := check.Must(apb.NewRequester(b, "s", apb.Config{}))(t)
	s := check.Must(apb.NewCompleter(b, "m", apb.Config{}, memory.New(64)))(t)
	watch := check.Must(apb.NewMonitor(b, "m", apb.Config{}))(t)
	check.Fatal(t, b.Reset("rst_n", 2))
	b.RandomStall("requester", r, 20)
	b.RandomStall("completer", s, 20)
	accesses(b, r)
	check.Fatal(t, b.Run(100_000))
	b.Go("beyond", func(c *testbench.Task) {
		check.Fails(t, "write", r.Write(c, 64, 1), apb.ErrSlave)
		check.Fails(t, "read", check.Err(r.Read(c, 64)), apb.ErrSlave)
	})
	check.Fatal(t, b.Run(1000))
	check.Equal(t, "not covered", s.Coverage().Unhit(), nil)
	check.Equal(t, "accesses", []uint64{r.Items(), s.Items(), watch.Items()}, []uint64{318, 318, 318})
	s.SetThrottle(1)
	p := r.Start(bus.Access{Addr: 4})
	check.Fatal(t, b.Step(5))
	check.Fatal(t, b.Reset("rst_n", 2))
	if !p.Done() || !errors.Is(p.Err, bus.ErrReset) {
		t.Errorf("after reset: %+v", p)
	}
}

func TestViolations(t *testing.T) {
	for i, rule := range []string{apb.RuleStates, apb.RuleStates, apb.RuleStates, apb.RuleStable, apb.RuleStrobe} {
		t.Run(fmt.Sprint(i+1, " ", rule), func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", uint64(i+1)))
			r := check.Must(apb.NewRequester(b, "s", apb.Config{}))(t)
			var first bus.Violation
			s := check.Must(apb.NewCompleter(b, "m", apb.Config{Config: bus.Config{Violation: func(v bus.Violation) {
				if first.Rule == "" {
					first = v
				}
			}}}, memory.New(64)))(t)
			s.SetThrottle(0.8)
			check.Fatal(t, b.Reset("rst_n", 2))
			for range 10 {
				r.Start(bus.Access{Addr: 4})
			}
			check.Fatal(t, b.Step(200))
			check.Equal(t, "rule", first.Rule, rule)
		})
	}
}

func TestPorts(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), through, testbench.Config{}))(t)
	defer b.Close()
	check.Fails(t, "side", check.Err(apb.NewRequester(b, "m", apb.Config{})), verilator.ErrPort, "apb m: ", "apb_through has no input for PSEL")
	for names, want := range map[[2]string]string{{"prdata", "s_prdata[14:0]"}: "PRDATA has 15 bits", {"pstrb", "s_pstrb[1:0]"}: "PSTRB has 2 bits, want 4"} {
		_, err := apb.NewMonitor(b, "s", apb.Config{Config: bus.Config{Names: map[string]string{names[0]: names[1]}}})
		check.Fails(t, want, err, verilator.ErrPort, want)
	}
}

// Two cores of wb2axip: registers, and a crossing of clocks.
func TestForeign(t *testing.T) {
	for _, top := range []string{"apbslave", "apbxclk"} {
		t.Run(top, func(t *testing.T) {
			d := verilator.Design{Top: top, Sources: foreign.Files(t, "wb2axip", "rtl/"+top+".v")}
			clock, prefix, reset := "PCLK", "", "PRESETn"
			if top == "apbxclk" {
				clock, prefix, reset = "S_APB_PCLK", "S_APB", "S_PRESETn"
			}
			b := testbench.New(t, d, testbench.Config{Clock: clock})
			r := check.Must(apb.NewRequester(b, prefix, apb.Config{Config: bus.Config{Reset: reset}}))(t)
			if top == "apbxclk" {
				k := check.Must(b.Clock("M_APB_PCLK", 14, 3))(t)
				s := check.Must(apb.NewCompleter(b, "M_APB", apb.Config{Config: bus.Config{Clock: k, Reset: "-"}}, memory.New(64)))(t)
				defer func() { t.Logf("%d accesses beyond the crossing, %d violations", s.Items(), s.Violations()) }()
			}
			check.Fatal(t, b.Reset(reset, 8))
			check.Fatal(t, b.Step(40))
			accesses(b, r)
			check.Fatal(t, b.Run(100_000))
			t.Logf("%d accesses, %d cycles, %d violations", r.Items(), b.Cycle(), r.Violations())
		})
	}
}
