package hostdrv

import (
	"context"
	"errors"
	"io/fs"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// known are the errors that keep their identity on the way from the server of an NI to its clients, by name. Those that wrap others
// come before these.
var known = []struct {
	name string
	err  error
}{
	{"target", ErrTarget}, {"option", ErrOption}, {"silent", ErrSilent}, {"gone", ErrGone}, {"reset", ErrReset}, {"uncertain", ErrUncertain}, {"identity", ErrIdentity}, {"peer-misfit", ErrPeer}, {"protocol", ErrProtocol},
	{"range", ErrRange}, {"limit", ErrLimit}, {"port-closed", ErrPortClosed}, {"port", ErrPort},
	{"canceled", context.Canceled}, {"deadline", context.DeadlineExceeded},
	{"permission", fs.ErrPermission}, {"no-trace", linkproto.ErrNoTrace},
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
		}
		for _, k := range known {
			if k.name == name {
				e.is = append(e.is, k.err)
			}
		}
	}
	return e
}
