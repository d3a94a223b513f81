package probe_test

import (
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/probe"
)

// TestHeadroom fills a receiver that stops reading, by cables of several lengths: none overruns it whose delay, there and back, and the 22 clocks of both
// ends come to HEADROOM - 3, as doc/protocol.md says; a longer one does.
func TestHeadroom(t *testing.T) {
	const headroom, ends = 256, 22
	for _, c := range []struct {
		cable    int
		overruns bool
	}{{(headroom - 3 - ends) / 2, false}, {(headroom-3-ends)/2 + 8, true}} {
		l := check.Must(probe.OpenLinkPair(t.Context(), c.cable, 1))(t)
		defer l.Model.Close()
		rng := testbench.NewRand(uint64(c.cable))
		stops := 0
		for seen := uint32(0); stops < 30; {
			packet := rng.Bytes(3 + rng.IntN(1000))
			packet[0] = byte(linkproto.TypeWrite)
			binary.LittleEndian.PutUint16(packet[1:], uint16(len(packet)-linkproto.HeaderBytes))
			for l.Sources[0].Send(packet) {
			}
			l.Sinks[1].SetThrottle(float64(rng.IntN(2))) // reads all, or nothing
			check.Fatal(t, l.Model.Run(1000+uint64(rng.IntN(5000))))
			l.Sinks[1].Discard()
			if *l.StopAt != seen {
				stops++
				seen = *l.StopAt
			}
		}
		if overruns := *l.Disturbances > 0; overruns != c.overruns {
			t.Errorf("a cable of %d clocks: overruns %v, want %v", c.cable, overruns, c.overruns)
		}
	}
}
