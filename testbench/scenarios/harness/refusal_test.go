package harness

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
)

// TestRefusable checks that the host's end takes every request that the interface must refuse, up to the longest there is.
func TestRefusable(t *testing.T) {
	for _, page := range []int{64, 256} {
		s := &Harness{Fabric: &ni.Fabric{Params: rtl.Params{PageBytes: page}.WithDefaults()}, Rand: testbench.NewRand(uint64(page))}
		longest := 0
		for range 100_000 {
			raw := s.Refusable().Raw
			longest = max(longest, len(raw))
			if len(raw) < linkproto.HeaderBytes {
				t.Fatalf("a request of % x, which is no packet", raw)
			}
		}
		if longest != s.Params.MaxPacket() {
			t.Errorf("with pages of %d bytes the longest request has %d, want %d", page, longest, s.Params.MaxPacket())
		}
	}
}
