// Package barriers measures the barriers of package collective on a simulated network, and predicts them by the LogP model.
package barriers

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/testbench"
)

// LogP are the parameters of the model, in clocks. The programs of a simulation compute in no time, so their overheads are 0 there; in real time they are what a call takes.
//
// LogP has no acknowledgements. Here each message asks for one: it goes with the next message to the sender, or alone after AckDelay, as a message whose gap is AckGap and which takes no time of
// a program. Nor has it cables between switches. Where the network is known, a message keeps each of them on its way for a gap of its own,
// and the switch before it serves those that wait in turn, by the cable on which they came.
type LogP struct {
	Send     float64 `json:"o_s"`
	Latency  float64 `json:"latency"`
	Receive  float64 `json:"o_r"`
	Gap      float64 `json:"gap"`          // between two messages that a node sends, or that it receives
	AckGap   float64 `json:"ack_gap"`      // behind an acknowledgement that goes alone
	CastGap  float64 `json:"cast_gap"`     // behind that of a multicast
	Cast     float64 `json:"cast_latency"` // of a multicast, which each switch stores whole; 0: as Latency
	AckDelay float64 `json:"ack_delay"`    // after which it does; 0: there are none
	Cable    float64 `json:"cable_gap"`    // between two messages on a cable between switches; 0: as Gap
}

// Predict returns how long barriers of n members take by so many networks, the mean over members and some barriers, between which each waits for a time. acknowledged: multicasts are.
// way returns the cables between switches by which messages go between two members, by numbers of them in both directions; nil: there are none.
//
// Members enter the first barrier at random within a pause. Who enters last leaves first, and so enters the next one first: members that have once drifted apart stay so, and the messages of several
// stages meet on cables then. The mean is of some such beginnings.
func (p LogP) Predict(a collective.Algorithm, n, networks int, acknowledged bool, pause float64, way func(from, to int) []int) (mean float64) {
	const beginnings = 4
	for seed := range uint64(beginnings) {
		mean += p.predict(a, n, networks, acknowledged, pause, way, testbench.NewRand(seed)) / beginnings
	}
	return mean
}

func (p LogP) predict(a collective.Algorithm, n, networks int, acknowledged bool, pause float64, way func(from, to int) []int, rng *testbench.Rand) float64 {
	const rounds = 20
	m := &prediction{LogP: p, networks: networks, acknowledged: acknowledged, nodes: make([]node, n), way: way, outputs: [2]map[int]*output{{}, {}}}
	sum := 0.0
	for i := range m.nodes {
		at := &m.nodes[i]
		at.came, at.owes = make([][]float64, n), make([]int, n)
		at.begin = func() {
			at.start, at.stages, at.idle = at.now, a.Stages(n, i), false
			m.advance(i)
		}
		at.end = func(round int) {
			if round > first {
				sum += at.now - at.start
			}
			if round < first+rounds {
				at.now += pause
				at.idle = true
				m.at(at.now, at.begin)
			}
		}
		at.now = pause * rng.Float64()
		m.at(at.now, at.begin)
	}
	m.run()
	return sum / float64(rounds*n)
}

// prediction carries out what members do, event by event.
type prediction struct {
	LogP
	networks     int
	acknowledged bool
	way          func(from, to int) []int
	outputs      [2]map[int]*output // by network and cable
	now          float64
	nodes        []node
	events       events
	serial       int
}

// node is a member.
type node struct {
	now, start     float64    // of its program, and of the barrier that it is in
	sent, received [2]float64 // by network: when the network interface may do so again
	idle           bool       // it waits for the next barrier
	round          int
	stages         []collective.Stage
	told           bool        // it has sent in the first stage
	came           [][]float64 // by sender: when messages came that its program has not taken
	owesCasts      bool        // an acknowledgement of multicasts is due
	owes           []int       // by sender: the serial number of an acknowledgement that is due; 0: none is

	begin func()
	end   func(round int)
}

// run carries out all events, in the order of their times.
func (m *prediction) run() {
	for m.events.Len() > 0 {
		e := heap.Pop(&m.events).(event)
		m.now = e.at
		e.do()
	}
}

// advance carries out stages as far as messages for them have come.
func (m *prediction) advance(i int) {
	at := &m.nodes[i]
	for !at.idle && len(at.stages) > 0 {
		s := at.stages[0]
		if !at.told {
			at.told = true
			m.send(i, s)
		}
		var times []float64
		for _, other := range s.From {
			if len(at.came[other]) == 0 {
				return
			}
			times = append(times, at.came[other][0])
		}
		for _, other := range s.From {
			at.came[other] = at.came[other][1:]
		}
		slices.Sort(times)
		for _, t := range times {
			at.now = max(at.now, t) + m.Receive
		}
		if at.stages, at.told = at.stages[1:], false; len(at.stages) == 0 {
			at.round++
			at.end(at.round)
		}
	}
}

// send sends what a stage has to send. A multicast is one message of the first network, whose copies arrive at once, and acknowledges nothing.
func (m *prediction) send(i int, s collective.Stage) {
	at := &m.nodes[i]
	at.now = max(at.now, m.now)
	leaves := at.now
	for k, other := range s.To {
		by := 0
		if !s.Cast {
			at.owes[other] = 0
			by = collective.NetworkOf(other-i) % m.networks
		}
		if !s.Cast || k == 0 {
			at.now += m.Send
			leaves = max(at.now, at.sent[by]) // the network interface keeps the gap, and the program goes on
			at.sent[by] = leaves + m.Gap
		}
		if arrive := func() { m.arrive(i, other, by, s.Cast) }; s.Cast {
			m.at(leaves+cmp.Or(m.Cast, m.Latency), arrive)
		} else {
			m.carry(leaves, i, other, by, max(m.Gap, m.Cable), arrive)
		}
	}
}

// carry has a message that leaves at a time, and keeps a cable for so long, arrive behind those that go by the same cables. Of the latency each part of the way, between two of them, has the
// same share.
func (m *prediction) carry(leaves float64, from, to, by int, gap float64, arrive func()) {
	var cables []int
	if m.way != nil {
		cables = m.way(from, to)
	}
	part := m.Latency / float64(len(cables)+1)
	came := -1 - from // by which it comes to a switch: the cable before, or its node's
	var next func(t float64)
	next = func(t float64) {
		if len(cables) == 0 {
			m.at(t+part, arrive)
			return
		}
		cable, input := cables[0], came
		cables, came = cables[1:], cable
		m.at(t+part, func() { m.output(by, cable).take(m, input, waiting{gap, func() { next(m.now) }}) })
	}
	next(leaves)
}

// output is that of a switch to a cable: it serves its inputs in turn.
type output struct {
	inputs []int // in the order in which the first message of each came
	queues map[int][]waiting
	turn   int // of inputs, the next one
	busy   bool
}

// waiting is a message at an output.
type waiting struct {
	gap  float64
	goes func()
}

func (m *prediction) output(by, cable int) *output {
	o := m.outputs[by][cable]
	if o == nil {
		o = &output{queues: map[int][]waiting{}}
		m.outputs[by][cable] = o
	}
	return o
}

func (o *output) take(m *prediction, input int, w waiting) {
	if _, known := o.queues[input]; !known {
		o.inputs = append(o.inputs, input)
	}
	o.queues[input] = append(o.queues[input], w)
	if !o.busy {
		o.serve(m)
	}
}

// serve sends the next message, if one waits.
func (o *output) serve(m *prediction) {
	o.busy = false
	for i := range o.inputs {
		at := (o.turn + i) % len(o.inputs)
		queue := o.queues[o.inputs[at]]
		if len(queue) == 0 {
			continue
		}
		o.queues[o.inputs[at]], o.turn, o.busy = queue[1:], at+1, true
		m.at(m.now+queue[0].gap, func() { o.serve(m) })
		queue[0].goes()
		return
	}
}

// arrive has a message come, whether or not the program waits for it, and an acknowledgement fall due.
func (m *prediction) arrive(from, to, by int, cast bool) {
	came := m.receive(to, by, m.Gap)
	at := &m.nodes[to]
	at.came[from] = append(at.came[from], came)
	switch {
	case m.AckDelay == 0 || cast && !m.acknowledged:
	case cast && at.owesCasts: // one acknowledgement is of all that have come
	case cast:
		at.owesCasts = true
		m.at(came+max(m.AckDelay, float64(flowctl.CastAckDelay(len(m.nodes)-1))), func() {
			at.owesCasts = false
			m.acknowledge(to, from, by, m.CastGap)
		})
	case at.owes[from] == 0:
		m.serial++
		serial := m.serial
		at.owes[from] = serial
		m.at(came+m.AckDelay, func() {
			if at.owes[from] == serial {
				at.owes[from] = 0
				m.acknowledge(to, from, by, m.AckGap)
			}
		})
	}
	m.advance(to)
}

func (m *prediction) acknowledge(from, to, by int, gap float64) {
	at := &m.nodes[from]
	start := max(m.now, at.sent[by])
	at.sent[by] = start + gap
	m.carry(start, from, to, by, gap+max(0, m.Cable-m.Gap), func() { m.receive(to, by, gap) })
}

// receive returns when a network interface takes something that arrives now.
func (m *prediction) receive(i, by int, gap float64) (came float64) {
	received := &m.nodes[i].received[by]
	came = max(*received, m.now)
	*received = came + gap
	return came
}

func (m *prediction) at(t float64, do func()) {
	m.events.count++
	heap.Push(&m.events, event{t, m.events.count, do})
}

// event is something that happens at a time; of one time in the order in which they were made.
type event struct {
	at     float64
	serial int
	do     func()
}

type events struct {
	list  []event
	count int
}

func (e *events) Len() int { return len(e.list) }
func (e *events) Less(i, j int) bool {
	a, b := e.list[i], e.list[j]
	return a.at < b.at || a.at == b.at && a.serial < b.serial
}
func (e *events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }
func (e *events) Push(x any)    { e.list = append(e.list, x.(event)) }
func (e *events) Pop() any {
	last := e.list[len(e.list)-1]
	e.list = e.list[:len(e.list)-1]
	return last
}
