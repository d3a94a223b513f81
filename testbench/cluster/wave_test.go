package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestWaves: a run that fails leaves waves of the nodes that it is about.
func TestWaves(t *testing.T) {
	top := check.Must(topology.Generate("star", []int{3}, 1))(t)
	top.Nodes[0].Rung, top.Rung = cluster.RTL, cluster.Model
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Waves: 1000}))(t)
	defer func() { check.Error(t, c.Close()) }()
	*cluster.Patience = 100_000
	defer func() { *cluster.Patience = 1_000_000 }()
	check.Fatal(t, c.Cut(0, true))
	if _, err := c.Carry(cluster.Traffic{Packets: 5, Bytes: 8}); err == nil {
		t.Fatal("packets come over a cable that is cut")
	}
	check.Equal(t, "suspects", c.Suspects()[0], 0)
	dir := filepath.Join(t.TempDir(), "waves")
	files := check.Must(c.DumpWaves(dir))(t)
	check.Equal(t, "files", files, []string{filepath.Join(dir, "n0.fst")})
	info := check.Must(os.Stat(files[0]))(t)
	if info.Size() < 1000 {
		t.Errorf("a wave of %d bytes", info.Size())
	}
	if _, err := open(t, "star", []int{2}, 1, rungs(cluster.Model, 0, 1)).DumpWaves(dir); err == nil {
		t.Error("there are waves that nobody has recorded")
	}
}
