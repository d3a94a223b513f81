package ni_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// lined are network interfaces on each kind of line; the scenarios of package suite use the same, so each is compiled once.
var lined = []rtl.Params{
	{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 512, Retry: 2048, LinkPHY: rtl.Serial},
	{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 512, Retry: 2048, HostPHY: rtl.UART, LinkPHY: rtl.UART},
}

// Two of module ni_lines, cabled, carry remote writes both ways, and nothing happens on their links but deliveries.
func TestLines(t *testing.T) {
	for _, p := range lined {
		t.Run(fmt.Sprintf("host %d, links %d", p.HostPHY, p.LinkPHY), func(t *testing.T) {
			seed := testbench.TestSeed(t)
			f, err := ni.Open(t.Context(), ni.Config{Params: p, Nodes: 2, Seed: seed, Cables: []ni.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1, Latency: 7}}})
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			must(err)
			defer f.Close()
			traffic, err := ni.NewTraffic(f, seed)
			must(err)
			traffic.Illegal = 0.1
			must(traffic.Send(100))
			must(traffic.Settle())
			must(traffic.Check())
			must(traffic.CheckCounters(true))
			v, err := f.ReadRegister(0, linkproto.LinkStatusReg(0))
			must(err)
			if v&1 == 0 {
				t.Errorf("seed %d: the host port's status is %#x", seed, v)
			}
			t.Logf("%d clocks", f.Cycles)
		})
	}
}

// A host needs no more than a pipe of bytes: what a driver writes to and reads from a serial port.
func TestBytePipe(t *testing.T) {
	p := lined[1].WithDefaults()
	seed := testbench.TestSeed(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	lib, err := verilator.Build(t.Context(), ni.Design(p))
	must(err)
	m, err := lib.New(verilator.Config{Seed: seed})
	must(err)
	defer m.Close()
	clock, err := m.Clock("clk", 2, 0)
	must(err)
	must(errors.Join(m.Poke("host_divisor", uint64(p.HostDivisor)), m.Poke("link_divisor", 4), m.Poke("link_rx", 1), m.Poke("rst", 1)))
	pipe, err := ni.NewUARTLine(m, clock, "host_rx", "host_tx", p.HostDivisor)
	must(err)
	must(m.Run(64))
	must(m.Poke("rst", 0))
	host, err := flowctl.New(flowctl.Config{MaxPacket: p.MaxPacket(), Epoch: 1})
	must(err)

	request, err := (&linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 9, Reg: linkproto.RegMagic}).Append(nil)
	must(err)
	must(host.Send(request))
	var back linkproto.Unstuffer
	symbols, bytes := make([]linkproto.Symbol, 16), make([]byte, 64)
	for range 2000 {
		if pipe.Pending() == 0 {
			_, err := pipe.Write(linkproto.AppendStuffed(nil, symbols[:host.Emit(symbols)]))
			must(err)
		}
		pipe.Advance(10 * p.HostDivisor)
		must(m.Run(uint64(10 * p.HostDivisor)))
		n, err := pipe.Read(bytes)
		must(err)
		host.Feed(back.Append(nil, bytes[:n]))
		host.Tick(1)
		if raw, ok := host.Receive(); ok {
			var answer linkproto.Packet
			must(answer.Decode(raw))
			if answer.Type == linkproto.TypeSpace {
				continue
			}
			if answer.Type != linkproto.TypeRegData || answer.Tag != 9 || answer.Value != linkproto.Magic {
				t.Errorf("seed %d: MAGIC is answered %+v", seed, answer)
			}
			return
		}
	}
	t.Errorf("seed %d: no answer over the pipe", seed)
}
