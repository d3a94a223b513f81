package cluster_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestCheckpoint: a network that goes on from a checkpoint does as the one that was saved, clock by clock, to the last bit of its state.
func TestCheckpoint(t *testing.T) {
	for _, test := range []struct {
		name    string
		shape   string
		size    []int
		rungs   func(*topology.Topology)
		packets int
		parts   int // processes; 0: it is not split
	}{
		{"RTL", "star", []int{2}, rungs(cluster.RTL, 0, 1), 60, 0},
		{"models", "fat-tree", []int{2, 2}, rungs(cluster.Model, 0, 1), 60, 0},
		{"both", "ring", []int{3}, rungs(cluster.Model, 0, 2), 60, 0},
		{"split", "ring", []int{3}, rungs(cluster.Model, 0, 2), 60, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
			test.rungs(top)
			for i := range top.Cables {
				top.Cables[i].Latency, top.Cables[i].BitErrorRate = 1+20*i, 1e-5
			}
			config := cluster.Config{Topology: top, Seed: testbench.TestSeed(t), Checkpoints: true, Version: "1"}
			var workers [3]inProcess
			if test.parts > 0 {
				for i := range top.Cables {
					top.Cables[i].Latency += 40
				}
				config.Parts = workers[0].parts(test.parts)
			}
			traffic := cluster.Traffic{Packets: test.packets, Bytes: 200, Pages: 20}

			// look has a checkpoint every so many quanta.
			var saved []*cluster.Checkpoint
			look := func(c *cluster.Cluster, list *[]*cluster.Checkpoint) {
				c.Between = func() error {
					if c.Cycles%1024 == 0 {
						*list = append(*list, check.Must(c.Checkpoint())(t))
					}
					return nil
				}
			}
			a := check.Must(cluster.Open(t.Context(), config))(t)
			defer a.Close()
			if _, err := a.Checkpoint(); err == nil {
				t.Error("a checkpoint without traffic")
			}
			look(a, &saved)
			want := check.Must(a.Carry(traffic))(t)
			if len(saved) < 6 {
				t.Fatalf("%d checkpoints: too few", len(saved))
			}

			at := len(saved) / 2
			var file bytes.Buffer
			check.Fatal(t, saved[at].Write(&file))
			config.From = check.Must(cluster.ReadCheckpoint(&file))(t)
			config.Threads = 2
			if test.parts > 0 {
				config.Parts = workers[1].parts(test.parts)
			}
			b := check.Must(cluster.Open(t.Context(), config))(t)
			defer b.Close()
			check.Equal(t, "clocks", b.Cycles, saved[at].Cycles)
			var again []*cluster.Checkpoint
			look(b, &again)
			have := check.Must(b.Resume())(t)
			check.Equal(t, "checkpoints since", len(again), len(saved)-at-1)
			for i, c := range again {
				old := saved[at+1+i]
				if c.Cycles != old.Cycles || !bytes.Equal(c.State, old.State) {
					t.Fatalf("state at clock %d is another one", c.Cycles)
				}
				check.Equal(t, "nodes in RTL", c.Models, old.Models)
				check.Equal(t, "parts", c.Parts, old.Parts)
			}
			check.Equal(t, "result", have, want)
			check.Equal(t, "clocks in the end", b.Cycles, a.Cycles)
			t.Logf("%d checkpoints, the last of %d bytes", len(saved), len(saved[len(saved)-1].State))

			for what, change := range map[string]func(*cluster.Config){
				"parts":            func(c *cluster.Config) { c.Parts = workers[2].parts(test.parts + 1) },
				"another topology": func(c *cluster.Config) { c.Topology = check.Must(topology.Generate("star", []int{3}, 1))(t) },
				"another version":  func(c *cluster.Config) { c.Version = "2" },
				"with seed":        func(c *cluster.Config) { c.Seed++ },
				"parameters":       func(c *cluster.Config) { c.Params.Frames = 8 },
				"barriers":         func(c *cluster.Config) { c.Barriers = true },
				"routing up-down":  func(c *cluster.Config) { c.Routing = "" },
			} {
				other := config
				if what == "routing up-down" {
					from := *config.From
					from.Config.Routing = "up-down"
					other.From = &from
				}
				change(&other)
				_, err := cluster.Open(t.Context(), other)
				if !errors.Is(err, cluster.ErrCheckpoint) {
					t.Errorf("%s: %v", what, err)
				} else {
					check.Contains(t, "error", err.Error(), what)
				}
			}
		})
	}
	_, err := cluster.ReadCheckpoint(bytes.NewReader([]byte("nonsense")))
	check.Fails(t, "nonsense", err, cluster.ErrCheckpoint)
}

// TestCheckpointDamaged: a file with a bit that is wrong, or without its end, is refused.
func TestCheckpointDamaged(t *testing.T) {
	state := testbench.NewRand(1).Bytes(1 << 16)
	var whole bytes.Buffer
	check.Fatal(t, (&cluster.Checkpoint{Version: "1", Saved: cluster.Saved{State: state}}).Write(&whole))
	c := check.Must(cluster.ReadCheckpoint(bytes.NewReader(whole.Bytes())))(t)
	check.Equal(t, "state", bytes.Equal(c.State, state), true)
	wrong := bytes.Clone(whole.Bytes())
	wrong[len(wrong)/2] ^= 4
	check.Fails(t, "a wrong bit", check.Err(cluster.ReadCheckpoint(bytes.NewReader(wrong))), cluster.ErrCheckpoint, "damaged")
	check.Fails(t, "no end", check.Err(cluster.ReadCheckpoint(bytes.NewReader(whole.Bytes()[:whole.Len()-1]))), cluster.ErrCheckpoint, "damaged")
}
