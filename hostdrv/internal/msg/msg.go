// Package msg carries out contexts: messages between nodes, split into packets and joined again, over virtual links that are made when they are needed. It is
// part of the driver of one network interface (NI), under whose lock all of its methods are called. Programs use package message.
package msg

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
)

// Numbers of contexts. Context 0 is the kernel's, whose messages go as datagrams.
const (
	FirstContext = 1
	LastContext  = 255
	ChannelBase  = engine.ContextChannels // channel of the virtual links of context 0
)

// Channel is that of the virtual links of a context.
func Channel(context int) uint16 { return uint16(ChannelBase + context) }

// Errors that callers tell apart with errors.Is.
var (
	ErrFull    = errors.New("the ring has no free descriptor")   // Poll frees some
	ErrTooLong = errors.New("the message is too long")           // for the context, or for the descriptor that it came to
	ErrTaken   = errors.New("the context is taken")              // by another program, or another part of this one
	ErrPeer    = errors.New("messages to this node may be lost") // wrapped by PeerError
	ErrNode    = errors.New("no such peer")                      // not one of the context's peers
	ErrEnded   = engine.ErrEnded                                 // with Options.Engine: the context is to be opened again
)

// Reasons are why sends complete with a PeerError.
var Reasons = [...]string{noAnswer, otherPages, startedAgain, noContext}

const (
	noAnswer     = "it does not answer"
	otherPages   = "its network interface has pages of another size"
	noContext    = "no program there has the context"
	startedAgain = "it started again, or was out of reach for too long"
)

// PeerError is what posted sends complete with when the peer did not acknowledge them and will not: it has ended, started again, or does not answer. Each
// message has arrived once or not at all.
type PeerError struct {
	Node uint16
	Why  string
}

func (e *PeerError) Error() string { return fmt.Sprintf("node %d: %s: %v", e.Node, e.Why, ErrPeer) }

// Unwrap returns ErrPeer.
func (e *PeerError) Unwrap() error { return ErrPeer }

// Is reports which error of sockets it is as well: ETIMEDOUT if the peer does not answer, ECONNREFUSED if no program there has the context, ECONNRESET if it
// started again or was out of reach for too long, EPROTO if it speaks otherwise.
func (e *PeerError) Is(target error) bool { return target == e.Errno() }

// Errno is that error.
func (e *PeerError) Errno() syscall.Errno {
	switch e.Why {
	case startedAgain:
		return syscall.ECONNRESET
	case noContext:
		return syscall.ECONNREFUSED
	case otherPages:
		return syscall.EPROTO
	}
	return syscall.ETIMEDOUT
}

// Timeout and Temporary make it a net.Error.
func (e *PeerError) Timeout() bool   { return e.Errno().Timeout() }
func (e *PeerError) Temporary() bool { return false }

// TooLongError is what a receive completes with whose descriptor has not the room for its message. It wraps ErrTooLong.
type TooLongError struct {
	Node        uint16 // that sent it
	Bytes, Room int
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("node %d: %v: it has %d bytes, and its descriptor room for %d", e.Node, ErrTooLong, e.Bytes, e.Room)
}

// Unwrap returns ErrTooLong.
func (e *TooLongError) Unwrap() error { return ErrTooLong }

// Peer is a node of a network, and the link of the NI by which the way to it leads.
type Peer struct {
	Node uint16 `json:"node"`
	Link int    `json:"link"` // 0: 1
}

// Options say how a context is. Zero values stand for what is in parentheses.
type Options struct {
	Peers    []Peer        // nodes that it exchanges messages with (any, by link 1 or the one by which they asked)
	Groups   []Group       // multicast groups to which its messages go so that they arrive, 256 at most; to others they may get lost (none)
	Sends    int           // descriptors for sending (64)
	Receives int           // and for receiving (64)
	Longest  int           // bytes of a message (1 MB; with Engine what its Frames have room for, for four each way)
	Patience time.Duration // of the target's time, for which sends wait for a peer that says nothing (1 s)
	Refuse   bool          // sends complete with a PeerError as soon as the peer's node says that no program there has the context (they wait for Patience)
	Engine   bool          // the NI carries the context out, which must have the feature MESSAGES, instead of the driver
	Frames   int           // of the receive buffer that an Engine has for rings and messages (a quarter of all)
	Seed     uint64        // decides what is random (something random)
}

// MaxLongest is the greatest value of Options.Longest, and DefaultRing what Sends and Receives are if nothing is said.
const (
	MaxLongest  = 1 << 20
	DefaultRing = 64
)

// Send is a descriptor for sending. Its Data is the context's until it has completed.
type Send struct {
	Node   uint16 // to which
	Tag    uint32 // for the receiver
	Data   []byte
	Cookie uint64 // for the sender: it stands in the Completion
	Quiet  bool   // its Completion wakes nobody that waits, unless it failed: it waits for one that does, or for Poll
}

// Receive is a descriptor for receiving. Its Data is the context's until it has completed.
type Receive struct {
	Data   []byte // room for a message
	Cookie uint64
}

// Completion says that a descriptor is the program's again.
type Completion struct {
	Received bool   // of a Receive, else of a Send
	Node     uint16 // the peer
	Tag      uint32
	Data     []byte // of a Send all of it; of a Receive the message
	Cookie   uint64
	Quiet    bool  // of a Send that was, and has not failed
	Err      error // of a Send a *PeerError, or one by which the network interface has failed; of a Receive ErrTooLong, and Data is empty
}

// Stats count what a context has done.
type Stats struct {
	Sent      uint64 `json:"sent"`      // messages acknowledged
	Failed    uint64 `json:"failed"`    // sends that completed with an error
	Received  uint64 `json:"received"`  // messages
	TooLong   uint64 `json:"too_long"`  // messages dropped: longer than Options.Longest, or than their descriptor
	Malformed uint64 `json:"malformed"` // packets of peers that fit no message, and with them the rest of a message
	Broken    uint64 `json:"broken"`    // messages of which a part came and the rest was lost with the peer
	Refused   uint64 `json:"refused"`   // virtual links that nodes which are no peers asked for
}
