package prove

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/verilator"
)

// Run proves p and fails t if that does not work, whatever the reason: a missing tool is a failure that says what to install, never a skip. What was
// proved before is not proved again, unless something that it follows from has changed.
func Run(t testing.TB, p Proof) {
	t.Helper()
	run(t, p, "proved", Check, func(err error) error { return err })
}

// Refute fails t unless p is refuted, be it in the step only. It remembers as Run does.
func Refute(t testing.TB, p Proof) {
	t.Helper()
	brief := func(ctx context.Context, dir string, p Proof) error { return work{p, dir, false}.check(ctx) }
	run(t, p, "refuted", brief, func(err error) error {
		switch {
		case errors.Is(err, ErrRefuted):
			return nil
		case err == nil:
			return errors.New("proved, want it refuted")
		}
		return err
	})
}

// run makes a proof, unless it is kept that it came out as wanted. Working files, with a counterexample, stay when it did not.
func run(t testing.TB, p Proof, outcome string, try func(context.Context, string, Proof) error, wanted func(err error) error) {
	t.Helper()
	key, err := p.key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		key = campaign.Key(key, outcome)
	}
	store, err := verilator.CacheDir("results")
	if err != nil {
		t.Fatal(err)
	}
	job := campaign.Job[struct{}]{Name: p.Top, Key: key, Run: func(ctx context.Context) (none struct{}, err error) {
		dir, err := os.MkdirTemp("", "prove-"+p.Top+"-")
		if err != nil {
			return none, err
		}
		if err = wanted(try(ctx, dir, p)); err == nil {
			err = os.RemoveAll(dir)
		}
		return none, err
	}}
	found, err := campaign.Run(t.Context(), []campaign.Job[struct{}]{job}, campaign.Options{Store: store, Warn: func(text string) { t.Log(text) }}, nil)
	if err = errors.Join(err, found[0].Err); err != nil {
		t.Fatal(err)
	}
	how := ""
	if found[0].Cached {
		how = " (cached)"
	}
	t.Logf("%s in %.1f s%s", outcome, found[0].Elapsed.Seconds(), how)
}
