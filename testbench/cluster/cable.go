package cluster

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// cable is one of the topology as it runs: from its first end to the second, and back.
type cable struct {
	ways [2][]*way // by lane
	sent [2]*sent  // nil until Watch
	cut  bool
	dead [2]uint8 // by way: lanes that are cut, a bit each
}

// all are the ways of all lanes.
func (c *cable) all() []*way { return slices.Concat(c.ways[:]...) }

// socket is an end of a cable: fields of a model of Verilator's, or a port of a node in Go, or of one that another part simulates.
type socket struct {
	clock  *verilator.Clock
	rx, tx string
	end    ni.End // nil: clock, rx and tx
	serial bool   // rx and tx are of one wire
	away   bool   // nothing of these
}

// way is one direction of a cable's lane. Verilator carries what comes to RTL, if need be from outside; what comes to a model waits in line.
type way struct {
	from, to socket
	link     *verilator.Link // nil: from a model to a model
	line     *line           // nil: to RTL
	tap      *tap            // nil until Watch
	crosses  bool            // from one part to another: out is what this one has sent
	out      []uint64
	symbols  [quantum]linkproto.Symbol
	samples  [quantum]uint64
}

// join makes a cable's way from one socket to another. What comes to a model takes a quantum at least, since that is how long each runs by itself.
func join(c topology.Cable, from, to socket, rng *testbench.Rand) *way {
	w := &way{from: from, to: to, crosses: from.away != to.away}
	seed := rng.Uint64()
	if from.away && to.away {
		return w
	}
	if to.end != nil {
		w.line = newLine(max(c.Latency, quantum), c.BitErrorRate, testbench.NewRand(seed).Split("line"))
	}
	if from.clock != nil || to.clock != nil {
		config := verilator.LinkConfig{
			From: from.clock, Output: from.tx, To: to.clock, Input: to.rx,
			Latency: c.Latency, Idle: to.idle(), BitErrorRate: c.BitErrorRate, Seed: seed,
		}
		w.link = try.Get(verilator.Connect(config))
	}
	return w
}

// arrive gives a model what comes to it in the next n clocks.
func (w *way) arrive(n int) {
	if w.line == nil {
		return
	}
	if symbols := w.line.get(w.symbols[:n]); len(symbols) > 0 {
		w.to.end.Feed(symbols)
	}
}

// depart takes what a model sends in the next n clocks.
func (w *way) depart(n int) {
	if w.from.end == nil {
		return
	}
	sent := w.symbols[:n]
	emitted := w.from.end.Emit(sent)
	w.from.end.Tick(n)
	if w.tap != nil {
		w.tap.take(sent[:emitted], n)
	}
	if w.line != nil && !w.crosses {
		w.line.put(sent, emitted)
		return
	}
	for i := range w.samples[:n] {
		w.samples[i] = uint64(linkproto.SymIdle)
		if i < emitted {
			w.samples[i] = uint64(sent[i])
		}
	}
	w.send(n)
}

// send sends samples of n clocks.
func (w *way) send(n int) {
	if w.crosses {
		w.out = append(w.out, w.samples[:n]...)
	} else {
		w.put(w.samples[:n])
	}
}

// sent takes what RTL has sent to a model, or to another part, in the last clocks.
func (w *way) sent(n int) {
	if w.from.clock == nil || w.to.clock != nil {
		return
	}
	w.send(w.link.Take(w.samples[:n]))
}

// put brings what has been sent to the way's end.
func (w *way) put(samples []uint64) {
	if w.line == nil {
		w.link.Put(samples)
		return
	}
	for i, s := range samples {
		w.symbols[i] = linkproto.Symbol(s)
	}
	w.line.put(w.symbols[:len(samples)], len(samples))
}

// errors is how many bits the way has turned over.
func (w *way) errors() (n uint64) {
	if w.line != nil {
		n = w.line.bad
	}
	if w.link != nil {
		n += w.link.Stats().BitErrors
	}
	return n
}

func (w *way) plug(in bool) error {
	switch {
	case w.to.away:
		return nil
	case w.line != nil:
		w.line.out = !in
		return nil
	case in:
		return w.link.Plug()
	}
	return w.link.Unplug(w.to.idle())
}

// line holds the symbols that are underway.
type line struct {
	ring []linkproto.Symbol
	at   int
	busy int  // of them, from the oldest on, that may be other than IDLE
	out  bool // pulled: nothing arrives
	rate float64
	bad  uint64 // bits that have not arrived right
	good int    // bits that arrive right before the next one that does not
	rng  *testbench.Rand
}

func newLine(latency int, rate float64, rng *testbench.Rand) *line {
	l := &line{rate: rate, rng: rng}
	for range latency {
		l.ring = append(l.ring, linkproto.SymIdle)
	}
	l.good = l.gap()
	return l
}

// gap draws how many bits arrive right between two that do not.
func (l *line) gap() int {
	const forever = 1e18 // as cables between RTL have it
	switch {
	case l.rate <= 0:
		return forever
	case l.rate >= 1:
		return 0
	}
	return int(min(math.Log(1-l.rng.Float64())/math.Log1p(-l.rate), forever))
}

// damage changes how often bits arrive wrong.
func (l *line) damage(rate float64) {
	l.rate = rate
	l.good = l.gap()
}

// get takes the oldest symbols, as they arrive: none where all are IDLE. As many are to be put then, or before.
func (l *line) get(dst []linkproto.Symbol) []linkproto.Symbol {
	idle := l.out || l.busy == 0
	switch {
	case idle && l.rate <= 0:
		return nil
	case idle:
		fillIdle(dst)
	default:
		n := copy(dst, l.ring[l.at:])
		copy(dst[n:], l.ring)
	}
	if l.rate > 0 {
		for ; l.good < symbolBits*len(dst); l.good += 1 + l.gap() {
			dst[l.good/symbolBits] ^= 1 << (l.good % symbolBits)
			l.bad++
		}
		l.good -= symbolBits * len(dst)
	}
	return dst
}

const symbolBits = 9

// put puts symbols in behind those that are there, in the place of those taken last: so many that have been sent, and IDLE in the place of the others.
func (l *line) put(symbols []linkproto.Symbol, sent int) {
	switch {
	case sent > 0:
		l.busy = len(l.ring) - len(symbols) + sent
	case l.busy == 0: // all are IDLE, wherever they begin
		return
	default:
		l.busy = max(l.busy-len(symbols), 0)
	}
	fillIdle(symbols[sent:])
	n := copy(l.ring[l.at:], symbols)
	if l.at += n; l.at == len(l.ring) {
		l.at = copy(l.ring, symbols[n:])
	}
}

func fillIdle(symbols []linkproto.Symbol) {
	for i := range symbols {
		symbols[i] = linkproto.SymIdle
	}
}

// CableNamed finds a cable by its ends, as in "n0:1-s0:1", in any order, or by one of them.
func (n *Cluster) CableNamed(name string) (index int, err error) {
	t := n.Topology
	for i, c := range t.Cables {
		a, b := t.EndName(c.Ends[0]), t.EndName(c.Ends[1])
		switch strings.ReplaceAll(name, " ", "") {
		case a + "-" + b, b + "-" + a, a, b:
			return i, nil
		}
	}
	return 0, fmt.Errorf("cluster: no cable %q: want its two ends, as in %q", name, t.EndName(t.Cables[0].Ends[0])+"-"+t.EndName(t.Cables[0].Ends[1]))
}
