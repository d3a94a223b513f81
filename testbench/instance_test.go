package testbench_test

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Two ends send to each other over links that take some time.
func TestLinkedInstances(t *testing.T) {
	ends := verilator.Design{Top: "wire_end", Sources: []string{"testdata/wire.v"}}
	b := quiet(t, ends, testbench.Config{})
	peer := must[*testbench.Instance](t)(b.Add(t.Context(), "peer", ends))
	must[*verilator.Link](t)(b.Link(verilator.LinkConfig{From: b.Main().Clock, To: peer.Main().Clock, Output: "tx", Input: "rx",
		Latency: 4, Idle: 0x1BC}))
	back := must[*verilator.Link](t)(b.Link(verilator.LinkConfig{From: peer.Main().Clock, To: b.Main().Clock, Output: "tx", Input: "rx",
		Latency: 1}))
	check.Fatal(t, (testbench.FaultPlan{{At: 20, Kind: testbench.FaultStuck, Value: 0x55, Count: 3}}).Inject(back, 9))
	there := must[*testbench.Signal](t)(peer.Signal("rx"))
	here := must[*testbench.Signal](t)(b.Signal("rx"))
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
		if v != want {
			t.Errorf("at the peer, before edge %d: %#x, want %#x", i+1, v, want)
		}
	}
	for i, v := range atMe {
		want := uint64(max(i-1, 0)) * 7 % 512
		if i >= 21 && i < 24 {
			want = 0x55
		}
		if v != want {
			t.Errorf("at the first, after edge %d: %#x, want %#x", i, v, want)
		}
	}
}

func TestInstancesAreAddedInTime(t *testing.T) {
	b, _ := openAdder(t, testbench.Config{})
	must[*testbench.Instance](t)(b.Add(t.Context(), "peer", adder))
	if _, err := b.Add(t.Context(), "peer", adder); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second one of the same name: %v", err)
	}
	check.Fatal(t, b.Step(3))
	if _, err := b.Add(t.Context(), "late", adder); err == nil || !strings.Contains(err.Error(), "before the bench runs") {
		t.Errorf("a late one: %v", err)
	}
}
