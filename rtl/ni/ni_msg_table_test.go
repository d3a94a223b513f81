package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestTable: contexts of every number count what is posted, taken and completed, come to the units while there is work, and keep their counts when they have ended.
func TestTable(t *testing.T) {
	var p struct {
		REn, RWrite, RDone, Forget, Forgotten, STakes     *bool   `port:"*"`
		RContext, RReg, UValid, UOp, UDone, QValid, QTake *uint8  `port:"*"`
		RWdata, RValue, UContext, QContext                *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "ni_msg_table", params{"CONTEXTS": 8, "FRAMES": 256, "PAGE_BYTES": 1024}, &p)
	const send, fetch, complete = 0, 1, 2
	wait := func(what string, done func() bool) {
		t.Helper()
		for range 1000 { // the first ones clear the table
			*p.Forgotten = *p.Forget
			settle(t, b)
			over := done()
			if b.Step(1); over {
				return
			}
		}
		t.Fatalf("%s is not answered", what)
	}
	host := func(context int, reg linkproto.ContextReg, write bool, value uint32) (read uint32) {
		t.Helper()
		*p.REn, *p.RWrite, *p.RContext, *p.RReg, *p.RWdata = true, write, uint8(context), uint8(reg), value
		wait(fmt.Sprintf("register %d of context %d", reg, context), func() bool { read = *p.RValue; return *p.RDone })
		*p.REn = false
		return read
	}
	unit := func(u, op, context int) {
		t.Helper()
		*p.UValid, *p.UOp, *p.UContext = 1<<u, uint8(op<<u), uint32(context)<<(8*u)
		wait(fmt.Sprintf("unit %d", u), func() bool { return *p.UDone>>u&1 != 0 })
		*p.UValid = 0
		b.Step(3)
	}
	queued := func(q, context int, want bool) { // and takes it
		t.Helper()
		b.Step(3)
		settle(t, b)
		check.Equal(t, fmt.Sprintf("context %d waits for unit %d", context, q), *p.QValid>>q&1 != 0, want)
		if want {
			check.Equal(t, "context that waits", int(*p.QContext>>(8*q)&0xFF), context)
			*p.QTake = 1 << q
			b.Step(1)
			*p.QTake = 0
		}
	}
	for _, context := range []int{1, 0x55, 0xC2, 0xFF} {
		sends, receives, completions := 3, 5, 2
		if context == 0xC2 {
			sends, receives, completions = 0x917, 0x918, 0x91A // bits 11, 8, 4
		}
		host(context, linkproto.ContextRegRegion, true, linkproto.ContextLast.In(255)|linkproto.ContextSize.In(12))
		host(context, linkproto.ContextRegStatus, true, 1)
		check.Equal(t, "STATUS", host(context, linkproto.ContextRegStatus, false, 0), 1)
		host(context, linkproto.ContextRegSendTail, true, uint32(sends))
		host(context, linkproto.ContextRegReceiveTail, true, uint32(receives))
		for n := range sends {
			queued(send, context, true)
			*p.STakes = true
			unit(send, 1, context)
			if n == 0 {
				queued(fetch, context, true)
			}
		}
		queued(send, context, false)
		for n := range receives {
			unit(fetch, 0, context) // the unit has it
			unit(fetch, 1, context)
			if n+1 < receives {
				queued(fetch, context, true)
			}
		}
		queued(fetch, context, false)
		for range completions {
			unit(complete, 1, context)
		}
		queued(2, context, true)
		region := linkproto.ContextLast.In(0) | linkproto.ContextSize.In(12) // the rings do not fit
		host(context, linkproto.ContextRegStatus, true, 0)
		host(context, linkproto.ContextRegRegion, true, region)
		host(context, linkproto.ContextRegStatus, true, 1)
		for reg, want := range []uint32{region, linkproto.ContextFault.In(linkproto.FaultRegion), uint32(sends), uint32(receives), uint32(sends), uint32(receives), uint32(completions), 0} {
			check.Equal(t, fmt.Sprintf("register %d of context %d", reg, context), host(context, linkproto.ContextReg(reg), false, 0), want)
		}
	}
}
