package hostdrv

import (
	"context"

	"github.com/stafflink/lmmc/linkproto"
)

// StartTrace lets the NI's trace buffer record, anew. An NI without one refuses its registers.
func (n *NI) StartTrace(ctx context.Context, s linkproto.TraceSetup) error {
	return s.Start(func(r linkproto.Reg, v uint32) error { return n.WriteRegister(ctx, r, v) })
}

// ReadTrace stops the NI's trace buffer and returns what it has recorded; linkproto.ErrNoTrace if it has none.
func (n *NI) ReadTrace(ctx context.Context) (linkproto.Trace, error) {
	read := func(r linkproto.Reg) (uint32, error) { return n.ReadRegister(ctx, r) }
	features, err := read(linkproto.RegFeatures)
	if err != nil {
		return linkproto.Trace{}, err
	}
	if linkproto.FeatureTrace.Of(features) == 0 {
		return linkproto.Trace{}, linkproto.ErrNoTrace
	}
	if err := n.WriteRegister(ctx, linkproto.TraceControl.Reg(), 0); err != nil {
		return linkproto.Trace{}, err
	}
	return linkproto.ReadTrace(read)
}
