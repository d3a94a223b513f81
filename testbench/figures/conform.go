package figures

import (
	"context"
	"fmt"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/conformance"
	_ "github.com/stafflink/lmmc/testbench/rtlsim" // a target of this figure
)

var conformFigures = []Figure{
	{Name: "conform_time", Doc: "CPU time of the conformance suite on the RTL with three links, every case passing there and on the model",
		Unit: "s", Must: new(60.0), Better: Lower, Timed: true, Long: true, Measure: steps(conformTime)},
}

// conformTime takes CPU time, that of the whole process, so that other programs do not count.
func conformTime(ctx context.Context) Measurement {
	const shape = "?links=3&frames=8" // on which no case need be skipped
	model := conforms(ctx, "model:"+shape)
	// The first one compiles it.
	warm := try.Get(hostdrv.Dial(ctx, "rtl:"+shape))
	try.OK(warm.Close())
	start, used := time.Now(), cpuTime()
	rtl := conforms(ctx, "rtl:"+shape)
	used = cpuTime() - used
	return Measurement{Value: used.Seconds(), Note: fmt.Sprintf("%d cases passed on the RTL, %d on the model, %d and %d skipped; in wall-clock time %.0f s",
		rtl.Count(conformance.Pass), model.Count(conformance.Pass), rtl.Count(conformance.Skip), model.Count(conformance.Skip), time.Since(start).Seconds())}
}

// conforms runs the conformance suite on a target. A case that fails is an error.
func conforms(ctx context.Context, target string) *conformance.Report {
	r := try.Get(conformance.Execute(ctx, target, conformance.Options{}))
	var errs []error
	for _, x := range r.Results {
		if x.Verdict == conformance.Fail {
			errs = append(errs, fmt.Errorf("%s on %s: %s\nagain: %s", x.Name, target, x.Reason, x.Again))
		}
	}
	try.OK(errs...)
	return r
}
