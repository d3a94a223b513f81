// Package words holds the scenarios of all words that a link can hear, at any time: its end must be as one in Go that hears the same.
package words

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Scenarios are those of this package.
var Scenarios = []suite.Scenario{
	{Name: "hostile-words", Doc: "a peer's words of any kind, fields, keys and lives, whole and torn, and beside the host's NONCE, NODE_ID and resets: state and counters as an end in Go has them", Seeds: 1,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, run)},
	{Name: "hostile-words-routed", Doc: "the same at a link of a router that carries out barriers", Seeds: 1,
		Run: harness.WithPeers(harness.Messages, []int{1}, run)},
}

func run(s *harness.Harness) {
	w := &link{Harness: s, rogue: newRogueEnd(s.Params.MaxPacket())}
	w.rogue.tick = func(n int) {
		if w.twin != nil {
			w.twin.Tick(n)
		}
	}
	s.Peer(1).Far = w.rogue
	nonce := ni.Nonce(s.Rand)
	try.OK(s.WriteRegister(0, linkproto.RegNonce, nonce), s.Run(100))
	w.begin(1, nonce)
	tested := func() bool {
		return min(w.count.up, w.count.down, w.count.bad, w.count.refused, w.count.restarts) >= 20
	}
	for step := 0; step < 600 || step < 1200 && !tested(); step++ {
		try.Wrap(try.Run(func() { w.step(step) }), "step %d", step)
	}
	try.Wrap(try.Run(w.storm), "a storm")
	for range 3 {
		try.Wrap(try.Run(w.reset), "a reset")
	}
	for range 4 {
		w.bring(true, true)
		try.Wrap(try.Run(w.silence), "a silence")
	}
	for i := range 60 {
		try.Wrap(try.Run(w.badInARow), "bad words in a row, round %d", i)
	}
	carried := func() int { return w.count.frames + w.count.barriers }
	for i := 0; i < 20 || i < 60 && carried() < 10; i++ {
		try.Wrap(try.Run(func() {
			if s.Params.Barriers {
				w.barriers()
			} else {
				w.frames(i%2 == 0)
			}
		}), "frames or barriers, round %d", i)
	}
	w.besideNonce()
	w.besideSilence()
	try.Wrap(try.Run(w.hostInits), "at the host's port")
	s.Suite.Log("%+v", w.count)
	if c := w.count; !tested() || min(c.before, c.behind, carried()) < 10 {
		try.Failf("%+v: the run tests too little", c)
	}
	s.Peer(1).Far = nil
	s.RestartPeer(1)
	s.WaitUp(1)
	if s.Params.Router == 0 {
		var count harness.Numbered
		s.FromPeer(1, 5)
		count.ToPeer(s, 1, 5)
	}
	try.OK(s.Traffic.Check())
}

// step has some words said, in a row or with pauses, and looks at the link then.
func (w *link) step(n int) {
	before := viewOf(w.twin)
	switch {
	case before.up && w.Cycles > w.spoke+uint64(3*w.Params.WordTimer):
		w.greet(false) // the INIT that was drawn last may have been torn
		if n%2 == 0 {
			w.word(linkproto.Word{})
		} else {
			w.silence()
		}
	case !before.up && w.Rand.Chance(0.3): // mostly it is up then
		w.greet(false)
		w.word(linkproto.Word{Stop: w.Rand.Bool()})
	}
	for range w.Rand.Between(1, 6) {
		w.say(w.draw())
		if w.Rand.Chance(0.3) {
			w.rogue.pause(w.Rand.IntN(20))
		}
	}
	switch w.Rand.IntN(12) {
	case 0: // the host gives the node another number
		w.settle()
		node := uint16(w.Rand.Uint32())
		try.OK(w.WriteRegister(0, linkproto.RegNodeID, uint32(node)))
		w.twin.SetNode(node)
	case 1: // or another nonce, or none, or a life of before
		w.settle()
		nonce := ni.Nonce(w.Rand)
		if w.Rand.IntN(3) == 0 && w.twin.Config().Nonce != 0 {
			nonce = 0
		}
		try.OK(w.WriteRegister(0, linkproto.RegNonce, nonce))
		w.twin.SetNonce(nonce)
	}
	w.settle()
	w.compare()
	after := viewOf(w.twin)
	if after.up {
		w.count.up++
	} else {
		w.count.down++
	}
	if after.refused {
		w.count.refused++
	}
	w.count.bad += int(after.counts[0] - before.counts[0])
	w.count.restarts += int(after.counts[1] - before.counts[1])
}

// silence says nothing, or INITs only, until the link starts again. Those about then may come before or behind it, which besideSilence sweeps.
func (w *link) silence() {
	w.settle()
	w.word(linkproto.Word{})
	over := w.spoke + uint64(linkproto.SilentTimers*w.Params.WordTimer)
	until := func(clock uint64) {
		try.OK(w.Until(5*w.Params.WordTimer, "time to pass", func() bool {
			if len(w.rogue.line) == 0 && w.Rand.IntN(40) == 0 && (w.Cycles+100 < over || w.Cycles > over+100) {
				w.say(linkproto.AppendInit(nil, w.me))
			}
			return w.Cycles >= clock
		}))
		w.compare()
	}
	until(over - 1500)
	until(over + 200)
}

// badInARow says a word with a number that was never sent, and some that are cut off right behind it: each counts.
func (w *link) badInARow() {
	if !w.twin.Status().Up {
		w.bring(true, true)
	}
	w.word(linkproto.Word{Value: uint8(w.Rand.Between(1, 255))})
	for range w.Rand.Between(1, 2) {
		line := w.drawSealed()
		w.say(line[:w.Rand.Between(1, len(line)-1)])
	}
	w.word(linkproto.Word{})
	w.settle()
	w.compare()
}

// storm is one end after the other in the place of the peer, so often that the epoch wraps.
func (w *link) storm() {
	nonce := ni.Nonce(w.Rand)
	try.OK(w.WriteRegister(0, linkproto.RegNonce, nonce))
	w.twin.SetNonce(nonce)
	for range 20 {
		for range 15 {
			w.greet(true)
			w.greet(false)
			w.word(linkproto.Word{})
		}
		w.settle()
	}
	w.compare()
}

// reset resets the network interface amid an INIT of the peer's. It has another epoch then, and knows nothing else of before.
func (w *link) reset() {
	w.bring(true, true)
	w.word(linkproto.Word{Stop: true})
	w.settle()
	w.compare()
	init := linkproto.AppendInit(nil, w.newInit())
	at := w.Rand.Between(1, len(init)-1)
	w.rogue.pause(w.Config.Quantum - at)
	w.rogue.line = append(w.rogue.line, init[:at]...)
	try.OK(w.Run(1))
	host, epoch := w.Node.Host, w.twin.Status().Epoch
	*w.Node.Rst = true
	host.Received = func(linkproto.Packet) {}
	host.Forget()
	try.OK(w.Run(64))
	*w.Node.Rst = false
	w.base = [len(counters)]uint32{}
	w.twin = w.newTwin(linkproto.NextEpoch(epoch), 0, 0)
	w.say(init[at:])
	try.OK(w.Run(6000))
	host.Link.Lost()
	host.Received = nil
	host.Forget()
	w.compare()
	for range 10 { // without a nonce it stays down
		w.greet(w.Rand.Bool())
		w.say(w.draw())
		w.word(linkproto.Word{Stop: w.Rand.Bool()})
		w.settle()
		w.compare()
	}
	node, nonce := uint16(w.Rand.Uint32()), ni.Nonce(w.Rand)
	try.OK(w.WriteRegister(0, linkproto.RegNodeID, uint32(node)), w.WriteRegister(0, linkproto.RegNonce, nonce))
	w.twin.SetNode(node)
	w.twin.SetNonce(nonce)
	w.compare()
	try.OK(w.Traffic.GrantFrames(0), w.FillBuffer(0, w.Node.Image))
}

// hostInits has INITs come to the host's port whose lives differ from the host's in a bit. Ends of that cable have no nonce: only another epoch is another life.
func (w *link) hostInits() {
	host := w.Node.Host
	x := w.Insert(host.Port)
	init := w.newInit()
	for bit := range 32 {
		counters := []linkproto.Reg{linkproto.CounterReg(0, linkproto.CntBadWord), linkproto.CounterReg(0, linkproto.CntRestarts)}
		before := w.ask(counters...)
		init.Life = linkproto.LifeOf(0, 0, host.Link.Status().Epoch) ^ 1<<bit
		w.Send(x, linkproto.AppendInit(nil, init))
		host.Link.Lost()
		after := w.ask(counters...)
		bad, restarts := after[0]-before[0], after[1]-before[1]
		if foreign := bit < linkproto.LifeEpochShift; (bad != 0) != foreign || bad > 1 || (restarts != 0) == foreign || restarts > 1 {
			try.Failf("an INIT whose life differs in bit %d: %d bad words, %d restarts", bit, bad, restarts)
		}
	}
	host.Mangle = nil
}
