package hostdrv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// clientPort is what a port is at a client: its handle at the server, and a receive port's page in memory that the server writes. Late writes
// stay here until they are flushed.
type clientPort struct {
	c      *client
	handle uint32
	id     uint32
	link   *clientLink
	spin   time.Duration

	// Under link.mu.
	deleted bool
	written uint64 // writes
	settled uint64 // of them, those before a Flush or Sync that has returned
	spoilt  error  // of a write, until somebody is told of it
	attempt uint8  // counts these

	flushing chan struct{} // has room for one flush at a time
	mapping  sync.Mutex    // one at a time too

	mu        sync.Mutex
	policy    Policy
	late      *lateWrites // as for Port
	stopFlush func()      // of FlushEvery, or nil

	file  *os.File // of the page, once mapped
	page  []byte   // mapped for ReadAt and Wait
	bytes []byte   // mapped for Bytes, or nil
	state *sharing.State
}

func (c *client) newPort(node *Node, handle, id uint32, link int, d Direction) *Port {
	p := &clientPort{c: c, handle: handle, id: id, link: c.links[link-1], spin: node.spinTime, flushing: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ports != nil {
		c.ports[handle] = p
	}
	return &Port{node: node, remote: p, via: link, id: id, direction: d}
}

func (p *clientPort) ask(ctx context.Context, op sharing.Op, value uint64, data []byte) (answer, error) {
	return p.c.call(ctx, sharing.Message{Op: op, Port: p.handle, Value: value, Data: data})
}

func (p *clientPort) connect(ctx context.Context, params []byte) error {
	_, err := p.ask(ctx, sharing.OpConnect, 0, params)
	return err
}

// mapped maps a receive port's page, once.
func (p *clientPort) mapped() error {
	p.mapping.Lock()
	defer p.mapping.Unlock()
	a, err := p.ask(context.Background(), sharing.OpMap, 0, nil)
	if err != nil || a.file == nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	size := p.c.identity.PageBytes
	page, err := mapShared(a.file, size)
	if err != nil {
		return errors.Join(fmt.Errorf("hostdrv: cannot map port %d: %w", p.id, err), a.file.Close())
	}
	p.file, p.page, p.state = a.file, page, sharing.StateOf(page, size)
	return nil
}

// delete ends the port.
func (p *clientPort) delete() error {
	p.link.mu.Lock()
	p.deleted = true
	p.link.mu.Unlock()
	_, err := p.ask(context.Background(), sharing.OpDelete, 0, nil)
	p.c.mu.Lock()
	delete(p.c.ports, p.handle)
	p.c.mu.Unlock()
	if errors.Is(err, ErrPort) { // deleted before
		err = nil
	}
	return errors.Join(err, p.release())
}

// release gives free what the port has but for what Bytes gave.
func (p *clientPort) release() error {
	p.flushEvery(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	err := errors.Join(unmap(p.page), p.file.Close())
	p.file, p.page, p.state = nil, nil, nil
	return err
}

func (p *clientPort) setPolicy(policy Policy) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if policy == Immediate && p.late != nil && p.late.memory != nil {
		return notImmediate(p.id)
	}
	p.policy = policy
	if policy == Late && p.late == nil {
		p.late = &lateWrites{image: make([]byte, p.c.identity.PageBytes)}
	}
	return nil
}

func (p *clientPort) writeAt(ctx context.Context, data []byte, off int) error {
	p.mu.Lock()
	if p.policy == Late {
		defer p.mu.Unlock()
		p.late.write(data, off)
		return p.c.failure()
	}
	p.mu.Unlock()
	return p.write(ctx, data, off)
}

func (p *clientPort) flush(ctx context.Context) error {
	select {
	case p.flushing <- struct{}{}:
		defer func() { <-p.flushing }()
	case <-ctx.Done():
		return waitError(ctx, "another Flush")
	}
	p.mu.Lock()
	var err error
	var spans []span
	var image []byte
	if p.late != nil {
		err = errors.Join(p.late.failed, p.late.collect())
		spans, image = p.late.spans, bytes.Clone(p.late.image)
		p.late.failed, p.late.spans = nil, nil
	}
	p.mu.Unlock()
	for i := 0; err == nil && i < len(spans); i++ {
		err = p.write(ctx, image[spans[i].first:spans[i].end], spans[i].first)
	}
	p.link.mu.Lock()
	unsettled := p.written > p.settled
	p.link.mu.Unlock()
	switch {
	case err == nil && unsettled:
		err = p.settle(ctx, sharing.OpFlush)
	case err == nil:
		err = p.c.failure()
	}
	if err != nil { // some of it may have gone: then it goes again
		p.mu.Lock()
		for _, s := range spans {
			p.late.mark(s)
		}
		p.mu.Unlock()
	}
	return err
}

// setFlush is Port.FlushEvery.
func (p *clientPort) setFlush(d time.Duration) error {
	if err := p.c.failure(); err != nil {
		return err
	}
	p.mu.Lock()
	late := p.policy == Late
	p.mu.Unlock()
	if !late {
		return notFlushed(p.id)
	}
	p.flushEvery(d)
	return nil
}

// flushEvery begins to flush again and again, or ends that.
func (p *clientPort) flushEvery(d time.Duration) {
	p.mu.Lock()
	stop := p.stopFlush
	p.stopFlush = nil
	if d > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		p.stopFlush = cancel
		p.c.work.Go(func() {
			for ctx.Err() == nil && p.c.sleep(ctx, d) == nil {
				if err := p.flush(ctx); err != nil && !errors.Is(err, context.Canceled) { // which is FlushEvery, not the port; the next Flush has it all
					p.mu.Lock()
					if p.late.failed == nil {
						p.late.failed = err
					}
					p.mu.Unlock()
				}
			}
		})
	}
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// sleep waits until so much of the target's time has passed.
func (c *client) sleep(ctx context.Context, d time.Duration) error {
	_, err := c.call(ctx, sharing.Message{Op: sharing.OpSleep, Value: uint64(max(d, 1))})
	return err
}

// read copies bytes of the page, all of one moment, and returns its version and whether the port had ended before.
func (p *clientPort) read(data []byte, off int) (version uint64, ended bool, err error) {
	for {
		select {
		case <-p.c.stopped:
			return 0, false, p.c.failure()
		default:
		}
		p.mu.Lock()
		if p.page == nil {
			p.mu.Unlock()
			if err := p.c.failure(); err != nil {
				return 0, false, err
			}
			return 0, false, deleted(p.id)
		}
		ended := p.state.Ended()
		version, ok := p.state.Read(func() { copy(data, p.page[off:]) })
		p.mu.Unlock()
		if ok {
			return version, ended, nil
		}
		runtime.Gosched()
	}
}

// reason asks why the port has ended.
func (p *clientPort) reason() error {
	_, err := p.ask(context.Background(), sharing.OpWait, ^uint64(0), nil)
	if err == nil {
		err = fmt.Errorf("%w %d has ended", ErrPort, p.id)
	}
	return err
}

func (p *clientPort) readAt(data []byte, off int) error {
	_, ended, err := p.read(data, off)
	if ended {
		err = p.reason()
	}
	return err
}

// changed reports whether the page has a version other than one, or cannot change any more.
func (p *clientPort) changed(version uint64) (changed, out bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state == nil || p.state.Version() != version || p.state.Ended(), p.state != nil && p.state.Out()
}

// wait is as Window.Wait. What ready gets is a copy.
func (p *clientPort) wait(ctx context.Context, ready func([]byte) bool) error {
	page := make([]byte, p.c.identity.PageBytes)
	block := time.Now().Add(p.spin)
	for {
		version, ended, err := p.read(page, 0)
		if err != nil {
			return err
		}
		if ready(page) {
			return nil
		}
		if ended {
			return p.reason()
		}
		changed, out := p.changed(version)
		for !changed && !out && !p.c.stands && ctx.Err() == nil && time.Now().Before(block) {
			runtime.Gosched()
			changed, out = p.changed(version)
		}
		if changed {
			if ctx.Err() != nil {
				return waitError(ctx, p.c.what(sharing.Message{Op: sharing.OpWait}))
			}
			continue
		}
		if _, err := p.ask(ctx, sharing.OpWait, version, nil); err != nil && !errors.Is(err, ErrPortClosed) { // then ready sees what came last
			return err
		}
		block = time.Now().Add(p.spin)
	}
}

// memory is Window.Bytes.
func (p *clientPort) memory(d Direction) ([]byte, error) {
	if err := p.c.failure(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	size := p.c.identity.PageBytes
	if d == Receive {
		if p.bytes == nil {
			if p.file == nil {
				return nil, deleted(p.id)
			}
			var err error
			if p.bytes, err = mapShared(p.file, size); err != nil {
				return nil, fmt.Errorf("hostdrv: cannot map port %d: %w", p.id, err)
			}
		}
		return p.bytes[:size:size], nil
	}
	if p.policy != Late {
		return nil, notLate(p.id)
	}
	return p.late.bytes()
}

// unmap is Window.Unmap.
func (p *clientPort) unmap() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := errors.Join(p.late.unmap(), unmap(p.bytes))
	p.bytes = nil
	return err
}
