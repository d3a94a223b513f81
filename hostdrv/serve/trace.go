package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/linkproto"
)

// outletRoom is how many bytes of a capture wait for a program that reads slowly.
const outletRoom = 1 << 20

// outlet gives a program what it captures as fast as it reads. What does not fit is left out.
type outlet struct {
	mu      sync.Mutex
	waiting []byte
	ended   bool          // nothing comes after what is waiting
	more    chan struct{} // has room for one
}

// Write is for capture.Writer.
func (o *outlet) Write(block []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || len(o.waiting)+len(block) > outletRoom {
		return 0, capture.ErrFull
	}
	o.waiting = append(o.waiting, block...)
	o.wake()
	return len(block), nil
}

func (o *outlet) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// end lets nothing more in.
func (o *outlet) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.wake()
}

// run fills the pipe until the end, or until the program has closed it or has gone.
func (o *outlet) run(pipe *os.File, gone <-chan struct{}) {
	for {
		select {
		case <-o.more:
		case <-gone:
			return
		}
		o.mu.Lock()
		blocks, ended := o.waiting, o.ended
		o.waiting = nil
		o.mu.Unlock()
		if _, err := pipe.Write(blocks); err != nil || ended {
			return
		}
	}
}

// trusted refuses a call of a program that must not see what others do.
func trusted(do run) run {
	return func(c *client, ctx context.Context, m sharing.Message) (sharing.Message, *os.File, error) {
		if !c.own {
			return sharing.Message{}, nil, fmt.Errorf("%w: it would show what all programs do: only those of the server's user may ask for it", fs.ErrPermission)
		}
		return do(c, ctx, m)
	}
}

// listen begins a capture.
func listen(c *client, _ context.Context, m sharing.Message) (a sharing.Message, file *os.File, err error) {
	tap := c.server.options.Tap
	if tap == nil {
		return a, nil, errors.New("serve: this server has no tap in its cable")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.captured != nil {
		return a, nil, fmt.Errorf("%w: one capture at a time", hostdrv.ErrLimit)
	}
	file, pipe, err := os.Pipe()
	if err != nil {
		return a, nil, err
	}
	o := &outlet{more: make(chan struct{}, 1)}
	c.captured = o
	stop := tap.Listen(o, m.Value != 0)
	closed := make(chan struct{})
	c.work.Go(func() {
		o.run(pipe, c.gone)
		stop()
		close(closed)
		c.mu.Lock()
		c.captured = nil
		c.mu.Unlock()
	})
	c.work.Go(func() { // which ends a Write that waits for the program
		select {
		case <-c.gone:
		case <-closed:
		}
		pipe.Close()
	})
	a.Value = uint64(tap.Began().UnixNano())
	return a, file, nil
}

// listenNoMore ends a capture.
func listenNoMore(c *client, _ context.Context, _ sharing.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.captured != nil {
		c.captured.end()
	}
	return nil
}

// startTrace lets the trace buffer record for a client.
func startTrace(c *client, ctx context.Context, m sharing.Message) error {
	var setup linkproto.TraceSetup
	if err := json.Unmarshal(m.Data, &setup); err != nil {
		return fmt.Errorf("%w: %w", hostdrv.ErrRange, err)
	}
	s := c.server
	s.mu.Lock()
	anew := s.tracing != c
	if anew && s.tracing != nil {
		s.mu.Unlock()
		return fmt.Errorf("%w: the trace buffer records for another program", hostdrv.ErrLimit)
	}
	s.tracing = c
	s.mu.Unlock()
	err := s.node.StartTrace(ctx, setup)
	if err != nil && anew { // else what it records goes on
		s.traced()
	}
	return err
}

// traced gives the trace buffer free.
func (s *server) traced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tracing = nil
}

func traceState(c *client, ctx context.Context, _ sharing.Message) (a sharing.Message, _ *os.File, err error) {
	s, err := c.server.node.TraceState(ctx)
	if err == nil {
		a.Data, err = json.Marshal(s)
	}
	return a, nil, err
}

// readTrace reads what the trace buffer has recorded for a client, which has it no more then.
func readTrace(c *client, ctx context.Context, _ sharing.Message) (a sharing.Message, file *os.File, err error) {
	s := c.server
	s.mu.Lock()
	mine := s.tracing == c
	s.mu.Unlock()
	if !mine {
		return a, nil, fmt.Errorf("%w: the trace buffer does not record for this program", hostdrv.ErrRange)
	}
	trace, err := s.node.ReadTrace(ctx)
	if err == nil {
		file, err = fileWith(trace)
	}
	if err == nil {
		s.traced()
	}
	return a, file, err
}
