package hostdrv

import (
	"context"
	"time"

	"github.com/stafflink/lmmc/linkproto"
)

// TraceState is how the NI's trace buffer is.
type TraceState struct {
	Recording bool          `json:"recording"`
	Triggered bool          `json:"triggered"`
	Written   uint32        `json:"written"` // records since recording began
	Clock     uint32        `json:"clock"`   // the NI's, counted since its reset modulo 2^32
	Now       time.Duration `json:"now_ns"`  // of the target's time, as for NI.Now, at about that clock
}

// StartTrace lets the NI's trace buffer record, anew; linkproto.ErrNoTrace if it has none.
func (n *NI) StartTrace(ctx context.Context, s linkproto.TraceSetup) error {
	if err := n.traces(); err != nil {
		return err
	}
	return s.Start(func(r linkproto.Reg, v uint32) error { return n.WriteRegister(ctx, r, v) })
}

func (n *NI) traces() error {
	if err := n.Err(); err != nil {
		return err
	}
	if !n.identity.Has(linkproto.FeatureTrace) {
		return linkproto.ErrNoTrace
	}
	return nil
}

// TraceState asks how the trace buffer is; linkproto.ErrNoTrace if there is none.
func (n *NI) TraceState(ctx context.Context) (s TraceState, err error) {
	if err := n.traces(); err != nil {
		return s, err
	}
	var control uint32
	b := n.Batch()
	b.ReadRegister(linkproto.TraceControl.Reg(), &control)
	b.ReadRegister(linkproto.TraceCount.Reg(), &s.Written)
	b.ReadRegister(linkproto.TraceNow.Reg(), &s.Clock)
	asked := n.Now()
	err = b.Run(ctx)
	s.Recording, s.Triggered = linkproto.TraceRun.Of(control) != 0, linkproto.TraceTriggered.Of(control) != 0
	s.Now = (asked + n.Now()) / 2
	return s, err
}

// ReadTrace stops the NI's trace buffer and returns what it has recorded; linkproto.ErrNoTrace if it has none.
func (n *NI) ReadTrace(ctx context.Context) (linkproto.Trace, error) {
	if err := n.traces(); err != nil {
		return linkproto.Trace{}, err
	}
	if err := n.WriteRegister(ctx, linkproto.TraceControl.Reg(), 0); err != nil {
		return linkproto.Trace{}, err
	}
	const ahead = 128
	var ring [ahead]uint32 // that many registers from first on
	first, end := linkproto.Reg(0), linkproto.RegTraceRing
	return linkproto.ReadTrace(func(r linkproto.Reg) (uint32, error) {
		if r < linkproto.RegTraceRing {
			v, err := n.ReadRegister(ctx, r)
			if r == linkproto.TraceDepth.Reg() {
				end = linkproto.TraceRingReg(int(min(v, linkproto.MaxTraceDepth)), 0)
			}
			return v, err
		}
		if first == 0 || r < first || r >= first+ahead {
			first = r
			b := n.Batch()
			for i := range min(ahead, end-first) {
				b.ReadRegister(first+i, &ring[i])
			}
			if err := b.Run(ctx); err != nil {
				return 0, err
			}
		}
		return ring[r-first], nil
	})
}
