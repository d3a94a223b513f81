package words

import (
	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// happening is something that befalls the network interface's end of a link at a clock that is the same each time, counted from when the rogue
// begins to say a line.
type happening struct {
	line   []linkproto.Symbol        // that leads to it
	begin  func() (done func() bool) // and what else
	befall func(*flowctl.Endpoint)   // what it does
}

// told is when the network interface begins the first INIT of its next life, in clocks from the line's first symbol on, at the earliest of some tries.
func (w *link) told(tries int, draw func() happening) int {
	port, earliest := w.Peer(1), 0
	for range tries {
		w.bring(true, true)
		h, life, began, at := draw(), w.life(), uint64(0), 0
		reader := linkproto.NewDeframer(w.Params.MaxPacket())
		reader.TakeAny()
		port.Tap = func(toNI bool, clock uint64, s linkproto.Symbol) {
			if toNI && began == 0 {
				began = clock
			}
			if toNI || began == 0 {
				return
			}
			ev, _ := reader.Next([]linkproto.Symbol{s})
			if ev.Kind == linkproto.EventInit && ev.Init.Life != life && at == 0 {
				at = int(clock-began) - linkproto.InitSymbols + 1
			}
		}
		w.rogue.line = append(h.line, linkproto.SymIdle)
		h.begin()
		try.OK(w.Until(5*w.Params.WordTimer, "another life", func() bool { return at > 0 }))
		port.Tap = nil
		h.befall(w.twin)
		w.settle()
		w.compare()
		if earliest == 0 || at < earliest {
			earliest = at
		}
	}
	return earliest
}

// beside has a word said so that its last symbol comes so many clocks after a line's first one, about when something happens. The link must be then as
// if the word had come before that, or behind it, or not at all, as it was torn.
func (w *link) beside(known, up bool, draw func() happening, word func() []linkproto.Symbol, last int) {
	w.bring(known, up)
	w.compare()
	h, peer, key := draw(), linkproto.AppendInit(nil, w.me), w.key()
	said := word()
	outcome := func(before, behind []linkproto.Symbol) *flowctl.Endpoint {
		e := w.again()
		if known {
			e.Feed(peer)
		}
		if up {
			e.Feed(linkproto.AppendWord(nil, key, linkproto.Word{}))
		}
		e.Feed(before)
		h.befall(e)
		e.Feed(behind)
		return e
	}
	torn, behind, before := outcome(nil, nil), outcome(nil, said), outcome(said, nil)
	for i, n := range w.look().counts {
		w.base[i] += n
	}
	w.rogue.line = append(w.rogue.line, h.line...)
	w.rogue.pause(last + 1 - len(said) - len(h.line))
	w.rogue.line = append(w.rogue.line, said...)
	done := h.begin()
	try.OK(w.Until(5*w.Params.WordTimer, "it to happen", done))
	w.settle()
	have, among := w.look(), func(e *flowctl.Endpoint) view {
		v := viewOf(e)
		v.peerStop = v.peerStop && v.known
		return v
	}
	have.peerStop = have.peerStop && have.known // else the next INIT says so
	switch have {
	case among(behind):
		w.twin = behind
		w.count.behind++
	case among(before):
		w.twin = before
		w.count.before++
	case among(torn):
		w.twin = torn
	default:
		try.Failf("the link is %+v, want %+v, %+v or %+v", have, among(before), among(behind), among(torn))
	}
	w.spoke = w.Cycles
	w.greet(false) // which tells the link's checker too whom the network interface knows
	w.settle()
	w.compare()
}

// sweep has words of all kinds come beside something that happens, from so many clocks before it is told until so many behind.
func (w *link) sweep(what string, draw func() happening, states [][2]bool, words []func() []linkproto.Symbol, from, to int) {
	told := w.told(3, draw)
	w.Suite.Log("%s: told after %d clocks", what, told)
	for _, state := range states {
		for i, word := range words {
			for d := from; d <= to; d++ {
				try.Wrap(try.Run(func() { w.beside(state[0], state[1], draw, word, told+d) }), "word %d, known and up %v, %d clocks from %s", i, state, d, what)
			}
		}
	}
}

// initAgain, another, ack and ahead are words of the peer, of another end, and of the peer to this life of the network interface and to its next.
func (w *link) initAgain() []linkproto.Symbol { return w.stopping(w.me) }

func (w *link) another() []linkproto.Symbol { return w.stopping(w.newInit()) }

func (w *link) ack() []linkproto.Symbol {
	return linkproto.AppendWord(nil, w.key(), linkproto.Word{Stop: true})
}

func (w *link) stopping(init linkproto.Init) []linkproto.Symbol {
	init.Stop = true
	w.me = init
	return linkproto.AppendInit(nil, init)
}

// besideNonce sweeps words over the host's writes of NONCE.
func (w *link) besideNonce() {
	draw := func() happening {
		nonce, done := ni.Nonce(w.Rand), false
		return happening{
			line: []linkproto.Symbol{linkproto.SymIdle},
			begin: func() func() bool {
				write := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: nonce}
				try.OK(w.Node.Host.Request(write, func(linkproto.Packet) { done = true }))
				return func() bool { return done }
			},
			befall: func(e *flowctl.Endpoint) { e.SetNonce(nonce) },
		}
	}
	w.sweep("NONCE", draw, [][2]bool{{false, false}, {true, false}, {true, true}}, []func() []linkproto.Symbol{w.initAgain, w.another, w.ack}, -12, 10)
}

// besideSilence sweeps INITs over the end of a link whose peer says nothing else.
func (w *link) besideSilence() {
	draw := func() happening {
		return happening{
			line:  linkproto.AppendWord(nil, w.key(), linkproto.Word{}),
			begin: func() func() bool { return func() bool { return len(w.rogue.line) == 0 } },
			befall: func(e *flowctl.Endpoint) {
				if e.Status().Up {
					e.Restart()
				}
			},
		}
	}
	w.sweep("silence", draw, [][2]bool{{true, true}}, []func() []linkproto.Symbol{w.another}, -8, 2)
}
