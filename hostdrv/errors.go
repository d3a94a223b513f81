package hostdrv

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrTarget    = errors.New("hostdrv: bad target")                                           // the target's text makes no sense
	ErrSilent    = errors.New("hostdrv: the network interface does not answer")                // no link layer at the other end, or a wrong rate
	ErrGone      = errors.New("hostdrv: the target is gone")                                   // unplugged, or the other end closed
	ErrReset     = errors.New("hostdrv: the network interface was reset")                      // its frame table and queues are empty: open it again
	ErrUncertain = errors.New("hostdrv: what the network interface has received is not known") // its cable failed again and again: open it again
	ErrProtocol  = errors.New("hostdrv: the network interface broke the protocol")             // it sent what it must not
	ErrClosed    = errors.New("hostdrv: closed")                                               // by Close
	ErrRange     = errors.New("hostdrv: out of range")                                         // an argument that this NI has no place for
	ErrLimit     = errors.New("hostdrv: too much for one program")                             // of what the server of a shared NI allows it
	ErrIdentity  = errors.New("hostdrv: not the network interface that this program was built for")
	ErrPeer      = errors.New("hostdrv: the node at the far end does not go with this one") // an IncompatibleError says why
)

// RefusedError is a request that the NI answered with a status other than OK.
type RefusedError struct {
	Type   linkproto.Type
	Status linkproto.Status
	What   string // the register, address or link
}

func (e *RefusedError) Error() string {
	text := "unknown status"
	if int(e.Status) < len(linkproto.Statuses) {
		text = linkproto.Statuses[e.Status].Doc
	}
	return fmt.Sprintf("hostdrv: %v of %s refused with %v: %s", e.Type, e.What, e.Status, text)
}

// RestartError is what a request ends with when the link to the NI started again after the NI had received the request, and before
// its answer came: it was carried out, and whether it was refused is not known. Reads are asked again instead, and what the NI has not
// received is sent again.
type RestartError struct {
	Type linkproto.Type
	What string
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("hostdrv: the link to the network interface started again after it had received %v of %s and before its answer came", e.Type, e.What)
}

// LossError says that packets sent by a link never reached the peer's NI for certain, because the link or the host's cable started
// again. Which of them arrived is not known, except that none of the lost ones will arrive later.
type LossError struct {
	Link int
	Lost uint64 // packets, since the last LossError or the beginning
}

func (e *LossError) Error() string {
	return fmt.Sprintf("hostdrv: link %d started again and lost %d packets that the peer had not acknowledged; they are not sent again", e.Link, e.Lost)
}

// Mismatch is a field of an NI's identity that is not what it should be.
type Mismatch struct {
	Field      string
	Have, Want string
}

// IdentityError lists what is wrong with an NI's identity. It wraps ErrIdentity.
type IdentityError struct {
	Mismatches []Mismatch
	Replaced   bool // it has come in place of the one that was open, which is what Want says
}

func (e *IdentityError) Error() string {
	var b strings.Builder
	if e.Replaced {
		b.WriteString("hostdrv: another network interface is where the one was that is open")
	} else {
		b.WriteString(ErrIdentity.Error())
	}
	for _, m := range e.Mismatches {
		fmt.Fprintf(&b, "\n  %-12s is %s, want %s", m.Field, m.Have, m.Want)
	}
	if e.Replaced {
		b.WriteString("\nplug that one in again, or open this one")
		return b.String()
	}
	b.WriteString("\nload an image that was built from the RTL of this version")
	return b.String()
}

// Unwrap returns ErrIdentity.
func (e *IdentityError) Unwrap() error { return ErrIdentity }

// IncompatibleError lists what keeps the nodes at the two ends of a link from having ports together. It wraps ErrPeer.
type IncompatibleError struct {
	Link       int
	Mismatches []Mismatch
}

func (e *IncompatibleError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v (link %d)", ErrPeer, e.Link)
	for _, m := range e.Mismatches {
		fmt.Fprintf(&b, "\n  %-12s is %s, want %s", m.Field, m.Have, m.Want)
	}
	b.WriteString("\nrun programs of the same version at both ends, by network interfaces with pages of the same size")
	return b.String()
}

// Unwrap returns ErrPeer.
func (e *IncompatibleError) Unwrap() error { return ErrPeer }

func brokenf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}
