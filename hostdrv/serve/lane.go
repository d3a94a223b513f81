package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// lane carries out what a client writes by one link, in order. A link that has no room holds up its own lane, and nothing else of the client.
type lane struct {
	client     *client
	connection context.Context // ends with it
	link       int
	received   uint64        // bytes of writes; for the goroutine that reads
	carried    atomic.Uint64 // of them, those done with
	reported   uint64        // of these, those reported to the client
	over       bool          // the client has gone, and there is no room: what it wrote last is lost

	mu      sync.Mutex
	steps   []*step // that wait
	running bool    // a goroutine carries steps out
}

// step is what is done in its turn: writes, or then.
type step struct {
	writes []byte
	then   func()
}

// write takes an OpWrite's data.
func (l *lane) write(data []byte) error {
	for rest := data; len(rest) > 0; {
		var err error
		if _, rest, err = sharing.NextWrite(rest); err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
	}
	if l.received += uint64(len(data)); l.received-l.carried.Load() > sharing.WriteWindow {
		return fmt.Errorf("%w: more than %d bytes of writes underway by link %d", errBroken, sharing.WriteWindow, l.link)
	}
	l.add(&step{writes: slices.Clone(data)})
	return nil
}

func (l *lane) add(s *step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, s)
	if !l.running {
		l.running = true
		l.client.work.Go(l.run)
	}
}

// idle reports whether all that was written has been carried out.
func (l *lane) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.running
}

func (l *lane) run() {
	for {
		l.mu.Lock()
		if len(l.steps) == 0 {
			l.running, l.steps = false, nil
			l.mu.Unlock()
			return
		}
		s := l.steps[0]
		l.steps = l.steps[1:]
		l.mu.Unlock()
		l.carry(s.writes)
		if s.then != nil {
			s.then()
		}
	}
}

// carry carries out writes, and reports progress and failures to the client.
func (l *lane) carry(writes []byte) {
	for len(writes) > 0 && !l.over {
		w, rest, err := sharing.NextWrite(writes)
		if err == nil {
			err = l.carryOut(w)
		}
		switch {
		case err == nil:
		case l.connection.Err() != nil:
			l.over = true
		default:
			l.client.fail(sharing.Message{Op: sharing.OpWriteFailed, Port: w.Port, Value: uint64(w.Attempt)}, err)
		}
		carried := l.carried.Add(uint64(len(writes) - len(rest)))
		if carried-l.reported >= sharing.WriteWindow/4 {
			l.reported = carried
			l.client.send(sharing.Message{Op: sharing.OpWritten, Port: uint32(l.link), Value: carried}, nil)
		}
		writes = rest
	}
}

func (l *lane) carryOut(w sharing.Write) error {
	l.client.mu.Lock()
	p := l.client.ports[w.Port] // also one that was deleted after this was written
	l.client.mu.Unlock()
	switch {
	case p == nil:
		return errNotTheirs
	case p.Link() != l.link:
		return fmt.Errorf("%w: port %d goes by link %d", hostdrv.ErrPort, p.ID(), p.Link())
	case p.failed && p.attempt == w.Attempt:
		return nil
	}
	window, err := p.mapped()
	if err != nil {
		return err
	}
	p.attempt = w.Attempt
	err = window.WritePage(l.connection, w.Data, w.Offset)
	p.failed = err != nil
	return err
}

// reached waits until all that was written before has been carried out.
func (l *lane) reached(ctx context.Context) error {
	done := make(chan struct{})
	s := &step{then: func() { close(done) }}
	l.add(s)
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = slices.DeleteFunc(l.steps, func(other *step) bool { return other == s })
	return context.Cause(ctx)
}
