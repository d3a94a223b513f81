package cluster

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/topology"
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

// Open is over how many lanes frames go, both ways.
func (c *CableLook) Open() int { return bits.OnesCount8(c.Ways[0].Lanes & c.Ways[1].Lanes) }

// WayLook is one direction of a cable, by what its sender says. It counts from Watch on, over all lanes.
type WayLook struct {
	Up       bool   `json:"up"`       // the sender has the link up
	Lanes    uint8  `json:"lanes"`    // on which it says that it hears the other end, a bit each
	Stop     bool   `json:"stop"`     // it says STOP, to what the other end sends
	Stopped  uint64 `json:"stopped"`  // clocks in which it did
	Symbols  uint64 `json:"symbols"`  // that were sent; a lane carries one a clock
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

// Listener is told what is sent by one direction of a cable, 0 from the first end, over which lane, in which clock.
type Listener func(way, lane int, clock uint64, s linkproto.Symbol)

// watch is what looks at a cluster. Its lock is for what runs of the cluster leave there.
type watch struct {
	sync.Mutex
	clocks    uint64
	beats     [2 * topology.MaxLanes][]verilator.Beat
	symbols   []linkproto.Symbol
	heard     []heard
	switches  []SwitchLook
	listeners map[int][]*Listener // by cable
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
		for i := range n.cables {
			for way, lanes := range n.cables[i].ways {
				sent := &sent{}
				n.cables[i].sent[way] = sent
				for lane, w := range lanes {
					w.tap = &tap{head: linkproto.NewDeframer(linkproto.MaxRoute(n.config.Params.PageBytes)), clock: n.Cycles}
					if clock := w.from.clock; clock != nil && !w.from.serial { // what a serial line carries is not looked at
						w.tap.sink = try.Get(clock.Model().Sink(verilator.Channel{Clock: clock, Data: w.from.tx, Idle: &idle, Depth: depth}))
						w.tap.skew = clock.Cycles() - n.Cycles
					}
					w.tap.head.TakeAny()
					sent.say(lane, true, false, n.Cycles) // as Open leaves them
				}
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
		for i, sent := range c.sent {
			look.Ways[i] = sent.look
			if sent.look.Stop {
				look.Ways[i].Stopped += l.Clocks - sent.since
			}
			look.Ways[i].Underway = sent.underway(c.sent[1-i])
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
		all := w.heard[:0]
		for j, lanes := range n.cables[i].ways {
			sent := n.cables[i].sent[j]
			sent.look.Errors = 0
			for lane, way := range lanes {
				beats := way.tap.read(w.beats[len(all)])
				if len(beats) > 0 {
					w.symbols = w.symbols[:0]
					for _, b := range beats {
						w.symbols = append(w.symbols, linkproto.Symbol(b.Data))
					}
					sent.hear(lane, way.tap.head, w.symbols, w.clocks)
				}
				sent.look.Errors += way.errors()
				all = append(all, heard{j, lane, beats})
			}
		}
		for _, l := range w.listeners[i] {
			tell(*l, slices.Clone(all))
		}
		w.heard = all
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
