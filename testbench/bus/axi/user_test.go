package axi_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// userNames calls halves of the ports of axi_pipe USER: of IDs of 12 bits the upper 8, and of data of 128 bits the upper 64.
func userNames(prefix string) map[string]string {
	names := map[string]string{"wdata": "_wdata[63:0]", "wuser": "_wdata[127:64]", "wstrb": "_wstrb[7:0]", "rdata": "_rdata[63:0]", "ruser": "_rdata[127:64]"}
	for _, c := range []string{"aw", "ar", "b", "r"} {
		names[c+"id"] = "_" + c + "id[3:0]"
		if c != "r" {
			names[c+"user"] = "_" + c + "id[11:4]"
		}
	}
	for k, v := range names {
		names[k] = prefix + v
	}
	return names
}

// echo answers with USER signals that follow from those of the request.
func echo(t *axi.Transaction) axi.Resp {
	t.RespUser = ^t.User & 0xFF
	if t.Write {
		return axi.Okay
	}
	for i := range t.Len {
		t.DataUser = append(t.DataUser, t.User<<8|uint64(i))
	}
	return axi.Okay
}

// users sends random transactions with USER signals of so many bits on W, and checks those that a slave that echoes has got and answers.
func users(b *testbench.Bench, m *axi.Master, size, width int, sent *[]*axi.Transaction) {
	r := b.Rand("users")
	b.Go("master", func(c *testbench.Task) {
		c.Cycles(20)
		for range 100 {
			one := random(r, size)
			one.Lock, one.ID, one.User = false, one.ID%2, r.Uint64N(256)
			if one.Burst == axi.Wrap {
				one.Burst = axi.Incr
			}
			for range one.Len {
				if one.Write {
					one.DataUser = append(one.DataUser, r.Uint64()>>(64-width))
				}
			}
			p := m.Start(c, one)
			if err := p.Wait(c); err != nil {
				c.Fatalf("%w", err)
			}
			if one.Write {
				one.RespUser = ^one.User & 0xFF
			} else {
				_ = echo(&one)
				p.RespUser = one.RespUser
			}
			if p.RespUser != one.RespUser || !slices.Equal(p.DataUser, one.DataUser) {
				c.Fatalf("%s: BUSER %#x and USER of data %#x, want %#x and %#x", &one, p.RespUser, p.DataUser, one.RespUser, one.DataUser)
			}
			*sent = append(*sent, &p.Transaction)
		}
	})
}

// USER signals of all channels arrive, at both ends and at a monitor.
func TestUser(t *testing.T) {
	b := testbench.New(t, dut.Design("axi_pipe", map[string]int{"DATA_WIDTH": 128, "ID_WIDTH": 12}), testbench.Config{})
	in, out := bus.Config{Names: userNames("s_axi")}, bus.Config{Names: userNames("m_axi")}
	m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{Config: in}))(t)
	var sent, seen []*axi.Transaction
	check.Must(axi.NewMonitor(b, "m_axi", axi.Config{Config: out, Ended: func(t *axi.Transaction) { seen = append(seen, t) }}))(t)
	ram := check.Must(axi.NewRAM(b, "m_axi", memory.New(0), axi.Config{Config: out, Respond: echo}))(t)
	b.RandomStall("ram", ram, 20)
	b.Reset("rst", 3)
	users(b, m, 3, 64, &sent)
	b.Run(100_000)
	b.Step(300)
	check.Equal(t, "transactions", len(seen), len(sent))
	for i, s := range seen {
		if s.User != sent[i].User || !slices.Equal(s.DataUser, sent[i].DataUser) || s.Write && s.RespUser != sent[i].RespUser {
			t.Errorf("transaction %d: a monitor saw %+v, want %+v", i, s, sent[i])
		}
	}
}

// Values that do not fit are refused, and one that changes while it waits is a violation.
func TestUserRefused(t *testing.T) {
	for want, one := range map[string]axi.Transaction{
		"0x100 in awuser of 8 bits":              {Write: true, Size: 3, User: 256, Data: make([]byte, 8)},
		"DataUser has 2 values: want 1, or none": {Write: true, Size: 3, DataUser: []uint64{1, 2}, Data: make([]byte, 8)},
		"Config.Respond: value does not fit":     {Write: true, Size: 3, User: 1, Data: make([]byte, 8)},
		"DataUser has 3 values: want 4, or none": {Size: 3, Len: 4, User: 2},
	} {
		b := check.Must(testbench.Open(t.Context(), dut.Design("axi_pipe", map[string]int{"DATA_WIDTH": 128, "ID_WIDTH": 12}), testbench.Config{Wave: testbench.WaveNever}))(t)
		m := check.Must(axi.NewMaster(b, "s_axi", axi.Config{Config: bus.Config{Names: userNames("s_axi")}}))(t)
		check.Must(axi.NewRAM(b, "m_axi", memory.New(0), axi.Config{Config: bus.Config{Names: userNames("m_axi")}, Respond: func(t *axi.Transaction) axi.Resp {
			t.RespUser, t.DataUser = t.User<<8, make([]uint64, 3)
			return axi.Okay
		}}))(t)
		check.Fatal(t, b.Reset("rst", 3))
		b.Go("test", func(c *testbench.Task) { _ = m.Start(c, one).Wait(c) })
		check.Fails(t, want, b.Run(100), nil, want)
		check.Fatal(t, b.Close())
	}
	b := testbench.New(t, dut.Design("axi_rogue", nil), testbench.Config{Wave: testbench.WaveNever})
	check.Fatal(t, b.Model().Poke("rule", 10)) // RDATA changes, of which the lowest byte is RUSER
	var found []bus.Violation
	c := axi.Config{Config: bus.Config{Violation: func(v bus.Violation) { found = append(found, v) }, Names: map[string]string{
		"wdata": "s_axi_wdata[31:16]", "wstrb": "s_axi_wstrb[3:2]", "rdata": "s_axi_rdata[31:16]", "ruser": "s_axi_rdata[7:0]"}}}
	m := check.Must(axi.NewMaster(b, "s_axi", c))(t)
	m.SetThrottle(0.7)
	check.Must(axi.NewMonitor(b, "s_axi", c))(t)
	b.Go("test", func(c *testbench.Task) { m.Start(c, axi.Transaction{Len: 8, Size: 1}) })
	b.Reset("rst", 3)
	b.Step(400)
	if len(found) == 0 || found[0].Rule != axi.RuleStable || found[0].Text != "RUSER changed while the transfer waited for RREADY" {
		t.Errorf("found %v", found)
	}
}

// Cores of verilog-axi pass USER signals on.
func TestForeignUser(t *testing.T) {
	for _, test := range []core{
		{name: "axi_register", files: []string{"axi_register_rd.v", "axi_register_wr.v"}},
		{name: "axi_fifo", files: []string{"axi_fifo_rd.v", "axi_fifo_wr.v"}, params: map[string]string{"WRITE_FIFO_DEPTH": "32", "READ_FIFO_DEPTH": "32"}},
		{name: "axi_crossbar", files: []string{"axi_crossbar_addr.v", "axi_crossbar_rd.v", "axi_crossbar_wr.v", "axi_register_rd.v", "axi_register_wr.v",
			"arbiter.v", "priority_encoder.v"}, params: map[string]string{"S_COUNT": "1", "M_COUNT": "1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.repository = axiRTL
			if test.params == nil {
				test.params = map[string]string{}
			}
			for _, c := range []string{"AW", "W", "B", "AR", "R"} {
				test.params[c+"USER_ENABLE"], test.params[c+"USER_WIDTH"] = "1", map[bool]string{true: "16", false: "8"}[len(c) == 1 && c != "B"]
			}
			b := test.open(t)
			m := check.Must(axi.NewMaster(b, test.in, test.config()))(t)
			c := test.config()
			c.Respond = echo
			ram := check.Must(axi.NewRAM(b, test.out, memory.New(0), c))(t)
			c.Respond = nil
			monitor := check.Must(axi.NewMonitor(b, test.out, c))(t)
			b.RandomStall("ram", ram, 20)
			var sent []*axi.Transaction
			users(b, m, 2, 16, &sent)
			check.Fatal(t, b.Reset(test.reset, 10))
			check.Fatal(t, b.Run(100_000))
			t.Logf("%d transactions, %d cycles, %d violations", len(sent), b.Cycle(), monitor.Violations())
		})
	}
}
