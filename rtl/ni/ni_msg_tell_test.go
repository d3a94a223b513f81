package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestTell: each context that is due is told of once, in order, with its count when the packet's turn had come and no sooner.
func TestTell(t *testing.T) {
	var p struct {
		QValid, QTake, UValid, UDone *bool   `port:"*"`
		QContext, Ctx                *uint8  `port:"*"`
		ECompletions                 *uint16 `port:"*"`
		M                            offer   `port:"*"`
	}
	b := moduletest.Open(t, "ni_msg_tell", params{"CONTEXTS": 8}, &p)
	r := b.Rand("others")
	var want *linkproto.Packet // what is to be told next
	counted, told, since := false, 0, 0
	due, ready := 0.5, 0.5
	for clock := range 20_000 {
		if clock%500 == 0 {
			due, ready = testbench.Pick(r, 0.05, 0.5, 1), testbench.Pick(r, 0.1, 0.5, 1)
		}
		if !*p.QValid && r.Chance(due) {
			*p.QValid, *p.QContext = true, uint8(r.Uint32())
		}
		*p.M.Ready, *p.ECompletions, *p.UDone = r.Chance(ready), uint16(r.Uint32()), false
		settle(t, b)
		began := len(p.M.packet) == linkproto.HeaderBytes
		if asks := began && !counted; *p.UValid != asks || asks && uint16(*p.Ctx) != want.Context {
			t.Fatalf("clock %d: asks %v of context %d; of the packet %d bytes have gone, and its count is known: %v", clock, *p.UValid, *p.Ctx, len(p.M.packet), counted)
		}
		if *p.UDone = *p.UValid && r.Chance(0.5); *p.UDone {
			want.Count, counted = *p.ECompletions, true
		}
		settle(t, b)
		check.Equal(t, "it takes a context", *p.QTake, *p.QValid && want == nil)
		taken := *p.QTake
		if whole := p.M.clock(t, "clock ", clock, ": "); whole != nil {
			check.Equal(t, "what is told", whole, check.Must(want.Append(nil))(t))
			want, told = nil, told+1
		}
		if since++; want == nil {
			since = 0
		} else if since > 300 {
			t.Fatalf("clock %d: context %d is not told of", clock, want.Context)
		}
		if taken {
			want, counted = &linkproto.Packet{Type: linkproto.TypeCompleted, Context: uint16(*p.QContext)}, false
		}
		b.Step(1)
		*p.QValid = *p.QValid && !taken
	}
	if told < 500 {
		t.Errorf("%d packets: too few", told)
	}
}
