// Package barriers measures the barriers of package collective on a simulated network, and predicts them by the LogP model.
package barriers

import (
	"slices"

	"github.com/stafflink/lmmc/hostdrv/collective"
)

// LogP are the parameters of the model, in clocks. The programs of a simulation compute in no time, so their overheads are 0 there; in real time they are what a call takes.
type LogP struct {
	Send    float64 `json:"o_s"`
	Latency float64 `json:"latency"`
	Receive float64 `json:"o_r"`
	Gap     float64 `json:"gap"` // between two messages that a node sends, or that it receives
}

// node is one of the model's.
type node struct {
	now, sent, received float64 // received and sent: when it may do so again
	stages              []collective.Stage
	told                bool // it has sent in the first stage
}

// Predict returns how long barriers of n members take, the mean over members and some barriers, between which each waits for a time.
func (p LogP) Predict(a collective.Algorithm, n int, pause float64) float64 {
	const rounds = 20
	nodes, sum := make([]node, n), 0.0
	for range rounds {
		for i := range nodes {
			nodes[i].now += pause
			nodes[i].stages = a.Stages(n, i)
			sum -= nodes[i].now
		}
		p.barrier(nodes)
		for i := range nodes {
			sum += nodes[i].now
		}
	}
	return sum / float64(rounds*n)
}

// barrier carries the stages of all nodes out.
func (p LogP) barrier(nodes []node) {
	arrivals := map[[2]int][]float64{} // by sender and receiver
	for moved := true; moved; {
		moved = false
		for i := range nodes {
			for at := &nodes[i]; len(at.stages) > 0; moved = true {
				s := at.stages[0]
				if !at.told {
					p.send(at, i, s, arrivals)
					moved = true
				}
				if !p.receive(at, i, s.From, arrivals) {
					break
				}
				at.stages, at.told = at.stages[1:], false
			}
		}
	}
}

// send sends what a stage has to send. A multicast is one message, whose copies arrive at once.
func (p LogP) send(at *node, me int, s collective.Stage, arrivals map[[2]int][]float64) {
	at.told = true
	for i, other := range s.To {
		if !s.Cast || i == 0 {
			start := max(at.now, at.sent)
			at.now, at.sent = start+p.Send, start+p.Gap
		}
		pair := [2]int{me, other}
		arrivals[pair] = append(arrivals[pair], at.now+p.Latency)
	}
}

// receive takes a message of each of some nodes, in the order in which they arrive; false: one of them is still to be sent.
func (p LogP) receive(at *node, me int, from []int, arrivals map[[2]int][]float64) bool {
	var times []float64
	for _, other := range from {
		came := arrivals[[2]int{other, me}]
		if len(came) == 0 {
			return false
		}
		times = append(times, came[0])
	}
	for _, other := range from {
		pair := [2]int{other, me}
		arrivals[pair] = arrivals[pair][1:]
	}
	slices.Sort(times)
	for _, t := range times { // the network interface takes it, whether or not the program waits
		came := max(at.received, t)
		at.now, at.received = max(at.now, came)+p.Receive, came+p.Gap
	}
	return true
}
