package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// tracing is a trace underway.
type tracing struct {
	target string
	setup  linkproto.TraceSetup
	asked  bool // for the trace buffer, so that it must be there

	ni     tracer
	node   *hostdrv.Node // ni, if it is another process's
	began  time.Time     // when the NI was opened
	ended  chan struct{} // closed when nothing more will come, since
	why    error
	stop   func(context.Context) error // ends the capture
	work   sync.WaitGroup
	buffer bool // the trace buffer records
	clock  capture.Clock
	file   counted
}

// counted is where a capture is written, and how many bytes of it were.
type counted struct {
	io.Writer
	bytes atomic.Uint64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.bytes.Add(uint64(n))
	return n, err
}

// run traces the target until the end. w is for the capture, or nil.
func (t *tracing) run(ctx *cli.Context, w io.Writer) {
	during, cancel := context.WithCancel(ctx.Context)
	defer t.work.Wait()
	defer cancel()
	flush := func() error { return nil }
	if w != nil && w != ctx.App.Writer { // who reads the standard output wants to see it at once
		file := bufio.NewWriterSize(w, 1<<16)
		w, flush = file, file.Flush
	}
	if w != nil {
		t.file.Writer, w = w, &t.file
	}
	t.ended, t.stop = make(chan struct{}), func(context.Context) error { return nil }
	defer try.Finally(func() error {
		if t.ni == nil {
			return nil
		}
		return errors.Join(t.ni.Close(), flush())
	})
	if isShared(t.target) {
		t.node = openShared(ctx, t.target)
		t.ni = t.node
	} else {
		t.open(ctx, during, w)
	}
	var first hostdrv.Report
	err := try.Run(func() {
		first = try.Get(t.ni.Report(ctx.Context))
		if t.node != nil && w != nil {
			t.listen(ctx, w)
		}
		t.record(ctx.Context, first.Identity)
		t.watch(ctx)
	})
	final := context.WithoutCancel(ctx.Context) // what there is when it is interrupted is wanted
	if err != nil && ctx.Context.Err() == nil {
		try.OK(err, t.stop(final))
	}
	r := traceReport{Target: t.target, Output: ctx.String("output")}
	t.finish(final, w, &r)
	r.Time = try.Get(t.ni.Report(final)).Now - first.Now
	try.OK(r.write(ctx))
	if len(t.setup.Trigger) > 0 && ctx.Context.Err() == nil && !r.Trace.Triggered {
		try.Failf("no trigger in %v of the target's time", ctx.Duration("for"))
	}
}

// open opens a target for this process alone, with a tap in its cable.
func (t *tracing) open(ctx *cli.Context, during context.Context, w io.Writer) {
	tap := capture.NewTap(t.target)
	if w != nil {
		stop := tap.Listen(w, ctx.Bool("all"))
		t.stop = func(context.Context) error { return stop() }
	}
	n := openTarget(ctx, t.target, tap.Options(hostdrv.Options{}))
	t.ni, t.began = n, tap.Began()
	events := try.Get(n.Events())
	t.work.Go(func() { // the time of a simulation passes while somebody waits
		for t.why == nil {
			_, t.why = events.Next(during)
		}
		close(t.ended)
	})
}

// listen captures what another process does with its NI.
func (t *tracing) listen(ctx *cli.Context, w io.Writer) {
	c := try.Get(t.node.Capture(ctx.Context, ctx.Bool("all")))
	t.began = c.Began
	t.work.Go(func() {
		if _, t.why = io.Copy(w, c); t.why == nil {
			t.why = fmt.Errorf("%w: the server at %s has ended", hostdrv.ErrGone, t.target)
		}
		close(t.ended)
	})
	t.stop = func(ctx context.Context) error {
		err := c.End(ctx)
		if err == nil {
			<-t.ended
		}
		return errors.Join(err, c.Close())
	}
}

// record lets the trace buffer record, if there is one.
func (t *tracing) record(ctx context.Context, id hostdrv.Identity) {
	if !id.Has(linkproto.FeatureTrace) && !t.asked {
		return
	}
	if t.setup.Ports == nil {
		for link := range id.Links { // not the host port, at which each look at the buffer would be an event
			t.setup.Ports = append(t.setup.Ports, link+1)
		}
	}
	err := t.ni.StartTrace(ctx, t.setup)
	if errors.Is(err, linkproto.ErrNoTrace) {
		err = fmt.Errorf("%w: use a target with one, such as rtl:?trace=1024, or --output to capture the cable", err)
	}
	if err != nil {
		try.Failf("%w (target %s)", err, t.target)
	}
	t.buffer = true
	try.Get(t.look(ctx))
}

func (t *tracing) look(ctx context.Context) (hostdrv.TraceState, error) {
	s, err := t.ni.TraceState(ctx)
	if err == nil {
		t.clock.Add(s)
	}
	return s, err
}

// watch waits for the end.
func (t *tracing) watch(ctx *cli.Context) {
	limit := ctx.Context
	if ctx.IsSet("for") {
		var cancel context.CancelFunc
		limit, cancel = t.ni.WithTimeout(limit, ctx.Duration("for"))
		defer cancel()
	}
	progress := startTicker(ctx.App.ErrWriter, "tracing "+t.target)
	defer progress.stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-limit.Done():
			return
		case <-t.ended:
			if limit.Err() == nil {
				try.OK(t.why)
			}
			return
		case <-again.C:
		}
		text := "tracing " + t.target
		if t.file.Writer != nil {
			text += fmt.Sprintf(": %s bytes captured", thousands(t.file.bytes.Load()))
		}
		if !t.buffer {
			progress.set("%s", text)
			continue
		}
		s, err := t.look(limit)
		if limit.Err() != nil {
			return
		}
		if try.OK(err); !s.Recording {
			return
		}
		progress.set("%s, %s records in the trace buffer", text, thousands(uint64(s.Written)))
	}
}

// finish ends the recording and the capture, and adds the former to the latter.
func (t *tracing) finish(ctx context.Context, w io.Writer, r *traceReport) {
	if try.OK(t.stop(ctx)); !t.buffer {
		return
	}
	trace := try.Get(t.ni.ReadTrace(ctx))
	try.Get(t.look(ctx))
	if r.Trace = &trace; w == nil {
		return
	}
	c := capture.Continue(w, 1)
	c.Trace(trace, &t.clock, t.began)
	try.OK(c.Err())
}
