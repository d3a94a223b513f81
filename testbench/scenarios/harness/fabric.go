package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/suite"
)

// lastStretch is how many clocks before a failure its waves show.
const lastStretch = 20_000

// OnFabric does the run of a scenario on a fabric. body must be determined by the fabric and r.Seed alone: a run that fails is
// repeated with recording models, which are slower, and their waves of the last stretch are kept; of a wait that did not end, those of its
// beginning too.
func OnFabric(ctx context.Context, r *suite.Run, c ni.Config, body func(*ni.Fabric)) error {
	c.Wave, c.RTL, c.Coverage = r.Wave, r.RTL, r.Coverage
	if r.Width != 0 {
		c.Params.Width = r.Width
	}
	failed := Once(ctx, r, c, body, nil)
	if failed == nil || ctx.Err() != nil || r.Wave != "" {
		return failed
	}
	path, err := r.FailureWave()
	if err != nil {
		return errors.Join(failed, err)
	}
	c.Record, c.Coverage = lastStretch, nil
	began := ""
	if late := new(ni.Timeout); errors.As(failed, &late) && late.Clocks > lastStretch/2 {
		c.AlarmAt, c.Alarm = late.Since+lastStretch/2, func(f *ni.Fabric) (err error) {
			began, err = f.DumpWaves(strings.TrimSuffix(path, ".fst") + "-wait.fst")
			return err
		}
	}
	again := Once(ctx, r, c, body, func(f *ni.Fabric) error {
		wave, err := f.DumpWaves(path)
		r.Stats.Wave = wave
		return err
	})
	if began != "" {
		r.Log("wave of the beginning of that wait: %s", began)
	}
	if again == nil || again.Error() != failed.Error() {
		return errors.Join(failed, fmt.Errorf("suite: repeated with recording the run ended otherwise: %v", again))
	}
	return failed
}

// Once opens a fabric and runs body on it; dump is called when that fails.
func Once(ctx context.Context, r *suite.Run, c ni.Config, body func(*ni.Fabric), dump func(*ni.Fabric) error) (err error) {
	f, err := ni.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r.Stats = suite.Stats{}
	err = try.Run(func() { body(f) })
	r.Stats.Cycles = f.Cycles
	if r.Wave != "" {
		r.Stats.Wave = f.WavePath()
	}
	if err != nil && dump != nil {
		if failed := dump(f); failed != nil {
			r.Log("no waves: %v", failed)
		}
	}
	return err
}
