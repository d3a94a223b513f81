package routing

import (
	"fmt"
	"strings"
)

// Report is what Check has found. Nodes are named as in the topology, ports as NAME:PORT.
type Report struct {
	Routing  string `json:"routing"`
	NIs      int    `json:"nis"`
	Switches int    `json:"switches"`
	Cables   int    `json:"cables"`
	Trees    int    `json:"trees"` // multicast trees that were checked too

	// Cycle are channels that can wait for each other, each for the next and the last for the first; none: the network is free of deadlock.
	Cycle []Step `json:"cycle"`

	// Pairs are an NI and another node to which it sends, Unreachable those without a way, and Missing the first of them.
	Pairs       int       `json:"pairs"`
	Unreachable int       `json:"unreachable"`
	Missing     []Missing `json:"missing"`

	// Answers say how many NIs a switch reaches with its answers: the least and the most of all switches.
	Answers [2]int `json:"answers"`

	Longest Longest `json:"longest"` // way of an NI's packets

	Entries    int `json:"entries"`    // of all tables: ports to destinations
	Alternates int `json:"alternates"` // those that have an alternate port

	// Cuts are the cables without which NIs lose each other, those that lose most pairs first.
	Cuts []Cut `json:"cuts"`
}

// Step is a packet that holds a channel and waits for the next one's.
type Step struct {
	From         string   `json:"from"`                   // the port that sends in the channel
	To           string   `json:"to"`                     // the port that receives
	Destinations []string `json:"destinations,omitempty"` // to which such packets go: the first few
	Count        int      `json:"count"`                  // of all such destinations
	Trees        []string `json:"trees,omitempty"`        // senders of multicast trees in which there are such packets
}

// Missing is a pair without a way.
type Missing struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// Longest is the way of most hops.
type Longest struct {
	Hops int    `json:"hops"` // cables
	From string `json:"from"`
	To   string `json:"to"`
}

// Cut is a cable that is cut, alone.
type Cut struct {
	Cable    string   `json:"cable"`
	Lost     int      `json:"lost"`     // pairs of an NI and another one to which it has sent
	Examples []string `json:"examples"` // the first few: "FROM -> TO"
}

// String is the step as in "n0:1 -> n1:2".
func (s Step) String() string { return s.From + " -> " + s.To }

// Err returns nil if the network can run: packets cannot deadlock and reach what they go to, and each switch can answer.
func (r *Report) Err() error {
	var wrong []string
	if len(r.Cycle) > 0 {
		wrong = append(wrong, fmt.Sprintf("packets can deadlock, since %d channels wait for each other: choose another routing, such as up-down", len(r.Cycle)))
	}
	if r.Unreachable > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d pairs have no way", r.Unreachable, r.Pairs))
	}
	if r.Longest.Hops > MaxHops {
		wrong = append(wrong, fmt.Sprintf("a way has %d hops, and a packet makes at most %d: add cables, or choose another topology", r.Longest.Hops, MaxHops))
	}
	if r.Switches > 0 && r.Answers[0] == 0 {
		wrong = append(wrong, "a switch cannot answer anybody: choose another routing, such as up-down")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("routing: %s", strings.Join(wrong, "; "))
}
