package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// trunk_state comes up with the peer of the lowest lane that has a word, starts again when no lane is heard, and lets one lane at a time be left out,
// but never the last.
func TestTrunkState(t *testing.T) {
	var p struct {
		Rst, Tick, GiveUp, Renew, Up, Restart, Young *bool   `port:"*"`
		Ack, Heard, Epoch, MayLeave                  *uint8  `port:"*"`
		PeerNode                                     *uint16 `port:"*"`
		PeerLife                                     *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "trunk_state", params{"LANES": 3, "SILENCE": 1000}, &p)
	for k := range 3 {
		check.Fatal(t, b.Model().Poke(fmt.Sprintf("life[%d:%d]", 32*k+31, 32*k), uint64(0xA0+k)))
		check.Fatal(t, b.Model().Poke(fmt.Sprintf("node[%d:%d]", 16*k+15, 16*k), uint64(0xB0+k)))
	}
	up := func(ack uint8) {
		*p.Ack = ack
		b.Step(1)
		*p.Ack, *p.Heard = 0, 7
		b.Step(1)
		check.Equal(t, "up", *p.Up, true)
	}
	up(6)
	check.Equal(t, "peer", [2]uint32{*p.PeerLife, uint32(*p.PeerNode)}, [2]uint32{0xA1, 0xB1})
	*p.Tick = true
	b.Step(linkproto.LaneSkew - 2)
	check.Equal(t, "young", *p.Young, true)
	b.Step(4)
	check.Equal(t, "young later", *p.Young, false)
	for _, heard := range []uint8{7, 5, 4, 1} {
		*p.Heard = heard
		may := uint8(0)
		for range 3 {
			check.Fatal(t, b.Model().Eval())
			if *p.MayLeave&(*p.MayLeave-1) != 0 {
				t.Fatalf("two lanes at once: %b", *p.MayLeave)
			}
			may |= *p.MayLeave & heard
			b.Step(1)
		}
		want := heard
		if heard&(heard-1) == 0 {
			want = 0
		}
		check.Equal(t, fmt.Sprintf("lanes that may leave of %b", heard), may, want)
	}
	for what, pulse := range map[string]func(){
		"no lane heard": func() { *p.Heard = 0 }, "give_up": func() { *p.GiveUp = true }, "renew": func() { *p.Renew = true }, "silence": func() { b.Step(1000) },
	} {
		*p.Heard = 7
		up(1) // a word has come just now
		epoch := *p.Epoch
		pulse()
		restarts := 0
		for range 4 {
			b.Step(1)
			if *p.Restart {
				restarts++
			}
			*p.GiveUp, *p.Renew = false, false
		}
		check.Equal(t, what+": restarts, up, epoch", fmt.Sprint(restarts, *p.Up, *p.Epoch), fmt.Sprint(1, false, linkproto.NextEpoch(epoch)))
	}
}
