package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/parts"
)

// inProcess starts parts in this process. When all have ended, what they said is in errs.
type inProcess struct {
	running sync.WaitGroup
	errs    []error
}

func (p *inProcess) parts(count int) *cluster.Parts {
	p.errs = make([]error, count)
	return &cluster.Parts{Count: count, Version: "v", Listen: "127.0.0.1:0", Launch: func(ctx context.Context, address, token string, failed func(error)) error {
		for i := range count {
			p.running.Go(func() {
				p.errs[i] = parts.Work(ctx, address, token, "v", func(number, count int, setup []byte) (parts.Site, error) {
					return cluster.OpenPart(ctx, number, count, setup)
				})
			})
		}
		return nil
	}}
}

// TestParts: split over processes a network does what it does in one, clock by clock.
func TestParts(t *testing.T) {
	for _, test := range []struct {
		shape   string
		size    []int
		rung    string
		latency int
		mixed   bool
	}{{"tree", []int{3, 2}, cluster.Model, 40, false}, {"tree", []int{2, 2}, cluster.RTL, 7, false}, {"tree", []int{2, 2}, cluster.RTL, 40, true}, {"hyper-crossbar", []int{2, 3}, cluster.Model, 20, false}, {"hyper-crossbar", []int{2, 2}, cluster.RTL, 9, false}} {
		t.Run(fmt.Sprint(test.shape, test.size, test.rung, test.mixed), func(t *testing.T) {
			top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
			for i := range top.Cables {
				top.Cables[i].Latency, top.Cables[i].BitErrorRate = test.latency, 1e-5
			}
			if test.shape == "hyper-crossbar" && test.rung == cluster.RTL {
				for i := range top.Cables {
					top.Cables[i].Lanes = 2
				}
			}
			if test.mixed {
				for i := range top.Nodes {
					top.Nodes[i].Rung = []string{cluster.RTL, cluster.Model}[i%2]
				}
			}
			seed := testbench.TestSeed(t)
			var want cluster.Result
			var setup cluster.Setup
			for count := range 3 {
				config := cluster.Config{Topology: top, Rung: test.rung, Seed: seed}
				var workers inProcess
				if count > 0 {
					config.Parts = workers.parts(count + 1)
				}
				c := check.Must(cluster.Open(t.Context(), config))(t)
				r, err := c.Carry(cluster.Traffic{Packets: 60, Bytes: 100, Pages: 5})
				check.Fatal(t, errors.Join(err, c.Close()))
				workers.running.Wait()
				check.Fatal(t, errors.Join(workers.errs...))
				if count == 0 {
					want, setup = r, c.Setup
				}
				check.Equal(t, fmt.Sprintf("result of %d parts", count+1), r, want)
				check.Equal(t, fmt.Sprintf("set-up of %d parts", count+1), fmt.Sprint(c.Setup), fmt.Sprint(setup))
			}
		})
	}
}

// TestPartEnds: the run ends when a part does, with an error that names it.
func TestPartEnds(t *testing.T) {
	top := check.Must(topology.Generate("tree", []int{2, 2}, 1))(t)
	top.Rung, top.Default.Latency = cluster.Model, 20
	for i := range top.Cables {
		top.Cables[i].Latency = 20
	}
	var workers inProcess
	split := workers.parts(2)
	launch := split.Launch
	var kill context.CancelFunc
	split.Launch = func(ctx context.Context, address, token string, failed func(error)) error {
		ctx, kill = context.WithCancel(ctx)
		return launch(ctx, address, token, failed)
	}
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Parts: split}))(t)
	kill()
	_, err := c.Carry(cluster.Traffic{Packets: 1000, Bytes: 64})
	if !errors.Is(err, parts.ErrPart) || !strings.Contains(err.Error(), "it has ended") {
		t.Errorf("after a part has ended: %v", err)
	}
	check.Error(t, c.Close())
	workers.running.Wait()
}

// TestNotSplit: what cannot be split is refused, with what to do.
func TestNotSplit(t *testing.T) {
	top := check.Must(topology.Generate("tree", []int{2, 2}, 1))(t)
	for count, want := range map[int]string{5: "5 parts of 4 network interfaces", 2: "latency of 1 clocks: give it 2 or more"} {
		var workers inProcess
		_, err := cluster.Open(t.Context(), cluster.Config{Topology: top, Parts: workers.parts(count)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d parts: %v, want %q", count, err, want)
		}
	}
}
