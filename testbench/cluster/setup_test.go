package cluster_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestSetup: switches are set up over disturbed cables by the network interface that is named, or where that does not reach them by the nearest; then
// everybody reaches everybody.
func TestSetup(t *testing.T) {
	for _, test := range []struct {
		shape    string
		size     []int
		manager  string
		managers []string
	}{
		{"tree", []int{3, 2}, "n5", []string{"n5"}},
		{"fat-tree", []int{2, 3}, "", []string{"n0"}},
		{"hyper-crossbar", []int{2, 2}, "n3", []string{"n0", "n3"}},
	} {
		t.Run(test.shape, func(t *testing.T) {
			top := check.Must(topology.Generate(test.shape, test.size, 1))(t)
			for i := range top.Cables {
				top.Cables[i].Latency, top.Cables[i].BitErrorRate = 1+i%7, 1e-4
			}
			c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: cluster.Model, Manager: test.manager, Seed: testbench.TestSeed(t)}))(t)
			defer func() { check.Error(t, c.Close()) }()
			check.Equal(t, "managers", c.Setup.Managers, test.managers)
			check.Must(c.Carry(cluster.Traffic{Packets: 30, Bytes: 40, Pages: 5}))(t)
			t.Logf("%+v", c.Setup)
		})
	}
}
