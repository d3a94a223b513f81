package report

import (
	"context"
	"errors"

	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/recordings"
	"github.com/stafflink/lmmc/verilator"
)

// Record simulates what the page shows beyond the documents: timing diagrams, latency by stage, payload share by size. What the RTL does not
// manage becomes part of the page, so that there is one also of a design that is broken; the error is returned all the same.
func (in *Input) Record(ctx context.Context) error {
	var failed [2]error
	in.Diagrams, in.Stages, failed[0] = recordings.All(ctx)
	in.Curve, failed[1] = figures.ShareCurve(ctx)
	err := errors.Join(failed[:]...)
	if err != nil && ctx.Err() == nil && !errors.Is(err, verilator.ErrTool) {
		in.Unrecorded = err.Error()
	}
	return err
}
