package virtuallink

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// A packet may be made unfit more than once, as a ROUTE is changed more than once.
func TestUnfitAgain(t *testing.T) {
	e := &farEnd{world: &world{rng: testbench.NewRand(1)}}
	for range 1000 {
		packet := []byte{byte(linkproto.TypeMessage), 0, 0}
		for range 4 {
			packet = e.unfit(packet)
		}
	}
}
