package ni_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// lined are network interfaces on each kind of line; the scenarios of package suite use the same, so each is compiled once.
var lined = []rtl.Params{
	{Frames: 3, PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 1024, Retry: 1024, LinkPHY: rtl.Serial},
	{Frames: 3, PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 1024, Retry: 1024, HostPHY: rtl.UART, LinkPHY: rtl.UART, Inject: true},
}

// Two of module ni_lines, cabled, carry remote writes both ways, and nothing happens on their links but deliveries.
func TestLines(t *testing.T) {
	for _, p := range lined {
		t.Run(fmt.Sprintf("host %d, links %d", p.HostPHY, p.LinkPHY), func(t *testing.T) {
			seed := seedOf(t)
			f := check.Must(ni.Open(t.Context(), ni.Config{Params: p, Nodes: 2, Seed: seed, Cables: []ni.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1, Latency: 7}}}))(t)
			defer f.Close()
			traffic := check.Must(ni.NewTraffic(f, seed))(t)
			traffic.Illegal = 0.1
			check.Fatal(t, traffic.Send(100))
			check.Fatal(t, traffic.Settle())
			check.Fatal(t, traffic.Check())
			check.Fatal(t, traffic.CheckCounters(true))
			if v := check.Must(f.ReadRegister(0, linkproto.LinkStatusReg(0)))(t); v&1 == 0 {
				t.Errorf("the host port's status is %#x", v)
			}
			t.Logf("%d clocks", f.Cycles)
		})
	}
}

// A host needs no more than a pipe of bytes: what a driver writes to and reads from a serial port.
func TestBytePipe(t *testing.T) {
	p := lined[1].WithDefaults()
	lib := check.Must(verilator.Build(t.Context(), ni.Design(p)))(t)
	m := check.Must(lib.New(verilator.Config{Seed: seedOf(t)}))(t)
	defer m.Close()
	clock := check.Must(m.Clock("clk", 2, 0))(t)
	check.Fatal(t, errors.Join(m.Poke("host_divisor", uint64(p.HostDivisor)), m.Poke("link_divisor", 4), m.Poke("link_rx", 1), m.Poke("rst", 1)))
	pipe := check.Must(ni.NewUARTLine(m, clock, "host_rx", "host_tx", p.HostDivisor))(t)
	check.Fatal(t, errors.Join(m.Run(64), m.Poke("rst", 0)))
	host := check.Must(flowctl.New(flowctl.Config{MaxPacket: p.MaxPacket(), Epoch: 1}))(t)
	check.Fatal(t, host.Send(check.Must((&linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 9, Reg: linkproto.RegMagic}).Append(nil))(t)))
	var back linkproto.Unstuffer
	symbols, bytes := make([]linkproto.Symbol, 16), make([]byte, 64)
	for range 2000 {
		if pipe.Pending() == 0 {
			check.Must(pipe.Write(linkproto.AppendStuffed(nil, symbols[:host.Emit(symbols)])))(t)
		}
		pipe.Advance(10 * p.HostDivisor)
		check.Fatal(t, m.Run(uint64(10*p.HostDivisor)))
		n := check.Must(pipe.Read(bytes))(t)
		host.Feed(back.Append(nil, bytes[:n]))
		host.Tick(1)
		if raw, ok := host.Receive(); ok {
			var answer linkproto.Packet
			check.Fatal(t, answer.Decode(raw))
			if answer.Type == linkproto.TypeSpace {
				continue
			}
			if answer.Type != linkproto.TypeRegData || answer.Tag != 9 || answer.Value != linkproto.Magic {
				t.Errorf("MAGIC is answered %+v", answer)
			}
			return
		}
	}
	t.Error("no answer over the pipe")
}
