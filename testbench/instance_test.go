package testbench_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Two ends send to each other over links that take some time.
func TestLinkedInstances(t *testing.T) {
	ends := verilator.Design{Top: "wire_end", Sources: []string{"testdata/wire.v"}}
	b := quiet(t, ends, testbench.Config{})
	peer := check.Must(b.Add(t.Context(), "peer", ends))(t)
	check.Must(b.Link(verilator.LinkConfig{From: b.Main().Clock, To: peer.Main().Clock, Output: "tx", Input: "rx",
		Latency: 4, Idle: 0x1BC}))(t)
	back := check.Must(b.Link(verilator.LinkConfig{From: peer.Main().Clock, To: b.Main().Clock, Output: "tx", Input: "rx",
		Latency: 1}))(t)
	check.Fatal(t, (testbench.FaultPlan{{At: 20, Kind: testbench.FaultStuck, Value: 0x55, Count: 3}}).Inject(back, 9))
	there := check.Must(peer.Signal("rx"))(t)
	here := check.Must(b.Signal("rx"))(t)
	var atPeer, atMe []uint64
	b.Observe(peer.Main(), func() { atPeer = append(atPeer, there.Get()) })
	b.Go("watch", func(c *testbench.Task) {
		for range 30 {
			atMe = append(atMe, here.Get())
			c.Cycles(1)
		}
	})
	check.Fatal(t, b.Run(100))
	for i, v := range atPeer {
		want := uint64(0x1BC)
		if i >= 4 {
			want = uint64(i-4) * 7 % 512
		}
		check.Equal(t, fmt.Sprintf("at the peer, before edge %d", i+1), v, want)
	}
	for i, v := range atMe {
		want := uint64(max(i-1, 0)) * 7 % 512
		if i >= 21 && i < 24 {
			want = 0x55
		}
		check.Equal(t, fmt.Sprintf("at the first, after edge %d", i), v, want)
	}
}

func TestInstancesAreAddedInTime(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	check.Must(b.Add(t.Context(), "peer", adder))(t)
	check.Fails(t, "a second one of the same name", check.Err(b.Add(t.Context(), "peer", adder)), nil, "already")
	check.Fatal(t, b.Step(3))
	check.Fails(t, "a late one", check.Err(b.Add(t.Context(), "late", adder)), nil, "before the bench runs")
}
