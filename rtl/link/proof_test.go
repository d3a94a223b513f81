package link_test

import (
	"testing"

	"github.com/stafflink/lmmc/testbench/prove"
)

// The proofs of this folder. The buffer is tiny, since what is proven is about sequence numbers, which are as wide as ever.
var proofs = []prove.Proof{
	{Top: "link_replay", Params: map[string]string{"REPLAY_BYTES": "8", "MAX_PACKET": "4"}, Depth: 4,
		Files: []string{"../linkproto.vh", "link_replay.v", "../common/ram_sdp.v"}},
}

func TestProofs(t *testing.T) {
	for _, p := range proofs {
		t.Run(p.Top, func(t *testing.T) { prove.Run(t, p) })
	}
}
