package hostdrv

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// StartTrace is NI.StartTrace, also for a node whose NI is another process's: there for programs of its user, one at a time.
func (node *Node) StartTrace(ctx context.Context, s linkproto.TraceSetup) error {
	c := node.client
	if c == nil {
		return node.ni.StartTrace(ctx, s)
	}
	setup, err := json.Marshal(s)
	if err == nil {
		_, err = c.call(ctx, sharing.Message{Op: sharing.OpTraceStart, Data: setup})
	}
	return err
}

// TraceState is NI.TraceState, as StartTrace is.
func (node *Node) TraceState(ctx context.Context) (s TraceState, err error) {
	c := node.client
	if c == nil {
		return node.ni.TraceState(ctx)
	}
	a, err := c.call(ctx, sharing.Message{Op: sharing.OpTraceState})
	if err == nil {
		err = json.Unmarshal(a.message.Data, &s)
	}
	return s, err
}

// ReadTrace is NI.ReadTrace, as StartTrace is: of what was recorded for this program.
func (node *Node) ReadTrace(ctx context.Context) (t linkproto.Trace, err error) {
	if node.client == nil {
		return node.ni.ReadTrace(ctx)
	}
	err = node.client.fetch(ctx, sharing.OpTraceRead, &t)
	return t, err
}

// Capture is what goes over the host's cable of an NI that another process serves, by all programs, as pcapng (package capture), from now on.
type Capture struct {
	*os.File // to be read; if that is too slow records are left out, and counted
	// Began is when the NI was opened.
	Began time.Time

	client *client
}

// End ends a capture: reading comes to an end after what was captured until now.
func (c *Capture) End(ctx context.Context) error {
	_, err := c.client.call(ctx, sharing.Message{Op: sharing.OpCaptureEnd})
	return err
}

// Capture captures what the server of an NI does, one capture at a time, until Close; with repeats also link state words that only repeat
// the one before. To an NI of this process a capture.Tap listens.
func (node *Node) Capture(ctx context.Context, repeats bool) (*Capture, error) {
	c := node.client
	if c == nil {
		return nil, errors.New("hostdrv: the network interface is this process's own: listen with capture.Tap")
	}
	m := sharing.Message{Op: sharing.OpCapture}
	if repeats {
		m.Value = 1
	}
	a, err := c.call(ctx, m)
	if err != nil {
		return nil, err
	}
	if a.file == nil {
		return nil, c.noFile()
	}
	return &Capture{a.file, time.Unix(0, int64(a.message.Value)), c}, nil
}
