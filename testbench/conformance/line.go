package conformance

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/results"
)

// line is the host's cable, held for a whole case: one driver after the other uses it, and it can be made to fail.
type line struct {
	transport hostdrv.Transport // nil for a pair, which has no cable of ours
	resetter  hostdrv.Resetter  // nil if the target cannot be reset
	network   *network          // that the NI is in, nil if it is alone
	pair      *pair             // nil unless other processes serve the nodes

	mu     sync.Mutex
	faults faults
	now    int  // ticks
	out    bool // unplugged
}

// errUnplugged is what the transport of a line says that was unplugged.
var errUnplugged = errors.New("unplugged by the conformance suite")

// plug opens a target's transport, or both nodes of a pair.
func plug(ctx context.Context, target, peer string) (*line, error) {
	if peer != "" {
		return plugPair(ctx, [2]string{target, peer})
	}
	if text, ok := strings.CutPrefix(target, NetworkScheme+":"); ok {
		return plugNetwork(ctx, text)
	}
	t, err := hostdrv.Dial(ctx, target)
	if err != nil {
		return nil, err
	}
	l := &line{transport: t}
	l.resetter, _ = t.(hostdrv.Resetter)
	return l, nil
}

func (l *line) timing() hostdrv.Timing {
	if l.pair != nil {
		return pairTiming
	}
	return l.transport.Timing()
}

func (l *line) close() error {
	if l.pair != nil {
		return l.pair.close()
	}
	if l.network == nil {
		return l.transport.Close()
	}
	return errors.Join(l.network.leave(), l.transport.Close(), l.network.world.Close())
}

// tape is a recording of what goes over a line.
type tape struct {
	recorder *record.Recorder
	text     bytes.Buffer
}

// record records what goes over the line from now on, behind what disturb does to it.
func (l *line) record(target string, seed uint64) *tape {
	t := &tape{}
	t.recorder = record.New(&t.text)
	l.transport = t.recorder.Wrap(l.transport, record.Header{Target: target, Seed: seed})
	return t
}

// keep writes the recording to a file, once the line is closed.
func (t *tape) keep(path string) error {
	return errors.Join(t.recorder.Close(), os.MkdirAll(filepath.Dir(path), 0o777), results.WriteFile(path, t.text.Bytes()))
}

// whole reports whether the cable will not be cut any more.
func (l *line) whole() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now >= l.faults.to
}

// end is a driver's end of the line.
type end struct {
	*line
	closed bool // under mu
	sent   []linkproto.Symbol
	heard  []linkproto.Symbol
}

// Exchange is for hostdrv.
func (e *end) Exchange(x *hostdrv.Exchange) error {
	if err := e.state(); err != nil {
		return err
	}
	given := x.Out
	e.mu.Lock()
	f := &e.faults
	e.sent = f.apply(e.sent[:0], given, e.transport.Timing().Burst, e.now, f.cutOut(e.now))
	x.Out = e.sent
	wait := min(x.Wait, f.change(e.now))
	e.mu.Unlock()
	lost := len(given) > 0 && len(x.Out) == 0
	if lost {
		wait = min(wait, len(given)) // the time that it takes to send
	}
	wanted := x.Wait
	x.Wait = wait
	err := e.transport.Exchange(x)
	x.Out, x.Wait = given, wanted
	x.Taken = x.Taken || lost
	e.mu.Lock()
	e.heard = f.apply(e.heard[:0], x.In, 2*len(x.In), e.now, f.cutIn(e.now))
	x.In = e.heard
	e.now += x.Ticks
	e.mu.Unlock()
	return errors.Join(err, e.state())
}

func (e *end) state() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return net.ErrClosed
	case e.out:
		return errUnplugged
	}
	return nil
}

// Wake is for hostdrv.
func (e *end) Wake() { e.transport.Wake() }

// Timing is for hostdrv.
func (e *end) Timing() hostdrv.Timing { return e.transport.Timing() }

// Close leaves the line to the next driver.
func (e *end) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.transport.Wake()
	return nil
}

// unplug takes the line away, or puts it back.
func (l *line) unplug(out bool) {
	l.mu.Lock()
	l.out = out
	l.mu.Unlock()
	l.transport.Wake()
}

// disturb makes the line fail from now on.
func (l *line) disturb(f faults) {
	l.mu.Lock()
	f.from, f.to = f.from+l.now, f.to+l.now
	if f.until > 0 {
		f.until += l.now
	}
	l.faults = f
	l.mu.Unlock()
	l.transport.Wake()
}
