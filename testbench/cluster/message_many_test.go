package cluster_test

import (
	"flag"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/cluster"
)

var levels = flag.Int("levels", 2, "TestManyPeers on a tree of ten to that power nodes, 3 at most: 5 minutes of CPU time")

// TestManyPeers opens virtual links to 99 nodes at once, or to 999 with -levels 3, which one network interface carries out: its host's cable is full of short packets for a
// while. Each node gets its message, and answers.
func TestManyPeers(t *testing.T) {
	top := check.Must(topology.Generate("tree", []int{10, *levels}, 1))(t)
	const most = 1024
	config := cluster.Config{Topology: top, Seed: 1, Rung: cluster.Model, Virtual: 10, Params: rtl.Params{VLSlots: most}}
	for _, node := range top.Nodes[1:] {
		if node.Kind == topology.NI {
			config.InSoftware = append(config.InSoftware, node.Name)
		}
	}
	w, nis := openPrograms(t, config)
	list := contexts(t, nis, 1, message.Options{Sends: most, Receives: most, Longest: 8})
	for to := 1; to < len(nis); to++ {
		check.Fatal(t, list[to].PostReceive(message.Receive{Data: make([]byte, 8)}))
		check.Fatal(t, list[0].PostReceive(message.Receive{Data: make([]byte, 8)}))
		check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, to), Tag: uint32(to)}))
	}
	for i := 1; i < len(nis); i++ {
		check.Equal(t, "tag", next(t, nis[i], list[i]).Tag, uint32(i))
		check.Fatal(t, list[i].PostSend(message.Send{Node: number(w, 0), Tag: uint32(i)}))
	}
	came := map[uint32]bool{}
	for len(came) < len(nis)-1 {
		done := next(t, nis[0], list[0])
		check.Fatal(t, done.Err)
		if done.Received {
			came[done.Tag] = true
		}
	}
}
