package words

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// rogueEnd is what is at the other end of a link's cable: it says the symbols that it is told to, and keeps what it hears.
type rogueEnd struct {
	line   []linkproto.Symbol // to be said
	reader *linkproto.Deframer
	inits  []linkproto.Init // heard
	frames int              // heard
	tick   func(n int)
}

func newRogueEnd(maxPacket int) *rogueEnd {
	r := &rogueEnd{reader: linkproto.NewDeframer(maxPacket)}
	r.reader.TakeAny()
	return r
}

// Emit says what is next.
func (r *rogueEnd) Emit(_ int, dst []linkproto.Symbol) int {
	n := copy(dst, r.line)
	r.line = r.line[n:]
	return n
}

// Feed hears the network interface.
func (r *rogueEnd) Feed(_ int, in []linkproto.Symbol) {
	for len(in) > 0 {
		ev, n := r.reader.Next(in)
		in = in[n:]
		switch ev.Kind {
		case linkproto.EventInit:
			r.inits = append(r.inits, ev.Init)
		case linkproto.EventFrame, linkproto.EventBadFrame:
			r.frames++
		}
	}
}

// Tick lets time pass.
func (r *rogueEnd) Tick(n int) { r.tick(n) }

// pause says nothing for so many symbol times.
func (r *rogueEnd) pause(n int) {
	for range n {
		r.line = append(r.line, linkproto.SymIdle)
	}
}

// counters are the counters of a link that its words move, and those that they must not.
var counters = [...]linkproto.Counter{linkproto.CntBadWord, linkproto.CntRestarts, linkproto.CntRxStray, linkproto.CntLostPackets, linkproto.CntReplays,
	linkproto.CntRxPackets, linkproto.CntTxPackets, linkproto.CntRxCRC, linkproto.CntStops, linkproto.CntDenied, linkproto.CntBadPacket}

// view is what registers show of a link: status, peer, and by how much counters have gone up.
type view struct {
	up, peerStop, ownStop, missing bool
	epoch                          uint8
	known, refused                 bool
	node                           uint16 // if known
	counts                         [len(counters)]uint32
}

// viewOf is what registers would show of an end in Go.
func viewOf(e *flowctl.Endpoint) (v view) {
	s := e.Status()
	v = view{up: s.Up, peerStop: s.PeerStop, ownStop: s.OwnStop, missing: s.Missing, epoch: s.Epoch, known: s.Peer.Known, refused: s.Refused, node: s.Peer.Node}
	for i, c := range counters {
		v.counts[i] = e.Counter(c)
	}
	return v
}

// link is a link of a network interface with a rogue at its far end. The twin is what its end must be like by flowctl: it hears the same.
type link struct {
	*harness.Harness
	rogue *rogueEnd
	twin  *flowctl.Endpoint
	base  [len(counters)]uint32 // what the counters were when the twin's were 0
	me    linkproto.Init        // that the rogue has said last, or would
	spoke uint64                // when the rogue last said a word that keeps the link up
	count struct{ up, down, bad, refused, restarts, before, behind, frames, barriers int }
}

// ask reads registers, all at once.
func (w *link) ask(regs ...linkproto.Reg) []uint32 {
	values, left := make([]uint32, len(regs)), len(regs)
	for i, r := range regs {
		try.OK(w.Node.Host.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r}, func(a linkproto.Packet) {
			if a.Type != linkproto.TypeRegData {
				try.Failf("register %v cannot be read: %v", r, a.Status)
			}
			values[i] = a.Value
			left--
		}))
	}
	try.OK(w.Until(100_000, "registers", func() bool { return left == 0 }))
	w.Suite.Stats.Packets += uint64(len(regs))
	return values
}

// look reads what the registers show of the link.
func (w *link) look() (v view) {
	status, peer, counter := linkproto.LinkStatusReg(1), linkproto.PeerReg(1), func(c linkproto.Counter) linkproto.Reg { return linkproto.CounterReg(1, c) }
	if w.Params.Router > 0 {
		status, peer, counter = linkproto.PortStatusReg(1), linkproto.PortPeerReg(1), func(c linkproto.Counter) linkproto.Reg { return linkproto.PortCounterReg(1, c) }
	}
	regs := []linkproto.Reg{status, peer}
	for _, c := range counters {
		regs = append(regs, counter(c))
	}
	values := w.ask(regs...)
	is := func(b linkproto.Bits, v uint32) bool { return b.Of(v) != 0 }
	s, p := values[0], values[1]
	v = view{up: is(linkproto.StatusUp, s), peerStop: is(linkproto.StatusPeerStop, s), ownStop: is(linkproto.StatusOwnStop, s), missing: is(linkproto.StatusMissing, s),
		epoch: uint8(linkproto.StatusEpoch.Of(s)), known: is(linkproto.PeerKnown, p), refused: is(linkproto.PeerRefused, p)}
	if v.known {
		v.node = uint16(linkproto.PeerNode.Of(p))
	}
	for i := range counters {
		v.counts[i] = values[2+i] - w.base[i]
	}
	return v
}

// compare wants the registers to show what the twin does, and what the network interface says of itself to be so.
func (w *link) compare() {
	w.rogue.inits = w.rogue.inits[:0]
	have, want := w.look(), viewOf(w.twin)
	if have != want {
		try.Failf("the link is %+v, want %+v", have, want)
	}
	c := w.twin.Config()
	for _, init := range w.rogue.inits {
		if life := linkproto.LifeOf(c.Nonce, c.Port, want.epoch); init.Life != life || init.Node != c.Node {
			try.Failf("the network interface says it is node %#x, life %#x; it is %#x, %#x", init.Node, init.Life, c.Node, life)
		}
	}
}

// begin takes for the twin an end like the network interface's, which knows nobody.
func (w *link) begin(node uint16, nonce uint32) {
	now := w.look()
	w.base, w.me = now.counts, w.newInit()
	w.twin = w.newTwin(now.epoch, node, nonce)
}

// newTwin is an end like the network interface's when it has just begun a life.
func (w *link) newTwin(epoch uint8, node uint16, nonce uint32) *flowctl.Endpoint {
	p := w.Params
	return try.Get(flowctl.New(flowctl.Config{MaxPacket: p.MaxPacket(), Routes: p.TakesRoutes(), Barriers: p.Barriers, AckDelay: p.AckDelay, WordTimer: p.WordTimer,
		Retry: p.Retry, RetryLimit: p.RetryLimit, Node: node, Nonce: nonce, Port: 1, Epoch: epoch}))
}

// again is an end like the twin when it has just begun its present life.
func (w *link) again() *flowctl.Endpoint {
	c := w.twin.Config()
	c.Epoch = w.twin.Status().Epoch
	return try.Get(flowctl.New(c))
}

// life is that of the network interface's end.
func (w *link) life() linkproto.Life {
	return linkproto.LifeOf(w.twin.Config().Nonce, 1, w.twin.Status().Epoch)
}

// key is that of what the rogue says to the network interface, by what it has said last.
func (w *link) key() linkproto.Key { return linkproto.KeyOf(w.life(), w.me.Life) }

// say has symbols said, and the twin hear them.
func (w *link) say(symbols []linkproto.Symbol) {
	restarts := w.twin.Counter(linkproto.CntRestarts)
	w.rogue.line = append(w.rogue.line, symbols...)
	w.twin.Feed(symbols)
	if w.twin.Counter(linkproto.CntRestarts) != restarts { // what comes close behind may come before the end has started again
		w.rogue.pause(16)
	}
}

// greet says an INIT that is right.
func (w *link) greet(another bool) {
	if another {
		w.me = w.newInit()
	}
	w.say(linkproto.AppendInit(nil, w.me))
}

// newInit is that of an end that the network interface takes for its peer.
func (w *link) newInit() linkproto.Init {
	page, _ := linkproto.PageOf(linkproto.MaxPacket(w.Params.PageBytes))
	return linkproto.Init{Version: linkproto.Version, Node: uint16(w.Rand.Uint32()), Life: linkproto.Life(ni.Nonce(w.Rand)), Page: page, Routes: w.Params.TakesRoutes(), Lanes: 1}
}

// word says a word that is right for a peer that the network interface knows.
func (w *link) word(word linkproto.Word) {
	w.say(linkproto.AppendWord(nil, w.key(), word))
	w.spoke = w.Cycles
}

// bring brings the link to a state in which its peer, if it is known, is another one than before.
func (w *link) bring(known, up bool) {
	w.greet(true)
	if w.twin.Status().Peer.Known != known {
		w.greet(true)
	}
	if up {
		w.word(linkproto.Word{})
	}
	w.settle()
}

// settle waits until all that is to be said has been, and had its effect.
func (w *link) settle() {
	try.OK(w.Until(100_000, "the words to be said", func() bool { return len(w.rogue.line) == 0 }))
	try.OK(w.Run(64))
}

// draw draws a word, or something like one.
func (w *link) draw() []linkproto.Symbol {
	var line []linkproto.Symbol
	if w.Rand.Chance(0.4) {
		line = w.drawInit()
	} else {
		line = w.drawSealed()
	}
	switch w.Rand.Weighted(12, 2, 1, 1) {
	case 1: // cut off, by what comes next or by a symbol
		line = line[:w.Rand.Between(1, len(line)-1)]
		if w.Rand.Bool() {
			line = append(line, testbench.Pick(w.Rand, linkproto.SymEOP, linkproto.SymAbort, linkproto.SymErr, 0x1F7))
		}
	case 2: // damaged
		line[w.Rand.Between(1, len(line)-1)] ^= linkproto.Symbol(w.Rand.Between(1, 255))
	case 3: // with IDLE inside
		at := w.Rand.Between(1, len(line)-1)
		line = append(append(append([]linkproto.Symbol{}, line[:at]...), linkproto.SymIdle), line[at:]...)
	}
	return line
}

// drawInit draws an INIT: of the peer, or of some other end, and each field right, at its limits, or anything.
func (w *link) drawInit() []linkproto.Symbol {
	page := w.newInit().Page
	switch init := w.me; w.Rand.Weighted(6, 2, 2) {
	case 1:
		w.me = w.newInit()
	case 2: // nearly the same life
		init.Life ^= 1 << w.Rand.IntN(32)
		w.me = init
	}
	b := []byte{byte(linkproto.KindInit) << linkproto.WordKindShift, linkproto.Version, 0, 0, 0, 0, 0, 0, page, 0}
	if w.Params.TakesRoutes() {
		b[linkproto.InitPageAt] |= 1 << linkproto.InitRoutesBit
	}
	w.me.Stop = w.Rand.Chance(0.3)
	if w.me.Stop {
		b[0] |= 1 << linkproto.WordStopBit
	}
	binary.LittleEndian.PutUint16(b[linkproto.InitNodeAt:], w.me.Node)
	binary.LittleEndian.PutUint32(b[linkproto.InitLifeAt:], uint32(w.me.Life))
	if w.Rand.Chance(0.4) {
		low := func(n int) byte { return byte(w.Rand.IntN(n)) }
		switch w.Rand.IntN(7) {
		case 0:
			b[0] |= 1 << low(linkproto.WordStopBit)
		case 1:
			b[linkproto.InitVersionAt] = testbench.Pick(w.Rand, linkproto.Version-1, linkproto.Version+1, 0, 0xFF, low(256))
		case 2:
			b[linkproto.InitPageAt] ^= 1 << low(8)
		case 3:
			b[linkproto.InitPageAt] = page&^15 | low(16) | low(2)<<linkproto.InitRoutesBit
		case 4:
			b[linkproto.InitLanesAt] = low(8) | low(8)<<linkproto.InitLaneShift
		case 5:
			b[linkproto.InitLanesAt] = 1 << low(8)
		case 6:
			b[linkproto.InitPageAt], b[linkproto.InitLanesAt] = low(256), low(256)
		}
	}
	line := []linkproto.Symbol{linkproto.SymLSW}
	for _, c := range binary.BigEndian.AppendUint16(b, linkproto.CRC16(b)) {
		line = append(line, linkproto.Data(c))
	}
	return line
}

// drawSealed draws a word for the network interface, or for some other end, or for another life of it.
func (w *link) drawSealed() []linkproto.Symbol {
	key, word := w.key(), linkproto.Word{Kind: testbench.Pick(w.Rand, linkproto.KindAck, linkproto.KindAck, linkproto.KindLost, linkproto.KindBarrier), Stop: w.Rand.Chance(0.3)}
	switch w.Rand.Weighted(8, 1, 1, 1) {
	case 1:
		key ^= 1 << w.Rand.IntN(32)
	case 2:
		key ^= linkproto.Key(w.Rand.Between(1, 255)) << linkproto.LifeEpochShift
	case 3:
		key = linkproto.Key(w.Rand.Uint32())
	}
	if w.Rand.Chance(0.15) {
		word.Value = uint8(w.Rand.Uint32())
	}
	if w.Rand.Chance(0.1) || word.Kind == linkproto.KindBarrier {
		word.Group = uint8(w.Rand.IntN(linkproto.WordReserved + 1))
	}
	return linkproto.AppendWord(nil, key, word)
}
