package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

// Workload is what the hosts of a network are to send: each network interface makes messages on its own, whether or not the network takes them, at
// times that are a Poisson process. Messages are remote writes, of several packets where they are longer than a page.
type Workload struct {
	Pattern     string // one of Patterns
	Least, Most int    // bytes of a message, each size between them as likely
	Sample      int    // clocks of a sample; 0: 20,000. At a low load one is as long as it takes to make some 200 messages
	Samples     int    // taken at most, beside the first, which is for the beginning; 0: 10
}

// Loads and sizes that a workload may have.
const (
	MaxLoad    = 2.0
	MinMessage = 8
	MaxMessage = 8192
)

// State says whether the samples of a point agree.
type State string

// The states of a point.
const (
	Steady    State = "steady"        // in three samples in a row, what is offered arrives, and their mean latencies agree
	Saturated State = "saturated"     // less than what is offered arrives, as much in each of three samples; latencies grow for as long as it goes on
	Unsettled State = "not converged" // neither, in any three samples
)

// Point is what a network does at a load. Loads are shares of the symbols of a link, of all its lanes, that frames of the messages take, ROUTE, CRC and all:
// 1 is what a link between two nodes carries when it says nothing else. They are means over all network interfaces that send.
type Point struct {
	Load     float64 `json:"load"`     // asked for
	Offered  float64 `json:"offered"`  // made, in the samples that agree
	Accepted float64 `json:"accepted"` // arrived
	Payload  float64 `json:"payload"`  // bytes of messages that arrived, per clock and network interface that sends
	State    State   `json:"state"`
	Clocks   int     `json:"clocks"`  // of a sample
	Samples  int     `json:"samples"` // that were taken
	Messages int     `json:"messages"`
	Latency  Latency `json:"latency"` // of the messages that arrived
}

// Latency is in clocks, from the clock in which the first symbol of a message could have been on its host's cable until all of it is in the receive buffer.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p999"`
	Max  int64   `json:"max"`
}

const (
	defaultSample  = 20_000
	defaultSamples = 10
	fewest         = 200  // messages made in a sample, or thereabouts
	agreeing       = 3    // samples in a row
	tolerance      = 0.05 // by which accepted loads may differ from what is offered, or from their mean
	latencyApart   = 0.10 // by which mean latencies may differ from theirs
	longest        = 1 << 40
)

// Bench is a network under a workload. Its cluster must tell of Arrivals.
type Bench struct {
	Bound   float64 // the load at which the busiest direction of a cable is full: no network with these tables carries more
	Senders int     // network interfaces that send by the pattern

	run     *run
	sources []*source
	since   uint64 // clock of Begin
}

type run struct {
	*Cluster
	work    Workload
	pattern pattern
	page    int
	payload []byte
	gap     float64 // mean clocks between two messages of a source
	few     bool    // hosts have two packets on a cable of one lane at most, behind which what they ask for has to wait
	flights flights
	samples []*sample
}

// sample is what happened in some clocks. Made and came are symbols of frames.
type sample struct {
	made, came, latency float64
	payload, messages   int
	histogram           *hdrhistogram.Histogram
}

func newSample() *sample { return &sample{histogram: hdrhistogram.New(1, longest, 3)} }

func (r *run) sample() *sample { return r.samples[len(r.samples)-1] }

// watchedDesign is a network interface that tells what arrives.
func watchedDesign(p rtl.Params) verilator.Design {
	values := map[string]int{
		"LINKS": p.Links, "FRAMES": p.Frames, "PAGE_BYTES": p.PageBytes, "REPLAY_BYTES": p.ReplayBytes, "RX_BYTES": p.RxBytes,
		"HEADROOM": p.Headroom, "ROUTER": p.Router, "ACK_DELAY": p.AckDelay, "WIDTH": p.Width, "LANES": p.Lanes, "HOST_LANES": p.HostLanes,
	}
	if p.Barriers {
		values["BARRIER"] = 1
	}
	return probe.Design("ni_watched", values)
}

// NewBench has the hosts of a network ready for a workload. The network is for nothing else from then on.
func (n *Cluster) NewBench(w Workload) (b *Bench, err error) {
	if !n.config.Arrivals {
		return nil, errors.New("cluster: a bench needs network interfaces that tell what arrives: set Config.Arrivals")
	}
	w = w.withDefaults()
	if err := w.Check(n.Topology); err != nil {
		return nil, err
	}
	if n.NIs[0].Far != nil {
		return nil, errors.New("cluster: the network is under another workload: open a new one")
	}
	err = try.Run(func() {
		r := &run{Cluster: n, work: w, pattern: try.Get(newPattern(w.Pattern, n.Topology)), page: n.config.Params.PageBytes}
		r.payload = n.rng.Split("payload").Bytes(r.page)
		b = &Bench{run: r, Bound: n.bound(r.pattern)}
		for i := range n.NIs {
			b.sources = append(b.sources, r.source(i))
			if r.pattern.sends(i, len(n.NIs)) {
				b.Senders++
			}
		}
	})
	return b, err
}

func (w Workload) withDefaults() Workload {
	w.Sample, w.Samples = cmp.Or(w.Sample, defaultSample), cmp.Or(w.Samples, defaultSamples)
	return w
}

// Check says what is wrong with a workload for a topology.
func (w Workload) Check(t *topology.Topology) error {
	w = w.withDefaults()
	switch {
	case w.Least < MinMessage || w.Most > MaxMessage || w.Least > w.Most:
		return fmt.Errorf("cluster: messages of %d to %d bytes: want %d to %d", w.Least, w.Most, MinMessage, MaxMessage)
	case w.Sample < quantum || w.Samples < agreeing:
		return fmt.Errorf("cluster: %d samples of %d clocks: want %d of %d at least", w.Samples, w.Sample, agreeing, quantum)
	}
	_, err := newPattern(w.Pattern, t)
	return err
}

// source attaches a source to a network interface's host port.
func (r *run) source(index int) *source {
	at := r.NIs[index]
	m, ok := r.nodes[at.Node].(*rtlNI)
	if !ok {
		try.Failf("cluster: node %s is a model, which tells nobody what arrives: have it run as rtl", r.name(at))
	}
	s := &source{NI: at, index: index, run: r, clock: m.clock, rng: r.rng.Split(fmt.Sprint("source ", index)), beats: make([]verilator.Beat, 64)}
	s.lines = make([][]linkproto.Symbol, at.Params.HostLanes)
	at.Far = s
	for link := range at.Params.Links {
		arrived := fmt.Sprintf("arrived[%d:%d]", 33*link+32, 33*link)
		s.sinks = append(s.sinks, try.Get(m.Sink(verilator.Channel{Data: arrived, Idle: new(uint64(0)), Depth: 64})))
	}
	return s
}

// sends reports whether an NI sends anything.
func (p pattern) sends(from, n int) bool {
	for to := range n {
		if p.share(from, to) > 0 {
			return true
		}
	}
	return false
}

// At offers a load until samples agree, and then lets the network run empty.
func (b *Bench) At(load float64) (p Point, err error) {
	if !(load > 0 && load <= MaxLoad) {
		return p, fmt.Errorf("cluster: load %v: want more than 0 and at most %v of a link", load, MaxLoad)
	}
	return p, try.Run(func() {
		p = b.measure(load)
		b.settle()
	})
}

func (b *Bench) measure(load float64) Point {
	r := b.run
	clocks := b.begin(load)
	r.samples = []*sample{newSample()}
	b.pass(clocks)
	state := Unsettled
	for taken := 1; taken <= r.work.Samples && state == Unsettled; taken++ {
		r.samples = append(r.samples, newSample())
		b.pass(clocks)
		if taken >= agreeing {
			state = agree(r.samples[len(r.samples)-agreeing:])
		}
	}
	p := b.point(r.samples[len(r.samples)-agreeing:], clocks)
	p.Load, p.State, p.Samples = load, state, len(r.samples)-1
	return p
}

// begin has messages made from now on, and returns the clocks of a sample.
func (b *Bench) begin(load float64) (clocks int) {
	r := b.run
	sizes, all := r.work.Most-r.work.Least+1, 0
	for size := r.work.Least; size <= r.work.Most; size++ {
		all += messageSymbols(size, r.page)
	}
	r.gap = float64(all) / float64(sizes) / load / float64(r.lanes(0))
	clocks = max(r.work.Sample, int(fewest*r.gap)/b.Senders)
	clocks = (clocks + quantum - 1) / quantum * quantum
	for _, s := range b.sources {
		if s.active = r.pattern.sends(s.index, len(b.sources)); s.active {
			s.due = float64(s.clock.Cycles()+2) - math.Log(1-s.rng.Float64())*r.gap
		}
	}
	return clocks
}

// pass runs at least so many clocks.
func (b *Bench) pass(clocks int) {
	for done := 0; done < clocks; done += quantum {
		try.OK(b.run.Run(quantum))
		for _, s := range b.sources {
			s.arrived()
		}
	}
}

// settle has no more messages made, drops those of which nothing has been sent, and waits until nothing is underway.
func (b *Bench) settle() {
	for _, s := range b.sources {
		s.active = false
		if len(s.queue) > 0 {
			s.queue = s.queue[:min(1, s.queue[0].sent)]
		}
	}
	empty := func() bool {
		for _, s := range b.sources {
			if len(s.queue) > 0 {
				return false
			}
		}
		return b.run.flights.underway() == 0
	}
	for start := b.run.Cycles; !empty(); b.pass(quantum) {
		if b.run.Cycles-start > uint64(patience) {
			try.OK(&ni.Timeout{Since: start, Clocks: uint64(patience), What: fmt.Sprintf("%d packets to arrive", b.run.flights.underway())})
		}
	}
}

// agree judges samples that follow each other.
func agree(samples []*sample) State {
	var came, latencies []float64
	all, less := true, true // of what is made comes
	for _, s := range samples {
		if s.messages == 0 {
			return Unsettled
		}
		all = all && math.Abs(s.came-s.made) <= tolerance*s.made
		less = less && s.came < (1-tolerance)*s.made
		came, latencies = append(came, s.came), append(latencies, s.latency/float64(s.messages))
	}
	switch {
	case all && near(latencies, latencyApart):
		return Steady
	case less && near(came, tolerance):
		return Saturated
	}
	return Unsettled
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

// near reports whether all are within a share of their mean.
func near(v []float64, share float64) bool {
	m := mean(v)
	for _, x := range v {
		if math.Abs(x-m) > share*m {
			return false
		}
	}
	return true
}

// point puts samples together.
func (b *Bench) point(samples []*sample, clocks int) (p Point) {
	all, latency := hdrhistogram.New(1, longest, 3), 0.0
	p.Clocks = clocks
	for _, s := range samples {
		all.Merge(s.histogram)
		p.Offered, p.Accepted, p.Payload = p.Offered+s.made, p.Accepted+s.came, p.Payload+float64(s.payload)
		p.Messages += s.messages
		latency += s.latency
	}
	share := 1 / float64(len(samples)*clocks*b.Senders)
	lane := share / float64(b.run.lanes(0))
	p.Offered, p.Accepted, p.Payload = p.Offered*lane, p.Accepted*lane, p.Payload*share
	if p.Messages > 0 {
		p.Latency = Latency{latency / float64(p.Messages), all.ValueAtQuantile(50), all.ValueAtQuantile(90), all.ValueAtQuantile(99), all.ValueAtQuantile(99.9), all.Max()}
	}
	return p
}
