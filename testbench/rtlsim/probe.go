package rtlsim

import (
	"errors"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Of the clock count, as module board_ni has it: the bit that lamp alive is, and the first of those that change when the other lamps go out.
const (
	aliveBit = 25
	roundBit = 22
)

// watch looks at an NI from outside.
type watch struct {
	sinks  []*verilator.Sink // what it says, by link
	looped []bool            // some link of its own hears that
	heads  []*linkproto.Deframer
	beats  []verilator.Beat

	mu         sync.Mutex
	look       hostdrv.StatusProbe
	host, link uint64 // clocks at which the lines were last seen to be busy, and 1
}

func newWatch(p rtl.Params, m *verilator.Model, looped []bool) *watch {
	if p.LinkPHY != rtl.Direct {
		try.Failf("rtlsim: only links with the direct PHY can be watched")
	}
	w := &watch{looped: looped, beats: make([]verilator.Beat, chunk)}
	w.look.Links = make([]hostdrv.LinkView, p.Links)
	idle := uint64(linkproto.SymIdle)
	for link := 1; link <= p.Links; link++ {
		_, tx := p.Lines(link)
		head := linkproto.NewDeframer(p.MaxPacket())
		head.TakeAny() // who hears it is not watched
		w.heads = append(w.heads, head)
		w.sinks = append(w.sinks, try.Get(m.Sink(verilator.Channel{Data: tx, Idle: &idle, Depth: chunk})))
	}
	return w
}

// passed comes after each run of some clocks, at most chunk. host and link say whether something came by the host's line and by wires.
func (w *watch) passed(clocks int, host, link bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look.Clocks += uint64(clocks)
	if host {
		w.host = w.look.Clocks + 1
	}
	if link {
		w.link = w.look.Clocks + 1
	}
	for i, s := range w.sinks {
		for _, b := range w.beats[:s.Read(w.beats)] {
			if w.looped[i] {
				w.link = w.look.Clocks + 1
			}
			event, _ := w.heads[i].Next([]linkproto.Symbol{linkproto.Symbol(b.Data)})
			say(&w.look.Links[i], event)
		}
	}
}

func (w *watch) now() hostdrv.StatusProbe {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.look
	l.Links = append([]hostdrv.LinkView(nil), l.Links...)
	lit := func(at uint64) bool { return at > 0 && (at-1)>>roundBit == l.Clocks>>roundBit }
	l.Alive, l.Host, l.Link = l.Clocks>>aliveBit&1 != 0, lit(w.host), lit(w.link)
	return l
}

// say keeps what a word says of the NI that sends it. It names its life until the link is up.
func say(o *hostdrv.LinkView, e linkproto.Event) {
	switch e.Kind {
	case linkproto.EventInit:
		o.Up, o.Stop, o.Life = false, e.Init.Stop, e.Init.Life
	case linkproto.EventWord:
		o.Up, o.Stop = true, e.Word.Stop
	}
}

// Watch is for hostdrv.Observable.
func (t Target) Watch() error { return t.network.Between(t.network.sim.startWatch) }

// Probe is for hostdrv.Observable.
func (t Target) Probe() hostdrv.StatusProbe { return t.network.sim.nodes[0].watch.now() }

// startWatch looks at the only NI.
func (s *simulation) startWatch() error {
	if s.renew != nil {
		return errors.New("rtlsim: a chip cannot be watched, only RTL")
	}
	return try.Run(func() { s.nodes[0].watch = newWatch(s.params, s.nodes[0].model, s.looped) })
}
