package words

import (
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// beyond compares, and takes it that counters have gone up by more than the twin's: it has sent nothing.
func (w *link) beyond(more map[linkproto.Counter]int) {
	for c, n := range more {
		w.base[slices.Index(counters[:], c)] += uint32(n)
	}
	w.compare()
}

// frames has the host send packets by the link, of which the peer acknowledges none. It asks for all again, or another end takes its place and is up at once.
func (w *link) frames(again bool) {
	w.bring(true, true)
	w.rogue.reader.SetKey(w.key().Back())
	w.rogue.frames = 0
	most := 100
	if again {
		most = 10
	}
	n := w.Rand.Between(1, most)
	hears := func(frames int) {
		try.OK(w.Until(20_000, "frames", func() bool { return w.rogue.frames == frames }))
		w.settle()
		if w.rogue.frames != frames {
			try.Failf("the peer hears %d frames, want %d", w.rogue.frames, frames)
		}
	}
	for range n {
		try.OK(w.Node.Host.Write(1, uint32(w.Rand.Uint32()), w.Rand.Bytes(w.Rand.IntN(8))))
	}
	hears(n)
	w.compare()
	if again {
		w.word(linkproto.Word{Kind: linkproto.KindLost})
		for range w.Rand.Between(1, 3) { // the more so if words come behind it that say nothing
			line := w.drawSealed()
			w.say(append(line[:w.Rand.Between(2, len(line)-1)], linkproto.SymErr))
		}
		hears(2 * n)
		w.beyond(map[linkproto.Counter]int{linkproto.CntReplays: 1})
	}
	w.greet(true)
	w.greet(false)
	w.word(linkproto.Word{})
	w.rogue.reader.SetKey(w.key().Back())
	w.rogue.frames = 0
	w.settle()
	w.beyond(map[linkproto.Counter]int{linkproto.CntLostPackets: n})
	if !try.Get(w.Admit(0, 1)) {
		try.Failf("%d packets are lost, and LINK_STATUS does not say so", n)
	}
	try.OK(w.Until(20_000, "the queue to be free", func() bool { return w.Node.Host.Credit(1).Outstanding() == 0 }))
	hears(0)
	w.rogue.reader.TakeAny()
	w.count.frames += n
}
