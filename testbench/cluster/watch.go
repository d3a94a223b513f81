package cluster

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

// Look is what can be seen of a cluster from outside, at its cables and switches.
type Look struct {
	Clocks   uint64       `json:"clocks"`
	Cables   []CableLook  `json:"cables"`   // in the topology's order
	Switches []SwitchLook `json:"switches"` // likewise, those that tell
}

// CableLook is a cable: what its first end sends, and what the second does.
type CableLook struct {
	Cut  bool       `json:"cut"`
	Ways [2]WayLook `json:"ways"`
}

// WayLook is one direction of a cable, of its first lane, by what its sender says. It counts from Watch on.
type WayLook struct {
	Up       bool   `json:"up"`       // the sender has the link up
	Stop     bool   `json:"stop"`     // it says STOP, to what the other end sends
	Stopped  uint64 `json:"stopped"`  // clocks in which it did
	Symbols  uint64 `json:"symbols"`  // clocks in which something was sent
	Frames   uint64 `json:"frames"`   // whole ones
	Again    uint64 `json:"again"`    // of them, those that had been sent before
	Words    uint64 `json:"words"`    // link state words
	Errors   uint64 `json:"errors"`   // bits that the cable has turned over
	Underway int    `json:"underway"` // frames that have been sent, and not been acknowledged
}

// SwitchLook is what a switch has dropped.
type SwitchLook struct {
	Node int    `json:"node"` // in Topology.Nodes
	Bad  uint64 `json:"bad"`  // what is no good ROUTE
	Lost uint64 `json:"lost"` // packets without a way
	Hops uint64 `json:"hops"` // packets that had no hops left
	Late uint64 `json:"late"` // packets whose cable has died when their turn had come
}

// Listener is told what is sent by one direction of a cable, 0 from the first end, in which clock.
type Listener func(way int, clock uint64, s linkproto.Symbol)

// watch is what looks at a cluster. Its lock is for what runs of the cluster leave there.
type watch struct {
	sync.Mutex
	clocks    uint64
	beats     [2][]verilator.Beat
	symbols   []linkproto.Symbol
	switches  []SwitchLook
	listeners map[int][]*Listener // by cable
}

// tap looks at one direction of a cable.
type tap struct {
	sink  *verilator.Sink  // of RTL; nil for a model
	skew  uint64           // of the sink's clock
	sent  []verilator.Beat // by a model, and not looked at yet
	clock uint64           // for the model, how many have passed
	head  *linkproto.Deframer
	look  WayLook
	since uint64 // clock since which it says STOP
	next  uint8  // number behind that of the newest frame
	acked uint8  // what the sender wants next of the other direction
	life  linkproto.Life
}

// dropper is a switch that tells what it has dropped.
type dropper interface{ dropped() SwitchLook }

// Watch begins to look at all cables and switches.
func (n *Cluster) Watch() error {
	if n.group != nil {
		return errParts
	}
	n.watch.Lock()
	defer n.watch.Unlock()
	return try.Run(func() {
		depth := 4 * quantum
		idle := uint64(linkproto.SymIdle)
		for _, c := range n.cables {
			for _, w := range c.ways {
				w.tap = &tap{head: linkproto.NewDeframer(linkproto.MaxRoute(n.config.Params.PageBytes)), clock: n.Cycles}
				if clock := w.from.clock; clock != nil && !w.from.serial { // what a serial line carries is not looked at
					w.tap.sink = try.Get(clock.Model().Sink(verilator.Channel{Clock: clock, Data: w.from.tx, Idle: &idle, Depth: depth}))
					w.tap.skew = clock.Cycles() - n.Cycles
				}
				w.tap.head.TakeAny()
				w.tap.look.Up = true // as Open leaves them
			}
		}
		n.watch.clocks = n.Cycles
		for i := range n.watch.beats {
			n.watch.beats[i] = make([]verilator.Beat, depth)
		}
		n.watch.listeners = map[int][]*Listener{}
	})
}

// Look is what can be seen now, after Watch. It does not wait for a run in progress.
func (n *Cluster) Look() (l Look) {
	n.watch.Lock()
	defer n.watch.Unlock()
	l.Clocks = n.watch.clocks
	for _, c := range n.cables {
		look := CableLook{Cut: c.cut}
		for i, w := range c.ways {
			look.Ways[i] = w.tap.look
			if w.tap.look.Stop {
				look.Ways[i].Stopped += l.Clocks - w.tap.since
			}
			if underway := w.tap.next - c.ways[1-i].tap.acked; underway <= linkproto.MaxWindow {
				look.Ways[i].Underway = int(underway)
			}
		}
		l.Cables = append(l.Cables, look)
	}
	l.Switches = slices.Clone(n.watch.switches)
	return l
}

// Busy reports whether something is on its way by a cable, or a link of a cable that is not cut is down.
func (l *Look) Busy() bool {
	return slices.ContainsFunc(l.Cables, func(c CableLook) bool {
		return !c.Cut && slices.ContainsFunc(c.Ways[:], func(w WayLook) bool { return !w.Up || w.Underway > 0 })
	})
}

// Listen calls f for each symbol but IDLE on a cable from now on, until stop is called, after Watch. It comes from where the cluster runs, which waits for it.
func (n *Cluster) Listen(index int, f Listener) (stop func(), err error) {
	if index < 0 || index >= len(n.cables) {
		return nil, fmt.Errorf("cluster: no cable %d, they count from 0 to %d", index, len(n.cables)-1)
	}
	n.watch.Lock()
	defer n.watch.Unlock()
	n.watch.listeners[index] = append(n.watch.listeners[index], &f)
	return func() {
		n.watch.Lock()
		defer n.watch.Unlock()
		n.watch.listeners[index] = slices.DeleteFunc(n.watch.listeners[index], func(l *Listener) bool { return l == &f })
	}, nil
}

// ran takes what has been sent in the last clocks that have run.
func (n *Cluster) ran() {
	w := &n.watch
	w.Lock()
	defer w.Unlock()
	if w.listeners == nil {
		return
	}
	w.clocks = n.Cycles
	for i := range n.cables {
		var beats [2][]verilator.Beat
		for j, way := range n.cables[i].ways {
			beats[j] = way.tap.read(w.beats[j])
			w.symbols = w.symbols[:0]
			for _, b := range beats[j] {
				w.symbols = append(w.symbols, linkproto.Symbol(b.Data))
			}
			way.tap.heard(w.symbols, w.clocks)
			way.tap.look.Errors = way.errors()
		}
		for _, l := range w.listeners[i] {
			tell(*l, beats)
		}
	}
	w.switches = w.switches[:0]
	for i, node := range n.nodes {
		if d, tells := node.(dropper); tells {
			look := d.dropped()
			look.Node = i
			w.switches = append(w.switches, look)
		}
	}
}

// take takes what a model sends in the next clocks, a symbol each.
func (t *tap) take(symbols []linkproto.Symbol) {
	for i, s := range symbols {
		if s != linkproto.SymIdle {
			t.sent = append(t.sent, verilator.Beat{Data: uint64(s), Cycle: t.clock + uint64(i) + 1})
		}
	}
	t.clock += uint64(len(symbols))
}

// read returns what has been sent since it was called last, in memory that is there for it, or its own until take.
func (t *tap) read(into []verilator.Beat) (beats []verilator.Beat) {
	if t.sink == nil {
		beats, t.sent = t.sent, t.sent[:0]
		return beats
	}
	beats = into[:t.sink.Read(into)]
	for i := range beats {
		beats[i].Cycle -= t.skew
	}
	return beats
}

// tell tells what both directions have sent, in the order of clocks.
func tell(l Listener, beats [2][]verilator.Beat) {
	for len(beats[0])+len(beats[1]) > 0 {
		way := 0
		if len(beats[0]) == 0 || len(beats[1]) > 0 && beats[1][0].Cycle < beats[0][0].Cycle {
			way = 1
		}
		b := beats[way][0]
		beats[way] = beats[way][1:]
		l(way, b.Cycle, linkproto.Symbol(b.Data))
	}
}

// heard takes symbols that were sent until now.
func (t *tap) heard(symbols []linkproto.Symbol, now uint64) {
	t.look.Symbols += uint64(len(symbols))
	for len(symbols) > 0 {
		e, n := t.head.Next(symbols)
		symbols = symbols[n:]
		switch e.Kind {
		case linkproto.EventFrame:
			t.look.Frames++
			if behind := t.next - 1 - e.Seq; behind < linkproto.MaxWindow {
				t.look.Again++
			} else {
				t.next = e.Seq + 1
			}
		case linkproto.EventInit:
			t.look.Words++
			t.say(false, e.Init.Stop, now)
			if e.Init.Life != t.life {
				t.life, t.next, t.acked = e.Init.Life, 0, 0
			}
		case linkproto.EventWord:
			t.look.Words++
			t.say(true, e.Word.Stop, now)
			t.acked = e.Word.Value
		}
	}
}

// say keeps what a word says.
func (t *tap) say(up, stop bool, now uint64) {
	switch {
	case stop && !t.look.Stop:
		t.since = now
	case !stop && t.look.Stop:
		t.look.Stopped += now - t.since
	}
	t.look.Up, t.look.Stop = up, stop
}
