package cluster

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster/parts"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Parts says how a cluster is split over processes: each simulates some nodes, and this one has their hosts.
type Parts struct {
	Count   int
	Version string // of this program: parts of another are refused
	Listen  string // address at which the parts reach this process
	// Launch starts Count processes that call parts.Work with OpenPart. A part that ends before its time calls failed.
	Launch func(ctx context.Context, address, token string, failed func(error)) error
}

// setup is what a part is told at first.
type setup struct {
	Topology []byte // its file
	Config   Config
}

// partOrder is one of the coordinator's.
type partOrder struct {
	Do    orderKind
	Hosts [][]linkproto.Symbol // to run: what the hosts of the part's network interfaces send, in their order
	Turn  bool                 // the hosts send and receive; else they let it wait
	Cable int                  // to pull or to plug in
	Saved Saved                // to go on from
}

type orderKind int

const (
	orderRun orderKind = iota
	orderHold
	orderRelease
	orderPull
	orderPlug
	orderStatus
	orderSave
	orderRestore
)

// partAnswer is what has come for the hosts, or the status of all ports of the part's nodes, 0 and up, or the part's state.
type partAnswer struct {
	Hosts  [][]linkproto.Symbol
	Status [][]portStatus
	Saved  Saved
}

type portStatus struct {
	Value uint32
	Known bool
}

// messages are what goes one way between the coordinator and a part: only the first describes its types.
type messages struct {
	buffer bytes.Buffer
	out    *gob.Encoder
	in     *gob.Decoder
}

func (m *messages) encode(v any) []byte {
	m.buffer.Reset()
	if m.out == nil {
		m.out = gob.NewEncoder(&m.buffer)
	}
	try.OK(m.out.Encode(v))
	return bytes.Clone(m.buffer.Bytes())
}

func (m *messages) decode(data []byte, v any) error {
	m.buffer.Write(data)
	if m.in == nil {
		m.in = gob.NewDecoder(&m.buffer)
	}
	return m.in.Decode(v)
}

// partition says which part each node belongs to: NIs in the topology's order, as many to each, and a switch to the part with which it has most cables.
func partition(t *topology.Topology, peers [][]int, parts int) []int {
	of := make([]int, len(t.Nodes))
	nis, seen := t.Count(topology.NI), 0
	for i, node := range t.Nodes {
		of[i] = -1
		if node.Kind == topology.NI {
			of[i] = seen * parts / nis
			seen++
		}
	}
	for slices.Contains(of, -1) { // from the NIs outwards
		found := slices.Clone(of)
		for i := range t.Nodes {
			votes := make([]int, parts)
			for _, p := range peers[i] {
				if p >= 0 && of[p] >= 0 {
					votes[of[p]]++
				}
			}
			if most := slices.Max(votes); of[i] < 0 && most > 0 {
				found[i] = slices.Index(votes, most)
			}
		}
		of = found
	}
	return of
}

// part is a part of a cluster, in a process of its own.
type part struct {
	*Cluster
	crossing  map[int][]*way // by the part at the other end, in the topology's order
	lookahead int

	orders, answers messages
}

// OpenPart makes what a part simulates, from what the coordinator says.
func OpenPart(ctx context.Context, number, count int, data []byte) (parts.Site, error) {
	var s setup
	err := new(messages).decode(data, &s)
	if err != nil {
		return nil, err
	}
	if s.Config.Topology, err = topology.Read(bytes.NewReader(s.Topology)); err != nil {
		return nil, err
	}
	n := newCluster(ctx, s.Config)
	n.here = number
	p := &part{Cluster: n, crossing: map[int][]*way{}, lookahead: quantum}
	err = try.Run(func() {
		n.of = partition(n.Topology, n.peers, count)
		if n.config.Preload {
			n.Tables = try.Get(routing.Build(n.Topology, n.config.Routing))
		}
		n.build(s.Config)
	})
	for i, c := range n.cables {
		for _, w := range c.all() {
			if !w.crosses {
				continue
			}
			ends := n.Topology.Cables[i].Ends
			other := n.of[ends[0].Node] + n.of[ends[1].Node] - number
			p.crossing[other] = append(p.crossing[other], w)
			p.lookahead = min(p.lookahead, n.crossing(n.Topology.Cables[i]))
			if w.from.clock != nil {
				n.leaving = append(n.leaving, w)
			}
		}
	}
	return p, err
}

func (p *part) Lookahead() int { return p.lookahead }

func (p *part) Peers() []int { return slices.Sorted(maps.Keys(p.crossing)) }

func (p *part) Run(clocks int) error { return clockwork{p.Cluster}.Run(uint64(clocks)) }

func (p *part) Take(part int, dst []uint64) []uint64 {
	for _, w := range p.crossing[part] {
		dst = append(dst, w.out...)
		w.out = w.out[:0]
	}
	return dst
}

func (p *part) Put(part int, samples []uint64) error {
	var to []*way
	for _, w := range p.crossing[part] {
		if w.from.away {
			to = append(to, w)
		}
	}
	n := len(samples) / max(len(to), 1)
	if n*len(to) != len(samples) {
		return fmt.Errorf("cluster: part %d sent %d samples for %d cables", part, len(samples), len(to))
	}
	for i, w := range to {
		w.put(samples[n*i : n*(i+1)])
	}
	return nil
}

// Do carries out an order.
func (p *part) Do(data []byte, clocks int, run func() error) ([]byte, error) {
	var o partOrder
	err := p.orders.decode(data, &o)
	if err != nil {
		return nil, err
	}
	var a partAnswer
	switch o.Do {
	case orderHold, orderRelease:
		err = p.hold(o.Do == orderHold)
	case orderPull, orderPlug:
		err = p.plugCable(o.Cable, o.Do == orderPlug)
	case orderSave:
		err = try.Run(func() { a.Saved = p.save() })
	case orderRestore:
		err = p.restore(o.Saved)
	case orderStatus:
		for i, node := range p.nodes {
			var all []portStatus
			for port := range p.peers[i] {
				value, known := node.status(port)
				all = append(all, portStatus{value, known})
			}
			a.Status = append(a.Status, all)
		}
	default:
		for i, symbols := range o.Hosts {
			p.hostPorts[i].put(symbols)
		}
		err = run()
		a.Hosts = make([][]linkproto.Symbol, len(p.hostPorts))
		for i, port := range p.hostPorts {
			if o.Turn {
				a.Hosts[i] = port.get(clocks)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return p.answers.encode(a), nil
}

// hostPort is the host port of a network interface whose host the coordinator has.
type hostPort interface {
	put(symbols []linkproto.Symbol)
	get(clocks int) []linkproto.Symbol // what has come in the last clocks
}

// modelPort is that of a model.
type modelPort struct{ end ni.End }

func (p *modelPort) put(symbols []linkproto.Symbol) { p.end.Feed(symbols) }

func (p *modelPort) get(clocks int) []linkproto.Symbol {
	symbols := make([]linkproto.Symbol, clocks)
	symbols = symbols[:p.end.Emit(symbols)]
	p.end.Tick(clocks)
	return symbols
}

// pins are that of RTL.
type pins struct {
	source *verilator.Source
	sink   *verilator.Sink
}

// pinsDepth is how many symbols wait between the host and the pins at most.
const pinsDepth = 2048

func openPins(m *verilator.Model, rx, tx string) *pins {
	idle := uint64(linkproto.SymIdle)
	return &pins{
		try.Get(m.Source(verilator.Channel{Data: rx, Idle: &idle, Depth: pinsDepth})),
		try.Get(m.Sink(verilator.Channel{Data: tx, Idle: &idle, Depth: pinsDepth})),
	}
}

func (p *pins) put(symbols []linkproto.Symbol) {
	for _, s := range symbols {
		p.source.Put(uint64(s), false)
	}
}

func (p *pins) get(int) (symbols []linkproto.Symbol) {
	for b, ok := p.sink.Get(); ok; b, ok = p.sink.Get() {
		symbols = append(symbols, linkproto.Symbol(b.Data))
	}
	return symbols
}
