package words

import (
	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// barriers has a router's groups wait for two links, of which the rogue's says BARRIERs: what has entered is what flowctl makes of them.
func (w *link) barriers() {
	rogue := flowctl.BarrierWord{Port: 1}
	reference := flowctl.NewBarriers(w.Params.Router, 0, func(flowctl.BarrierWord) {})
	generation := uint8(w.Rand.IntN(16))
	for group := range 4 { // which end with the round
		members := linkproto.BarrierPorts.In(0b110) | linkproto.BarrierGeneration.In(uint32(generation))
		try.OK(w.WriteRegister(0, linkproto.BarrierRegMembers.Reg(group), members))
		reference.WriteRegister(linkproto.BarrierRegMembers, group, members)
	}
	w.bring(true, false)
	if w.Rand.Bool() {
		w.word(linkproto.Word{})
	}
	for _, _, ok := w.twin.Heard(); ok; _, _, ok = w.twin.Heard() {
		continue // from before there were groups
	}
	for range w.Rand.Between(1, 4) {
		word := linkproto.Word{Kind: linkproto.KindBarrier, Group: uint8(w.Rand.IntN(6)), Value: linkproto.BarrierValue(generation, uint8(w.Rand.Between(1, 2)))}
		line := linkproto.AppendWord(nil, w.key(), word)
		if w.Rand.IntN(4) == 0 {
			line = line[:w.Rand.Between(1, len(line)-1)]
		}
		w.say(line)
	}
	w.settle()
	w.compare()
	for group, value, ok := w.twin.Heard(); ok; group, value, ok = w.twin.Heard() {
		rogue.Group, rogue.Value = group, value
		reference.Hear(rogue)
		w.count.barriers++
	}
	for group := range 4 {
		want, _ := reference.ReadRegister(linkproto.BarrierRegEntered, group)
		if have := try.Get(w.ReadRegister(0, linkproto.BarrierRegEntered.Reg(group))); have != want {
			try.Failf("group %d: entered by the ports %b, want %b", group, have, want)
		}
		try.OK(w.WriteRegister(0, linkproto.BarrierRegMembers.Reg(group), linkproto.BarrierGeneration.In(uint32(generation))))
	}
}
