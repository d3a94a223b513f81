// Package parts runs a simulation that is split over processes, on one machine or several, in lock-step.
//
// Each worker simulates a Site. The coordinator, a Group, tells all of them to run for some clocks. What crosses from one site to another goes over a
// connection between the two workers, at most Lookahead clocks at a time: what is sent in a clock arrives later than that, so no site waits for what
// another has not computed yet, and the parts do what the whole would. If a worker or the coordinator ends, all end, with an error that says who was
// first.
package parts

import (
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"time"
)

// Site is what a worker simulates.
type Site interface {
	// Run runs for at most Lookahead clocks.
	Run(clocks int) error
	// Lookahead is for how many clocks it may run between two exchanges, 1 or more.
	Lookahead() int
	// Peers are the parts that it exchanges with.
	Peers() []int
	// Take appends what has been sent to a part since the last Take.
	Take(part int, dst []uint64) []uint64
	// Put takes what a part has sent since the last Put.
	Put(part int, samples []uint64) error
	// Do carries out an order of the coordinator's. If clocks > 0, run runs for so many clocks, exchanges included; it is called once.
	Do(order []byte, clocks int, run func() error) (answer []byte, err error)
	Close() error
}

// Build makes the site of a part, given what Group.Start was given.
type Build func(part, parts int, setup []byte) (Site, error)

// ErrPart is wrapped by the errors of a Group whose worker has failed or is gone.
var ErrPart = errors.New("a part of the simulation")

// greeting is what a worker says first.
type greeting struct {
	Token   string
	Version string // of the program: parts of different ones would not do the same
	Listen  string // where other workers reach it
	Where   string // host and process, for errors
}

// welcome answers a greeting: what the worker is to do.
type welcome struct {
	Refused string // why it is not taken; else:
	Part    int
	Listen  []string // of all parts
	Setup   []byte
}

// order is what the coordinator sends to a worker, and answer what that sends back.
type order struct {
	Data   []byte
	Clocks int
}

type answer struct {
	Data []byte
	Err  string
}

// stream is a connection with values on it.
type stream struct {
	net.Conn
	in  *gob.Decoder
	out *gob.Encoder
}

func newStream(c net.Conn) *stream { return &stream{c, gob.NewDecoder(c), gob.NewEncoder(c)} }

// greetWithin is how long the first words of a connection may take, on a busy machine too.
const greetWithin = 2 * time.Minute

func (s *stream) receive(v any, within time.Duration) error {
	if within > 0 {
		s.SetReadDeadline(time.Now().Add(within))
		defer s.SetReadDeadline(time.Time{})
	}
	return s.in.Decode(v)
}

func partError(part int, where string, err error) error {
	return fmt.Errorf("%w: part %d (%s): %w", ErrPart, part, where, err)
}
