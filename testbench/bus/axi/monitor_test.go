package axi_test

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/verilator"
)

// start starts transactions without waiting for their end: a slave that breaks the rules may never answer.
func start(transactions ...axi.Transaction) func(*testbench.Task) {
	return func(c *testbench.Task) {
		m, err := axi.NewMaster(c.Bench(), "s_axi", axi.Config{Unchecked: true, Config: bus.Config{Violation: func(bus.Violation) {}}})
		if err != nil {
			c.Fatalf("%w", err)
		}
		m.SetThrottle(0.7)
		for _, t := range transactions {
			if t.Write {
				t.Data = make([]byte, max(t.Len, 1)<<t.Size)
			}
			m.Start(c, t)
			c.Cycles(20)
		}
	}
}

func write(t axi.Transaction) axi.Transaction { t.Write = true; return t }

// Each rule is broken, by a slave or by a master, and found: that rule and no other.
func TestRules(t *testing.T) {
	good := start(write(axi.Transaction{Len: 4, Size: 2}), axi.Transaction{Addr: 64, Len: 4, Size: 2}, write(axi.Transaction{Len: 1, Size: 2}), axi.Transaction{Size: 2})
	for _, test := range []struct {
		name string
		rule uint64 // that the slave breaks
		send func(*testbench.Task)
		want string
		text string
	}{
		{name: "none", send: good},
		{name: "B before data", rule: 1, send: good, want: axi.RuleResponse, text: "BVALID with ID 0"},
		{name: "B with another ID", rule: 2, send: good, want: axi.RuleResponse, text: "BVALID with ID 1"},
		{name: "B EXOKAY", rule: 3, send: good, want: axi.RuleExOkay, text: "EXOKAY for write"},
		{name: "BVALID withdrawn", rule: 4, send: good, want: axi.RuleValid, text: "BVALID"},
		{name: "BRESP changes", rule: 5, send: good, want: axi.RuleStable, text: "BRESP"},
		{name: "BVALID in reset", rule: 6, send: good, want: axi.RuleReset, text: "BVALID"},
		{name: "RLAST early", rule: 7, send: start(axi.Transaction{Len: 2, Size: 2}), want: axi.RuleLast, text: "RLAST is"},
		{name: "no RLAST", rule: 8, send: good, want: axi.RuleLast, text: "RLAST is 0 with transfer"},
		{name: "R with another ID", rule: 9, send: good, want: axi.RuleResponse, text: "RVALID with ID 1"},
		{name: "RDATA changes", rule: 10, send: good, want: axi.RuleStable, text: "RDATA"},
		{name: "R unasked", rule: 11, send: start(), want: axi.RuleResponse, text: "RVALID with ID"},
		{name: "R EXOKAY", rule: 12, send: good, want: axi.RuleExOkay, text: "EXOKAY for read"},
		{name: "RVALID withdrawn", rule: 13, send: good, want: axi.RuleValid, text: "RVALID"},
		{name: "boundary of a read", send: start(axi.Transaction{Addr: 0xFFC, Len: 2, Size: 2}), want: axi.RuleBoundary, text: "AR: 8 bytes from 0xffc"},
		{name: "boundary of a write", send: start(write(axi.Transaction{Addr: 0xFFC, Len: 2, Size: 2})), want: axi.RuleBoundary, text: "AW: 8 bytes from 0xffc"},
		{name: "up to the boundary", send: start(axi.Transaction{Addr: 0xFF9, Len: 2, Size: 2})},
		{name: "burst type", send: start(axi.Transaction{Burst: axi.ReservedBurst, Size: 2}), want: axi.RuleBurst},
		{name: "burst size", send: start(axi.Transaction{Size: 3}), want: axi.RuleSize, text: "transfers of 8 bytes on a bus of 4"},
		{name: "wrapping length", send: start(axi.Transaction{Burst: axi.Wrap, Len: 3, Size: 2}), want: axi.RuleWrapLen},
		{name: "wrapping alignment", send: start(axi.Transaction{Burst: axi.Wrap, Addr: 2, Len: 4, Size: 2}), want: axi.RuleWrapAlign},
		{name: "fixed length", send: start(write(axi.Transaction{Burst: axi.Fixed, Len: 17, Size: 2})), want: axi.RuleFixedLen},
		{name: "cache", send: start(axi.Transaction{Cache: 4, Size: 2}), want: axi.RuleCache},
		{name: "exclusive length", send: start(axi.Transaction{Lock: true, Len: 3, Size: 2}), want: axi.RuleExclusive},
		{name: "exclusive alignment", send: start(axi.Transaction{Lock: true, Addr: 4, Len: 2, Size: 2}), want: axi.RuleExclusive},
		{name: "WLAST early", want: axi.RuleLast, text: "WLAST is 1 with transfer 1", send: raw(0, 1, 2, beat{15, true}, beat{15, true})},
		{name: "no WLAST", want: axi.RuleLast, text: "WLAST is 0 with transfer 1", send: raw(0, 0, 2, beat{15, false})},
		{name: "strobes", want: axi.RuleStrobes, text: "WSTRB of transfer 1", send: raw(0x11, 0, 1, beat{6, true})},
		{name: "strobes of an unaligned address", send: raw(0x11, 1, 1, beat{2, false}, beat{12, true})},
		{name: "strobes below an address", want: axi.RuleStrobes, text: "WSTRB of transfer 1", send: raw(0x11, 0, 1, beat{3, true})},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := testbench.New(t, dut.Design("axi_rogue", nil), testbench.Config{Wave: testbench.WaveNever})
			check.Fatal(t, b.Model().Poke("rule", test.rule))
			var found []bus.Violation
			c := axi.Config{}
			c.Violation = func(v bus.Violation) { found = append(found, v) }
			check.Must(axi.NewMonitor(b, "s_axi", c))(t)
			b.Go("test", func(c *testbench.Task) { test.send(c) })
			b.Reset("rst", 3)
			b.Step(400)
			for _, v := range found {
				if v.Rule != test.want || !strings.Contains(v.Text, test.text) {
					t.Errorf("found %s, want %s: %s", v, test.want, test.text)
				}
			}
			if test.want != "" && len(found) == 0 {
				t.Error("found nothing")
			}
		})
	}
}

// beat is a transfer of W.
type beat struct {
	strobes uint64
	last    bool
}

// raw sends a write of zeros with AWADDR, AWLEN, AWSIZE and transfers of W as it is told.
func raw(awaddr, awlen, awsize uint64, beats ...beat) func(*testbench.Task) {
	return func(c *testbench.Task) {
		b := c.Bench()
		c.Cycles(5) // reset is over
		channel := func(ch verilator.Channel) *verilator.Source {
			s, err := b.Source(ch)
			if err != nil {
				c.Fatalf("%w", err)
			}
			return s
		}
		channel(verilator.Channel{Data: "s_axi_awaddr", Valid: "s_axi_awvalid", Ready: "s_axi_awready",
			Parts: []string{"s_axi_awlen", "s_axi_awsize", "s_axi_awburst"}}).PutParts(awaddr, false, []uint64{awlen, awsize, 1})
		w := channel(verilator.Channel{Data: "s_axi_wdata", Valid: "s_axi_wvalid", Ready: "s_axi_wready", Last: "s_axi_wlast", Parts: []string{"s_axi_wstrb"}})
		for _, one := range beats {
			w.PutParts(0, one.last, []uint64{one.strobes})
		}
		c.Cycles(100)
	}
}
