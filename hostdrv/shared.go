package hostdrv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/shared"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// sharedNode is the node of an NI of another process.
type sharedNode struct{ *shared.Client }

func openShared(ctx context.Context, target string, u *url.URL, o Options, no NodeOptions) (*Node, error) {
	if u.Host != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%w %q: want unix: and the path of a socket", ErrTarget, target)
	}
	var refused []string
	for _, option := range []struct {
		name  string
		given bool
	}{
		{"Options.NodeID", o.NodeID != 0}, {"Options.LinkTimeout", o.LinkTimeout != 0}, {"Options.Seed", o.Seed != 0}, {"Options.Wrap", o.Wrap != nil}, {"Options.Reopen", o.Reopen != 0},
		{"NodeOptions.Peers", no.Peers != nil}, {"NodeOptions.Frames", no.Frames != nil}, {"NodeOptions.Replacement", no.Replacement != nil}, {"NodeOptions.Seed", no.Seed != 0},
	} {
		if option.given {
			refused = append(refused, option.name)
		}
	}
	if refused != nil {
		return nil, fmt.Errorf("open %s: %w: %s: only the server that has opened the network interface can have it", target, ErrOption, strings.Join(refused, ", "))
	}
	path := cmp.Or(u.Path, u.Opaque, DefaultSocket())
	c, err := shared.Dial(ctx, shared.Config{Path: path, Hash: o.Hash, Spin: cmp.Or(no.Spin, defaultSpin), ErrorOf: errorOf})
	if err != nil {
		return nil, fmt.Errorf("open unix:%s: %w", path, err)
	}
	return &Node{backend: sharedNode{c}}, nil
}

func (n sharedNode) lock()      { n.Mu.Lock() }
func (n sharedNode) unlock()    { n.Mu.Unlock() }
func (n sharedNode) err() error { return n.Err() }

func (n sharedNode) until(ctx context.Context, what string, done func() bool) error {
	return n.Until(ctx, what, done)
}

func (n sharedNode) every(d time.Duration, tick func() bool) (stop func()) { return n.Every(d, tick) }

func (n sharedNode) createPort(link int, d Direction) (portBackend, error) {
	p, err := n.CreatePort(link, uint8(d))
	return p, err
}

func (n sharedNode) linkList() (list []NodeLink) {
	for _, l := range n.Links {
		list = append(list, NodeLink(l))
	}
	return list
}

func (n sharedNode) accept(ctx context.Context, what string, prefix []byte) (*Request, error) {
	o, err := n.NextOffer(ctx, what, prefix)
	if err != nil {
		return nil, err
	}
	return &Request{backend: sharedRequest{o}, link: o.Link, id: o.ID, direction: Direction(o.Direction), params: o.Params}, nil
}

// sharedRequest is a request to connect to a node of an NI of another process.
type sharedRequest struct{ *shared.Offer }

func (r sharedRequest) refuse(reason string) error { return r.Refuse(reason) }

func (r sharedRequest) accept() (portBackend, error) {
	p, err := r.Accept()
	return p, err
}

func (n sharedNode) Report(ctx context.Context) (r Report, err error) {
	err = n.Fetch(ctx, sharing.Message{Op: sharing.OpReport}, &r)
	return r, err
}

func (n sharedNode) tables() Tables {
	if r, err := n.Report(context.Background()); err == nil && r.Tables != nil {
		return *r.Tables
	}
	return Tables{}
}

func (n sharedNode) StartTrace(ctx context.Context, s linkproto.TraceSetup) error {
	setup, err := json.Marshal(s)
	if err == nil {
		_, err = n.Call(ctx, "the server", sharing.Message{Op: sharing.OpTraceStart, Data: setup})
	}
	return err
}

func (n sharedNode) TraceState(ctx context.Context) (s TraceState, err error) {
	a, err := n.Call(ctx, "the server", sharing.Message{Op: sharing.OpTraceState})
	if err == nil {
		err = json.Unmarshal(a.Data, &s)
	}
	return s, err
}

func (n sharedNode) ReadTrace(ctx context.Context) (t linkproto.Trace, err error) {
	n.lock()
	err = n.err()
	n.unlock()
	if err == nil && !n.Identity().Has(linkproto.FeatureTrace) {
		err = linkproto.ErrNoTrace
	}
	if err == nil {
		err = n.Fetch(ctx, sharing.Message{Op: sharing.OpTraceRead}, &t)
	}
	return t, err
}

func (n sharedNode) capture(ctx context.Context, repeats bool) (*Capture, error) {
	m := sharing.Message{Op: sharing.OpCapture}
	if repeats {
		m.Value = 1
	}
	a, err := n.CallFile(ctx, m)
	if err != nil {
		return nil, err
	}
	return &Capture{Began: time.Unix(0, int64(a.Value)), file: a.File, client: n.Client}, nil
}

func (n sharedNode) openMessages(ctx context.Context, number int, o msg.Options) (Messages, error) {
	return n.OpenMessages(ctx, number, o)
}

// ask is for calls whose answer is a value.
func (n sharedNode) ask(ctx context.Context, m sharing.Message) (uint64, error) {
	a, err := n.Call(ctx, "the server", m)
	return a.Value, err
}

func (n sharedNode) ReadRegister(ctx context.Context, r linkproto.Reg) (uint32, error) {
	v, err := n.ask(ctx, sharing.Message{Op: sharing.OpRegRead, Value: uint64(r)})
	return uint32(v), err
}

func (n sharedNode) WriteRegister(ctx context.Context, r linkproto.Reg, v uint32) error {
	_, err := n.ask(ctx, sharing.Message{Op: sharing.OpRegWrite, Port: uint32(r), Value: uint64(v)})
	return err
}

// parts calls do for parts of a range of the receive buffer, as long as a message may be.
func parts(p []byte, addr int, do func(part []byte, addr uint32) error) error {
	if addr < 0 || addr > math.MaxUint32-len(p) {
		return fmt.Errorf("%w: no address %#x", ErrRange, addr)
	}
	for part := range slices.Chunk(p, sharing.MaxData) {
		if err := do(part, uint32(addr)); err != nil {
			return err
		}
		addr += len(part)
	}
	return nil
}

func (n sharedNode) ReadBuffer(ctx context.Context, p []byte, addr int) error {
	return parts(p, addr, func(part []byte, addr uint32) error {
		a, err := n.Call(ctx, "the server", sharing.Message{Op: sharing.OpBufRead, Port: addr, Value: uint64(len(part))})
		if err == nil && copy(part, a.Data) < len(part) {
			err = fmt.Errorf("%w: the server sent %d bytes for %d", ErrProtocol, len(a.Data), len(part))
		}
		return err
	})
}

func (n sharedNode) WriteBuffer(ctx context.Context, p []byte, addr int) error {
	return parts(p, addr, func(part []byte, addr uint32) error {
		_, err := n.ask(ctx, sharing.Message{Op: sharing.OpBufWrite, Port: addr, Data: part})
		return err
	})
}

func (n sharedNode) SendRouted(ctx context.Context, link int, dest uint16, p linkproto.Packet) error {
	if err := checkLink(n.Identity(), link); err != nil {
		return err
	}
	packet, err := p.Append(nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRange, err)
	}
	_, err = n.ask(ctx, sharing.Message{Op: sharing.OpRouted, Port: uint32(link), Value: uint64(dest), Data: packet})
	return err
}

func (n sharedNode) Sync(ctx context.Context, link int) error {
	if err := checkLink(n.Identity(), link); err != nil {
		return err
	}
	_, err := n.ask(ctx, sharing.Message{Op: sharing.OpLinkSync, Port: uint32(link)})
	return err
}

// Capture is what goes over the host's cable of an NI that another process serves, by all programs, as pcapng (package capture), from now on.
type Capture struct {
	// Began is when the NI was opened.
	Began time.Time

	file   *os.File
	client *shared.Client
}

// Read reads what was captured. If it is too slow records are left out, and counted.
func (c *Capture) Read(p []byte) (int, error) { return c.file.Read(p) }

// Close ends the capture and frees it.
func (c *Capture) Close() error { return c.file.Close() }

// End ends a capture: reading comes to an end after what was captured until now.
func (c *Capture) End(ctx context.Context) error {
	if c.client == nil {
		return ErrClosed
	}
	_, err := c.client.Call(ctx, "the server", sharing.Message{Op: sharing.OpCaptureEnd})
	return err
}
