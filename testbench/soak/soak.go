// Package soak is the fault campaign: links of every kind carry traffic both ways while bits are flipped, symbols lost, cables taken
// out, readers stalled and ends started again, and every packet is accounted for. Nothing may be lost, duplicated, reordered or damaged,
// and no link may wedge; what was under way when a link or an end started again may be missing, if and only if it was reported so.
//
// A Case is a kind of link, a kind of fault and its rate. Execute runs cases in rounds. What a run of a case does follows from its seed,
// so a run that fails can be repeated by itself; it leaves a wave.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/stafflink/lmmc/testbench"
)

// ErrOptions is wrapped by errors about Options.
var ErrOptions = errors.New("soak")

// lastStretch is how many clocks before a failure its wave shows.
const lastStretch = 20_000

// outcome is what came out of a run.
type outcome struct {
	Case
	seed uint64
	row  Row
	err  error
	wave string
}

// once does one run of a case, and again with recording if it fails.
func once(ctx context.Context, o Options, c Case, seed uint64) outcome {
	x := outcome{Case: c, seed: seed}
	l, f, err := c.kinds()
	if err != nil {
		x.err = err
		return x
	}
	var tree fs.FS
	if o.RTL != "" {
		tree = os.DirFS(o.RTL)
	}
	path := filepath.Join(o.WaveDir, strings.ReplaceAll(fmt.Sprintf("soak %v %d.fst", c, seed), " ", "-"))
	body := func(record uint64, wave string) error {
		rng := testbench.NewRand(seed).Split(c.String())
		w, err := open(ctx, l, rng.Split("clocks").Between(-l.ppm, l.ppm), tree, rng.Split("world"), record, wave)
		if err != nil {
			return err
		}
		r := newRun(ctx, c, l, f, w, rng)
		err = r.campaign()
		x.row = r.row()
		if err != nil && record > 0 {
			var failed error
			if x.wave, failed = w.dump(path); failed != nil {
				err = errors.Join(err, failed)
			}
		}
		return errors.Join(err, w.close())
	}
	wave := ""
	if o.Wave {
		wave, x.wave = path, wavePath(path, "a")
	}
	if x.err = protect(func() error { return body(0, wave) }); x.err == nil || ctx.Err() != nil || o.Wave {
		return x
	}
	if again := protect(func() error { return body(lastStretch, "") }); again == nil || again.Error() != x.err.Error() {
		x.err = errors.Join(x.err, fmt.Errorf("soak: repeated with recording the run ended otherwise: %v", again))
	}
	return x
}

// protect turns a panic of f into an error.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// row is what the run has counted.
func (r *run) row() Row {
	row := Row{Runs: 1, Cycles: r.cycles, Injected: r.injected, Counters: map[string]uint64{}}
	for _, f := range r.flows {
		row.Packets += f.delivered
		row.Bytes += f.bytes
		row.Reported += f.missing
		row.recovery.merge(f.recovery)
	}
	for _, c := range detectors {
		if n := r.counters[c]; n > 0 {
			row.Counters[c.String()] += n
			row.Detected += n
		}
	}
	row.Recovered = row.recovery.count()
	return row
}

// again is the command that repeats a run.
func (x outcome) again(o Options) string {
	rtl := ""
	if o.RTL != "" {
		rtl = fmt.Sprintf(" --rtl '%s'", o.RTL)
	}
	rate := ""
	if x.Rate > 0 {
		rate = " --rate " + x.RateText()
	}
	return fmt.Sprintf("go run ./cmd/lmmc soak%s --links %s --faults %s%s --seed %d --rounds 1 --wave", rtl, x.Link, x.Fault, rate, x.seed)
}
