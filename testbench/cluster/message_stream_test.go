package cluster_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestLongStream: a stream one way comes whole. The receiver's host cable has a SPACE for each acknowledgement beside the packets, so ROUTEs gather before it. An interface
// that holds a window of the virtual link's packets, eight, drops none of them; one that holds less does now and then, and they are sent again.
func TestLongStream(t *testing.T) {
	if !*long {
		t.Skip("takes a minute of CPU time: run with -long")
	}
	for _, test := range []struct {
		name    string
		rx      int
		dropped bool
	}{{"less than a window", 2048, true}, {"a window", 16384, false}} {
		t.Run(test.name, func(t *testing.T) {
			w, nis := openPrograms(t, cluster.Config{
				Topology: check.Must(topology.Generate("star", []int{2}, 1))(t), Seed: testbench.TestSeed(t), Rung: cluster.RTL,
				Params: rtl.Params{PageBytes: 1024, RxBytes: test.rx},
			})
			const size, count = 1 << 16, 8
			list := contexts(t, nis, 3, message.Options{})
			text := testbench.NewRand(1).Bytes(size)
			for range count {
				check.Fatal(t, list[1].PostReceive(message.Receive{Data: make([]byte, size)}))
				check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Data: text}))
			}
			for range count {
				if done := next(t, nis[1], list[1]); done.Err != nil || !bytes.Equal(done.Data, text) {
					t.Fatalf("a message of %d bytes came as %d others, %v", size, len(done.Data), done.Err)
				}
			}
			bad := check.Must(nis[1].Counters(t.Context(), 1))(t)[linkproto.CntBadPacket]
			if t.Logf("%d ROUTEs dropped", bad); bad > 0 != test.dropped {
				t.Errorf("%d ROUTEs dropped, want some: %v", bad, test.dropped)
			}
		})
	}
}
