package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrSilent    = errors.New("the network interface does not answer")
	ErrVersion   = errors.New("it speaks another version of the link protocol than this program")
	ErrGone      = errors.New("the target is gone")
	ErrReset     = errors.New("the network interface was reset")
	ErrUncertain = errors.New("unknown what the network interface has received")
	ErrProtocol  = errors.New("the network interface violated the protocol")
	ErrClosed    = errors.New("closed")
	ErrIdentity  = errors.New("not the network interface that this program was built for")
)

// Violation is an error that wraps ErrProtocol.
func Violation(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

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
	return fmt.Sprintf("%v of %s: refused with %v: %s", e.Type, e.What, e.Status, text)
}

// RestartError is what a request ends with when the link to the NI started again after the NI had received the request, and before
// its answer came: it was carried out, and whether it was refused is not known. Reads are sent again instead, and so is what the NI has not
// received.
type RestartError struct {
	Type linkproto.Type
	What string
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("%v of %s: carried out, but the link to the network interface started again before the answer came", e.Type, e.What)
}

// Mismatch is a field that is not what it should be.
type Mismatch struct {
	Field      string
	Have, Want string
}

// List prints mismatches, one a line.
func List(mismatches []Mismatch) string {
	var b strings.Builder
	for _, m := range mismatches {
		fmt.Fprintf(&b, "\n  %-12s is %s, want %s", m.Field, m.Have, m.Want)
	}
	return b.String()
}

// IdentityError lists what is wrong with an NI's identity. It wraps ErrIdentity.
type IdentityError struct {
	Mismatches []Mismatch
	Replaced   bool // the NI has come in place of the one that was open, whose identity Want is
}

func (e *IdentityError) Error() string {
	if e.Replaced {
		return "another network interface is at the target that is open" + List(e.Mismatches) + "\nplug the first one in again, or open this one"
	}
	return ErrIdentity.Error() + List(e.Mismatches) + "\nload an image that was built from the RTL of this version"
}

// Unwrap returns ErrIdentity.
func (e *IdentityError) Unwrap() error { return ErrIdentity }

func (c *Core) silent() error {
	if c.link.Foreign() {
		return fmt.Errorf("%w: %w, which speaks version %d: build an image from the RTL of this program and load it (lmmc build, lmmc flash)",
			ErrSilent, ErrVersion, linkproto.Version)
	}
	heard := "nothing was received"
	if c.link.Status().Peer.Known {
		heard = "it was heard, but does not hear this end"
	}
	return fmt.Errorf("%w: the link was down for %d symbol times, and %s; check that the right image is loaded, and the rate of the cable", ErrSilent, c.down, heard)
}

// failWaiting fails requests that wait for a link that does not come up. It may still come up later.
func (c *Core) failWaiting() {
	var failed []*Call
	c.Withdraw(func(r *Call) bool {
		if !r.Persistent {
			failed = append(failed, r)
		}
		return !r.Persistent
	})
	if len(failed) > 0 {
		err := c.silent()
		for _, r := range failed {
			r.Done(linkproto.Packet{}, err)
		}
	}
}
