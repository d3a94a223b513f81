package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
)

// lined are network interfaces on each kind of line; the scenarios of package suite use the same, so each is compiled once.
var lined = []ni.Params{
	{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 512, Retry: 2048, LinkPHY: ni.Serial},
	{PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 512, Retry: 2048, HostPHY: ni.UART, LinkPHY: ni.UART},
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
