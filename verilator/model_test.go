package verilator_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

var counter = verilator.Design{Top: "counter", Sources: []string{"testdata/counter.v"}, Params: map[string]string{"WIDTH": "12"}}

func TestBindEveryWidth(t *testing.T) {
	m := start(t, build(t, counter), verilator.Config{Seed: 3})
	var p struct {
		Control struct {
			Rst    *uint8 `port:"rst"`
			Enable *bool  `port:"enable"`
		} `port:""`
		Step   *uint32  `port:"step"`
		Narrow *uint16  `port:"narrow"`
		Even   *bool    `port:"even"`
		Wide   []uint32 `port:"wide"`
		Back   []uint32 `port:"wide_back"`
		Unset  *uint64  `port:"unset"`
		Other  int
		Named  struct {
			Wide struct {
				Back []uint32 `port:"*"`
			} `port:"*"`
			Count, Step *uint32  `port:"*"`
			WideBack    []uint32 `port:"*"`
		} `port:""`
	}
	check.Fatal(t, m.Bind(&p))
	must(m.Clock("clk", 10, 0))
	*p.Control.Rst, *p.Control.Enable, *p.Step = 1, true, 5
	p.Wide[0], p.Wide[3] = 0xAAAA5555, 0x3
	m.Run(1)
	*p.Control.Rst = 0
	m.Run(300)
	if *p.Narrow != 300 || !*p.Even || p.Back[0] != 0x5555AAAA || p.Back[3] != 0xC || len(p.Back) != 4 {
		t.Errorf("narrow %d even %v back %x", *p.Narrow, *p.Even, p.Back)
	}
	if n := p.Named; n.Step != p.Step || *n.Count != 5*300 || &n.WideBack[0] != &p.Back[0] || &n.Wide.Back[0] != &p.Back[0] {
		t.Errorf("ports by the names of fields: step %d, count %d, wide_back %x and %x", *n.Step, *n.Count, n.WideBack, n.Wide.Back)
	}
	*p.Control.Enable = false
	if !*p.Even {
		t.Error("an output moved by itself")
	}
	if m.Eval(); *p.Even {
		t.Error("Eval did not settle")
	}
	check.Equal(t, "back", must(m.Peek("wide_back[99:60]")), uint64(p.Back[3])<<36|uint64(p.Back[2])<<4|uint64(p.Back[1])>>28)
	unset := *p.Unset
	m.Close()
	if *p.Unset != unset || p.Back[0] != 0x5555AAAA {
		t.Error("bound fields changed at Close")
	}
	*p.Control.Rst = 1 // harmless
}

func TestBindErrors(t *testing.T) {
	m := start(t, build(t, counter), verilator.Config{})
	for name, s := range map[string]any{
		"name": &struct {
			A *bool `port:"nothing"`
		}{},
		"width": &struct {
			A *uint8 `port:"count"`
		}{},
		"type": &struct {
			A uint32 `port:"count"`
		}{},
		"wide": &struct {
			A *uint64 `port:"wide"`
		}{},
	} {
		check.Fails(t, name, m.Bind(s), verilator.ErrPort, "input step[32]", "output narrow[12]")
	}
	for name, s := range map[string]any{
		"value": struct {
			A *bool `port:"rst"`
		}{},
		"nil": (*struct {
			A *bool `port:"rst"`
		})(nil),
		"no tags": &struct{ A *bool }{},
		"unexported": &struct {
			a *bool `port:"rst"`
		}{},
		"no struct": new(int),
		"nothing":   nil,
	} {
		check.Fails(t, name, m.Bind(s), nil)
	}
}

func TestUseAfterClose(t *testing.T) {
	m := start(t, build(t, echo), verilator.Config{Name: "gone"})
	clk := must(m.Clock("clk", 10, 0))
	source, sink := must(m.Source(verilator.Stream("s"))), must(m.Sink(verilator.Stream("m")))
	source.Put(1, true)
	m.Close()
	m.Close()
	_, until := m.RunUntil(1)
	_, peek := m.Peek("tx")
	_, clock := m.Clock("clk", 10, 0)
	_, channel := m.Source(verilator.Stream("s"))
	_, save := m.Save()
	_, wave := m.DumpWave("x")
	_, link := verilator.Connect(verilator.LinkConfig{From: clk, To: clk, Output: "tx", Input: "rx", Latency: 1})
	_, net := verilator.NewNetwork(1, m)
	for i, err := range []error{m.Step(), m.Run(1), until, m.Eval(), peek, m.Poke("rx", 1), clock, channel, save, wave, link, net,
		m.Bind(&struct {
			A *bool `port:"rst"`
		}{}), m.Trace("x"), m.StopTrace(), m.Restore([]byte{1}), m.Coverage("x"), clk.Run(1)} {
		check.Fails(t, fmt.Sprintf("call %d", i), err, verilator.ErrClosed, "gone")
	}
	if source.Put(1, false) || source.Send([]byte{1}) || source.Room() != 0 || source.Pending() != 0 || source.Frames() != 0 ||
		sink.Len() != 0 || sink.Discard() != 0 || sink.Stalls() != 0 || clk.Cycles() != 0 || m.Time() != 0 {
		t.Error("a closed channel did something")
	}
	if _, ok := sink.Get(); ok {
		t.Error("a closed sink gave something")
	}
}

func TestNotBuilt(t *testing.T) {
	lib := build(t, echo)
	m := start(t, lib, verilator.Config{})
	_, save := m.Save()
	_, wave := m.DumpWave("x")
	_, record := lib.New(verilator.Config{Record: 5})
	for i, err := range []error{m.Trace("x"), m.Coverage("x"), save, m.Restore(nil), wave, record} {
		check.Fails(t, fmt.Sprintf("call %d", i), err, verilator.ErrNotBuilt)
	}
}

func TestSeedDecidesUninitialisedState(t *testing.T) {
	lib := build(t, counter)
	unset := func(seed uint64) uint64 {
		m := start(t, lib, verilator.Config{Seed: seed})
		m.Eval()
		return must(m.Peek("unset"))
	}
	seen := map[uint64]bool{}
	for seed := range uint64(20) {
		first, second := unset(seed), unset(seed)
		check.Equal(t, "two runs of equal seeds", first, second)
		seen[first] = true
	}
	check.Equal(t, "values of 20 seeds", len(seen), 20)
}

func TestConditions(t *testing.T) {
	m := start(t, build(t, counter), verilator.Config{})
	check.Fails(t, "run without a clock", check.Err(m.RunUntil(1)), nil)
	must(m.Clock("clk", 10, 3))
	m.Poke("rst", 1)
	m.Poke("enable", 1)
	m.Poke("step", 1)
	m.Run(1)
	m.Poke("rst", 0)
	for _, c := range []struct {
		until verilator.Until
		ran   uint64
	}{
		{verilator.Equal("count", 7), 7},
		{verilator.NotEqual("count", 7), 1},
		{verilator.AtLeast("count", 20), 12},
		{verilator.Below("count[2:0]", 2), 4},
		{verilator.Rising("count[3]"), 0},
		{verilator.Falling("count[3]"), 8},
		{verilator.Changed("count[4]"), 0},
	} {
		stop, err := m.RunUntil(100, verilator.Equal("count", 1<<30), c.until)
		if err != nil || stop.Reason != verilator.Condition || stop.Index != 1 || c.ran != 0 && stop.Ran != c.ran {
			t.Errorf("%+v: %+v, %v; count %d", c.until, stop, err, must(m.Peek("count")))
		}
	}
	if stop, err := m.RunUntil(5, verilator.Equal("count", 0)); err != nil || stop.Reason != verilator.Limit || stop.Ran != 5 {
		t.Error(stop, err)
	}
	check.Fails(t, "run until a port that is not there", check.Err(m.RunUntil(5, verilator.Equal("nothing", 0))), verilator.ErrPort)
	check.Equal(t, "cycles of a new clock", must(m.Clock("rst", 4, 0)).Cycles(), 0)
}

// A byte crosses a serial line between two clocks that are three per cent apart.
func TestTwoClocks(t *testing.T) {
	m := start(t, build(t, verilator.Design{Top: "uart", Sources: []string{"testdata/uart.v"}}), verilator.Config{Seed: 9})
	tx := must(m.Clock("tx_clk", 100, 0))
	rx := must(m.Clock("rx_clk", 97, 31))
	in := must(m.Source(verilator.Channel{Clock: tx, Data: "s_data", Valid: "s_valid", Ready: "s_ready"}))
	out := must(m.Sink(verilator.Channel{Clock: rx, Data: "m_data", Valid: "m_valid"}))
	reset(m, 5)
	out.Discard()
	text := "several clocks"
	in.Send([]byte(text))
	runUntil(t, m, 100*uint64(len(text)), out.Has(len(text)))
	got := ""
	for b, ok := out.Get(); ok; b, ok = out.Get() {
		got += string(rune(b.Data))
	}
	check.Equal(t, "text", got, text)
	if d := int64(rx.Cycles()*97) - int64(tx.Cycles()*100); d > 200 || d < -200 {
		t.Errorf("%d cycles of 100 and %d of 97", tx.Cycles(), rx.Cycles())
	}
}

func TestSinkWithoutReadyLosesNothing(t *testing.T) {
	m := clocked(t, build(t, counter), verilator.Config{})
	reset(m, 1)
	m.Poke("enable", 1)
	m.Poke("step", 1)
	sink := must(m.Sink(verilator.Channel{Data: "count", Depth: 16}))
	var got []verilator.Beat
	buf := make([]verilator.Beat, 7)
	for len(got) < 100 {
		stop, err := m.RunUntil(1000)
		if err != nil || stop.Reason != verilator.SinkFull {
			t.Fatal(stop, err)
		}
		n := sink.Read(buf)
		got = append(got, buf[:n]...)
	}
	for i, b := range got[1:] {
		if i > 0 && b.Data != got[i].Data+1 || b.Cycle != got[i].Cycle+1 {
			t.Fatalf("beat %d: %+v after %+v", i+1, b, got[i])
		}
	}
	check.Fails(t, "run with a full sink", m.Run(1000), nil)
}
