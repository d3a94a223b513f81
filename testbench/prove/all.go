package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/testbench/results"
)

// Options say how CheckAll runs.
type Options struct {
	campaign.Options        // proofs at a time, where, and where it is kept that they were made
	TraceDir         string // where counterexamples go, as NAME.vcd
	// Progress is called after each proof, by one goroutine at a time. Nil is allowed.
	Progress func(campaign.Progress, Result)
}

// Result is what became of a proof.
type Result struct {
	Proof
	Elapsed time.Duration // wall-clock
	Err     error         // nil: proved
	Cached  bool          // it was proved before, and nothing that it follows from has changed
}

// CheckAll makes proofs, several at a time, and returns the results in the order of the proofs. A proof that fails is a result and not
// an error; the error says that the run did not come to its end.
func CheckAll(ctx context.Context, proofs []Proof, o Options) ([]Result, error) {
	o.Fatal = []error{ErrTool}
	var jobs []campaign.Job[*Refutation]
	for _, p := range proofs {
		key, err := p.key(ctx)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, campaign.Job[*Refutation]{Name: p.Name, Key: key, Run: func(ctx context.Context) (*Refutation, error) {
			err := checkOne(ctx, p, o.TraceDir)
			refuted, _ := errors.AsType[*Refutation](err)
			return refuted, err
		}})
	}
	result := func(i int, r campaign.Result[*Refutation]) Result {
		if r.Value != nil && r.Err != nil && !errors.Is(r.Err, ErrRefuted) { // found by another process
			r.Err = r.Value
		}
		return Result{proofs[i], r.Elapsed, r.Err, r.Cached}
	}
	found, err := campaign.Run(ctx, jobs, o.Options, func(p campaign.Progress, r campaign.Result[*Refutation]) error {
		if o.Progress != nil {
			o.Progress(p, result(p.Last, r))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []Result
	for i, r := range found {
		all = append(all, result(i, r))
	}
	return all, nil
}

// checkOne leaves nothing behind but the counterexample.
func checkOne(ctx context.Context, p Proof, traceDir string) error {
	dir, err := os.MkdirTemp("", "prove-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	err = Check(ctx, dir, p)
	if refuted, ok := errors.AsType[*Refutation](err); ok {
		err = keepTrace(refuted, traceDir)
	}
	return err
}

// keepTrace moves a counterexample to where it stays. It returns the refutation, with what went wrong.
func keepTrace(r *Refutation, dir string) error {
	text, err := os.ReadFile(r.Trace)
	r.Trace = filepath.Join(dir, r.Proof+".vcd")
	if err = errors.Join(err, os.MkdirAll(dir, 0o777)); err == nil {
		err = results.WriteFile(r.Trace, text)
	}
	if err != nil {
		return fmt.Errorf("%w (and the trace is lost: %w)", r, err)
	}
	return r
}
