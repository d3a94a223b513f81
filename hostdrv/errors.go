package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrTarget     = errors.New("bad target")             // the target's text is wrong
	ErrOption     = errors.New("option not possible")    // the target cannot do what an option asks for
	ErrRange      = errors.New("out of range")           // an argument that does not fit this NI
	ErrLimit      = sharing.ErrLimit                     // of what the server of a shared NI allows it
	ErrPeer       = errors.New("incompatible peer")      // an IncompatibleError says why
	ErrPort       = errors.New("port cannot be used so") // wrapped by errors about the state of a port
	ErrPortClosed = fmt.Errorf("%w: deleted by the peer", ErrPort)

	ErrSilent    = engine.ErrSilent    // no link layer at the other end, or a wrong rate
	ErrVersion   = engine.ErrVersion   // an ErrSilent: an NI, or an end of the cable, of another version of the link protocol
	ErrGone      = engine.ErrGone      // unplugged, or the other end closed
	ErrReset     = engine.ErrReset     // the NI's frame table and queues are empty: open it again
	ErrUncertain = engine.ErrUncertain // the NI's cable failed again and again: open it again
	ErrProtocol  = engine.ErrProtocol  // the NI sent what it must not
	ErrClosed    = engine.ErrClosed    // by Close
	ErrIdentity  = engine.ErrIdentity  // an IdentityError says why
)

// RefusedError is a request that the NI answered with a status other than OK.
type RefusedError = engine.RefusedError

// RestartError is what a request ends with when the link to the NI started again after the NI had received the request, and before
// its answer came: it was carried out, and whether it was refused is not known. Reads are sent again instead, and so is what the NI has not
// received.
type RestartError = engine.RestartError

// Mismatch is a field of an NI's identity, or of a node's hello, that is not what it should be.
type Mismatch = engine.Mismatch

// IdentityError lists what is wrong with an NI's identity. It wraps ErrIdentity.
type IdentityError = engine.IdentityError

// errPort is an error about a port.
type errPort struct {
	id   uint32
	text string
	is   error
}

func (e *errPort) Error() string { return fmt.Sprintf("port %d: %s", e.id, e.text) }
func (e *errPort) Unwrap() error { return e.is }

func portError(id uint32, text string, is error) error { return &errPort{id, text, is} }

func deletedByPeer(id uint32) error { return portError(id, "deleted by the peer", ErrPortClosed) }

// errZeroPort is what the methods of a zero Port, Window and Request fail with.
var errZeroPort = fmt.Errorf("%w: it is a zero value; make it with CreatePort, Accept or Window", ErrPort)

// LossError says that packets sent by a link never reached the peer's NI for certain, because the link or the host's cable started
// again. Which of them arrived is not known, except that none of the lost ones will arrive later.
type LossError struct {
	Link int
	Lost uint64 // packets, since the last LossError or the beginning
}

func (e *LossError) Error() string {
	return fmt.Sprintf("link %d: started again and lost %d packets that the peer had not acknowledged; they are not sent again", e.Link, e.Lost)
}

// RefusedPortError is what Connect returns when the other node refuses.
type RefusedPortError struct {
	Port   uint32
	Reason string
}

func (e *RefusedPortError) Error() string {
	return fmt.Sprintf("port %d: refused by the peer: %q", e.Port, e.Reason)
}

// PeerError is what the ports of a link end with when the node at its far end starts again.
type PeerError struct{ Link int }

func (e *PeerError) Error() string {
	return fmt.Sprintf("link %d: the node at its far end started again, its ports are gone: create and connect them again", e.Link)
}

// IncompatibleError lists what keeps the nodes at the two ends of a link from having ports together. It wraps ErrPeer.
type IncompatibleError struct {
	Link       int
	Mismatches []Mismatch
}

func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("link %d: %v%s\nrun programs of the same version at both ends, by network interfaces with pages of the same size",
		e.Link, ErrPeer, engine.List(e.Mismatches))
}

// Unwrap returns ErrPeer.
func (e *IncompatibleError) Unwrap() error { return ErrPeer }

// known are the errors that keep their identity on the way from the server of an NI to its clients, by name. Those that wrap others
// come before these.
var known = []struct {
	name string
	err  error
}{
	{"target", ErrTarget}, {"option", ErrOption}, {"silent", ErrSilent}, {"version", ErrVersion}, {"gone", ErrGone}, {"reset", ErrReset}, {"uncertain", ErrUncertain}, {"identity", ErrIdentity}, {"peer-misfit", ErrPeer}, {"protocol", ErrProtocol},
	{"range", ErrRange}, {"limit", ErrLimit}, {"port-closed", ErrPortClosed}, {"port", ErrPort},
	{"canceled", context.Canceled}, {"deadline", context.DeadlineExceeded},
	{"permission", fs.ErrPermission}, {"no-trace", linkproto.ErrNoTrace}, {"no-routes", ErrNoRoutes}, {"no-answer", ErrNoAnswer},
	{"no-barriers", ErrNoBarriers}, {"barrier-lost", ErrBarrierLost}, {"barrier", ErrBarrier},
	{"ring-full", msg.ErrFull}, {"context-taken", msg.ErrTaken}, {"no-peer", msg.ErrNode}, {"too-long", msg.ErrTooLong}, {"context-ended", msg.ErrEnded},
}

func init() { sharing.Describe = describe }

// describe is for the server.
func describe(err error) sharing.Failure {
	f := sharing.Failure{Text: err.Error()}
	closed := errors.Is(err, ErrClosed) // by the server, which is not the client's own Close
	if closed {
		f.Is = append(f.Is, "gone")
	}
	for _, k := range known {
		if k.err == context.Canceled && (closed || errors.Is(err, ErrGone)) {
			continue // it was not the client's call that was cancelled
		}
		if errors.Is(err, k.err) {
			f.Is = append(f.Is, k.name)
		}
	}
	if e, is := errors.AsType[*LossError](err); is {
		f.Is, f.Link, f.Lost = append(f.Is, "loss"), e.Link, e.Lost
	}
	if e, is := errors.AsType[*PeerError](err); is {
		f.Is, f.Link = append(f.Is, "peer"), e.Link
	}
	if e, is := errors.AsType[*RefusedPortError](err); is {
		f.Is, f.Port, f.Reason = append(f.Is, "refused"), e.Port, e.Reason
	}
	if e, is := errors.AsType[*msg.PeerError](err); is {
		f.Is, f.Port, f.Reason = append(f.Is, "message-peer"), uint32(e.Node), e.Why
	}
	if e, is := errors.AsType[*msg.TooLongError](err); is {
		f.Is, f.Port, f.Lost, f.Link = append(f.Is, "no-room"), uint32(e.Node), uint64(e.Bytes), e.Room
	}
	return f
}

// remoteError is an error of the server.
type remoteError struct {
	text string
	is   []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.is }

// errorOf is for the client.
func errorOf(f sharing.Failure) error {
	e := &remoteError{text: f.Text}
	for _, name := range f.Is {
		switch name {
		case "loss":
			e.is = append(e.is, &LossError{f.Link, f.Lost})
		case "peer":
			e.is = append(e.is, &PeerError{f.Link})
		case "refused":
			e.is = append(e.is, &RefusedPortError{f.Port, f.Reason})
		case "message-peer":
			e.is = append(e.is, &msg.PeerError{Node: uint16(f.Port), Why: f.Reason})
		case "no-room":
			e.is = append(e.is, &msg.TooLongError{Node: uint16(f.Port), Bytes: int(f.Lost), Room: f.Link})
		}
		for _, k := range known {
			if k.name == name {
				e.is = append(e.is, k.err)
			}
		}
	}
	return e
}
