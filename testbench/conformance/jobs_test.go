package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
)

// counted is a model that counts how many of it there are. "counted:board" says that its time does not stand still.
type counted struct {
	hostdrv.Transport
	board bool
}

// crowd is how many there are, and were at most. With meet, the second and third that are opened wait for each other.
var crowd struct {
	sync.Mutex
	now, most, opened int
	meet              *sync.WaitGroup
}

func init() { hostdrv.Register("counted", openCounted) }

func openCounted(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	crowd.Lock()
	crowd.now++
	crowd.opened++
	crowd.most = max(crowd.most, crowd.now)
	meet := crowd.meet
	if crowd.opened == 1 {
		meet = nil // to be explored
	}
	crowd.Unlock()
	if meet != nil {
		meet.Done()
		met := make(chan struct{})
		go func() { meet.Wait(); close(met) }()
		select {
		case <-met:
		case <-ctx.Done():
			meet.Done() // for the one that does not come
			<-met
			return nil, context.Cause(ctx)
		}
	}
	t, err := hostdrv.Dial(ctx, "model:")
	return &counted{t, target.Opaque == "board"}, err
}

func (c *counted) Timing() hostdrv.Timing {
	t := c.Transport.Timing()
	t.VirtualTime = !c.board
	return t
}

func (c *counted) Close() error {
	crowd.Lock()
	defer crowd.Unlock()
	crowd.now--
	return c.Transport.Close()
}

// On a simulation cases run side by side if they may, on a board never.
func TestJobs(t *testing.T) {
	for target, want := range map[string]int{"counted:": 2, "counted:board": 1} {
		crowd.now, crowd.most, crowd.opened, crowd.meet = 0, 0, 0, nil
		if want > 1 {
			crowd.meet = &sync.WaitGroup{}
			crowd.meet.Add(want)
		}
		r, err := conformance.Execute(t.Context(), target, conformance.Options{Filter: "registers/scratch|registers/control", Options: campaign.Options{Jobs: 2}})
		check.Fatal(t, err)
		if n := r.Count(conformance.Pass); n != 2 || crowd.most != want || crowd.now != 0 {
			t.Errorf("%s: %d passed, %d at a time, %d are left; want 2, %d, 0", target, n, crowd.most, crowd.now, want)
		}
	}
	if _, err := conformance.Execute(t.Context(), "model:", conformance.Options{Options: campaign.Options{Jobs: -1}}); err == nil {
		t.Error("-1 at a time")
	}
}

// What is found does not depend on how many run at a time, nor does the order in which it is told.
func TestJobsFindTheSame(t *testing.T) {
	var found [2]*conformance.Report
	for i, jobs := range []int{1, 4} {
		last := conformance.Progress{}
		var err error
		found[i], err = conformance.Execute(t.Context(), "model:?links=2", conformance.Options{
			Filter: "identity/.*|writes/data|performance/.*", Options: campaign.Options{Jobs: jobs}, Progress: func(p conformance.Progress) { last = p }})
		check.Fatal(t, err)
		if n := len(found[i].Results); last != (conformance.Progress{Done: n, Total: n}) {
			t.Errorf("%d at a time: %+v in the end, and %d results", jobs, last, n)
		}
	}
	// How long a simulated round trip takes depends on when the system lets the goroutines at its ends run.
	timeless := cmp.Options{cmpopts.IgnoreFields(conformance.Result{}, "Seconds"), cmpopts.IgnoreFields(conformance.Measurement{}, "Value")}
	if diff := cmp.Diff(fmt.Sprint(found[0].Links), fmt.Sprint(found[1].Links)) + cmp.Diff(found[0].Results, found[1].Results, timeless); diff != "" {
		t.Error(diff)
	}
}

// What passed on a simulation is kept; on a board it is not.
func TestCasesAreKept(t *testing.T) {
	for target, want := range map[string]bool{"model:": true, "counted:board": false} {
		crowd.meet = nil
		o := conformance.Options{Filter: "registers/scratch|registers/control", Options: campaign.Options{Store: t.TempDir()}}
		for i := range 2 {
			r, err := conformance.Execute(t.Context(), target, o)
			if err != nil || r.Count(conformance.Pass) != 2 {
				t.Fatalf("%v, %+v", err, r)
			}
			for _, x := range r.Results {
				if x.Cached != (want && i > 0) || x.Again == "" {
					t.Errorf("%s, run %d: %+v", target, i, x)
				}
			}
		}
		o.Slurm = &campaign.Slurm{}
		if _, err := conformance.Execute(t.Context(), target, o); errors.Is(err, conformance.ErrOptions) == want {
			t.Errorf("%s on a cluster: %v", target, err)
		}
	}
}
