package model

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Outcome says what became of a packet that an NI received.
type Outcome uint8

// What can become of a packet. Those of the host's requests are answered; Observation.Status says how.
const (
	Written   Outcome = iota // a remote write, carried out
	Astray                   // a remote write, denied: not within one page that exists
	Closed                   // a remote write, denied: its frame is not valid
	Foreign                  // a remote write, denied: its frame is not this link's
	Malformed                // a link's packet, dropped
	Trapped                  // a link's, reported to the host
	Late                     // a link's ROUTE, dropped: the host has held a trap for too long
	Told                     // a link's, a ROUTE for the host, to which it goes as it came
	Forwarded                // the host's, put into a link's queue
	Answered                 // the host's, carried out or refused
	Virtual                  // a link's, a ROUTE of a virtual link that the NI carries out
	numOutcomes
)

var outcomes = [numOutcomes]string{"written", "astray", "closed", "foreign", "malformed", "trapped", "late", "told", "forwarded", "answered", "virtual"}

// String names the outcome.
func (o Outcome) String() string {
	if o >= numOutcomes {
		return fmt.Sprintf("Outcome(%d)", uint8(o))
	}
	return outcomes[o]
}

// Observation is a packet that an NI has dealt with.
type Observation struct {
	Port    int    // that it came by
	Packet  []byte // as it came; valid during the call
	Outcome Outcome
	Status  linkproto.Status // of the answer, if Answered
}

func (n *NI) observe(o Observation) {
	if n.cfg.Observe != nil {
		n.cfg.Observe(o)
	}
}
