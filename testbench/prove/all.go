package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/stafflink/lmmc/testbench/results"
)

// Options say how CheckAll runs.
type Options struct {
	Jobs     int    // proofs at a time; 0 is the number of CPUs
	TraceDir string // where counterexamples go, as NAME.vcd
	// Progress is called after each proof, by one goroutine at a time. Nil is allowed.
	Progress func(done int, last Result)
}

// Result is what became of a proof.
type Result struct {
	Proof
	Elapsed time.Duration // on the wall
	Err     error         // nil: proved
}

// CheckAll makes proofs, several at a time, and returns the results in the order of the proofs. A proof that fails is a result and not
// an error; the error says that the run did not come to its end.
func CheckAll(ctx context.Context, proofs []Proof, o Options) ([]Result, error) {
	jobs := o.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	all := make([]Result, len(proofs))
	next := make(chan int)
	var mutex sync.Mutex
	var wait sync.WaitGroup
	done := 0
	for range min(jobs, len(proofs)) {
		wait.Go(func() {
			for i := range next {
				start := time.Now()
				err := checkOne(ctx, proofs[i], o.TraceDir)
				mutex.Lock()
				all[i] = Result{proofs[i], time.Since(start), err}
				done++
				if o.Progress != nil && ctx.Err() == nil {
					o.Progress(done, all[i])
				}
				mutex.Unlock()
			}
		})
	}
	for i := range proofs {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, r := range all {
		if errors.Is(r.Err, ErrTool) {
			return nil, r.Err
		}
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
	if refuted := new(Refutation); errors.As(err, &refuted) {
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
