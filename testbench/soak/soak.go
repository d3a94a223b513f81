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
	"path/filepath"
	"strings"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
)

// ErrOptions is wrapped by errors about Options.
var ErrOptions = errors.New("soak")

// lastStretch is how many clocks before a failure its wave shows.
const lastStretch = 20_000

// outcome is what came out of a run.
type outcome struct {
	Row      Row
	Recovery histogram
	Wave     string
}

// once does one run of a case, and again with recording if it fails.
func once(ctx context.Context, o Options, c Case, seed uint64) (x outcome, err error) {
	l, f, err := c.kinds()
	if err != nil {
		return x, err
	}
	if l.net {
		return onNetwork(ctx, c, l, f, seed)
	}
	path := filepath.Join(o.WaveDir, strings.ReplaceAll(fmt.Sprintf("soak %v %d.fst", c, seed), " ", "-"))
	body := func(record uint64, wave string) error {
		rng := testbench.NewRand(seed).Split(c.String())
		w, err := open(ctx, l, rng.Split("clocks").Between(-l.ppm, l.ppm), o.modules, rng.Split("world"), record, wave)
		if err != nil {
			return err
		}
		r := newRun(ctx, c, l, f, w, rng)
		err = try.Run(r.campaign)
		x.Row, x.Recovery = r.row()
		if err != nil && record > 0 {
			var failed error
			if x.Wave, failed = w.dump(path); failed != nil {
				err = errors.Join(err, failed)
			}
		}
		return errors.Join(err, w.close())
	}
	wave := ""
	if o.Wave {
		wave, x.Wave = path, wavePath(path, "a")
	}
	err = campaign.Protect(func() error { return body(0, wave) })
	if err != nil && ctx.Err() == nil && !o.Wave {
		if again := campaign.Protect(func() error { return body(lastStretch, "") }); again == nil || again.Error() != err.Error() {
			err = errors.Join(err, fmt.Errorf("soak: repeated with recording the run ended otherwise: %v", again))
		}
	}
	return x, x.Row.judge(ctx, err)
}

// judge counts what a run has found.
func (row *Row) judge(ctx context.Context, err error) error {
	switch {
	case err == nil:
	case ctx.Err() != nil: // cut short, which says nothing about the link
		return ctx.Err()
	case errors.Is(err, ErrLost):
		row.Lost++
	case errors.Is(err, ErrWedged):
		row.Wedged++
	default:
		row.Wrong++
	}
	return err
}

// row is what the run has counted.
func (r *run) row() (Row, histogram) {
	recovery := histogram{}
	row := Row{Runs: 1, Cycles: r.cycles, Injected: r.injected, Counters: map[string]uint64{}}
	for _, f := range r.flows {
		row.Packets += f.delivered
		row.Bytes += f.bytes
		row.Reported += f.missing
		recovery.merge(f.recovery)
	}
	for _, c := range detectors {
		if n := r.counters[c]; n > 0 {
			row.Counters[c.String()] += n
			row.Detected += n
		}
	}
	row.Recovered = recovery.count()
	return row, recovery
}

// again is the command that repeats a run.
func (c Case) again(o Options, seed uint64) string {
	rtl := ""
	if o.RTL != "" {
		rtl = fmt.Sprintf(" --rtl '%s'", o.RTL)
	}
	rate := ""
	if c.Rate > 0 {
		rate = " --rate " + c.RateText()
	}
	return fmt.Sprintf("go run ./cmd/lmmc soak%s --links %s --faults %s%s --seed %d --rounds 1 --wave", rtl, c.Link, c.Fault, rate, seed)
}
