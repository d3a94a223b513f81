package hostdrv_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// A recording of an NI that writes to itself tells when the packets left and arrived, and names the one that triggered.
func TestTrace(t *testing.T) {
	traced := loop
	traced.trace = 256
	n := drive(t, simulated(t, traced), 0, &cable{})
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		check.Fatal(t, err)
	}
	sent, arrived := linkproto.TraceEvent(linkproto.CntTxPackets), linkproto.TraceEvent(linkproto.CntRxPackets)
	must(n.StartTrace(ctx, linkproto.TraceSetup{Events: []linkproto.TraceEvent{sent, arrived}, Ports: []int{1, 2}, Trigger: []linkproto.TraceEvent{arrived},
		TriggerPorts: []int{2}, Post: 1}))
	must(n.Write(ctx, 1, 0, []byte("traced")))
	must(n.Sync(ctx, 1))
	trace, err := n.ReadTrace(ctx)
	must(err)
	if len(trace.Entries) != 2 || !trace.Triggered || trace.Lost != 0 {
		t.Fatalf("got %+v", trace)
	}
	first, second := trace.Entries[0], trace.Entries[1]
	if first.Port != 2 || !first.Trigger || !slices.Equal(first.Events, []linkproto.TraceEvent{arrived}) ||
		second.Port != 1 || second.Trigger || !slices.Equal(second.Events, []linkproto.TraceEvent{sent}) || second.Time <= first.Time {
		t.Errorf("a packet arrives at link 2, then its acknowledgement at link 1; got %+v", trace.Entries)
	}

	plain := drive(t, simulated(t, loop), 0, &cable{})
	check.Fails(t, "an NI without a trace buffer", check.Err(plain.ReadTrace(ctx)), linkproto.ErrNoTrace)
}
