package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/pagemem"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
)

// Port is a port of a client: its handle at the server, and a receive port's page in memory that the server writes. The caller checks
// direction, state and ranges.
type Port struct {
	c      *Client
	handle uint32
	id     uint32
	link   *link

	// Under Client.Mu.
	ended   error // why it has, or nil
	done    chan struct{}
	written uint64 // writes
	settled uint64 // of them, those before a Flush or Sync that has returned
	failed  error  // of a write, until takeFailure
	attempt uint8  // counts takeFailures

	opening sync.Mutex // one Open at a time
	file    *os.File   // of the page, once open
	page    []byte     // mapped for Read and Wait
	state   *sharing.State
	memory  []byte // mapped for Memory, or nil
}

// ID is the port's number.
func (p *Port) ID() uint32 { return p.id }

// Ended is why the port has ended, or nil; it is for Client.Mu held.
func (p *Port) Ended() error { return p.ended }

// Done is closed when the port has ended.
func (p *Port) Done() <-chan struct{} { return p.done }

// end notes that the port has ended; it is for Client.Mu held.
func (p *Port) end(why error) {
	if p.ended == nil {
		p.ended = why
		close(p.done)
	}
}

func (p *Port) call(ctx context.Context, what string, op sharing.Op, value uint64, data []byte) (Answer, error) {
	return p.c.Call(ctx, what, sharing.Message{Op: op, Port: p.handle, Value: value, Data: data})
}

// Connect asks the other node to connect the port.
func (p *Port) Connect(ctx context.Context, what string, params []byte) error {
	_, err := p.call(ctx, what, sharing.OpConnect, 0, params)
	return err
}

// Open maps a receive port's page, once.
func (p *Port) Open() error {
	p.opening.Lock()
	defer p.opening.Unlock()
	a, err := p.call(context.Background(), "the server", sharing.OpMap, 0, nil)
	if err != nil || a.File == nil {
		return err
	}
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	size := p.c.identity.PageBytes
	page, err := pagemem.Open(a.File, size)
	if err != nil {
		return errors.Join(fmt.Errorf("port %d: cannot map its page: %w", p.id, err), a.File.Close())
	}
	p.file, p.page, p.state = a.File, page, sharing.StateOf(page, size)
	return nil
}

// Delete ends the port, with why.
func (p *Port) Delete(why error) error {
	p.c.Mu.Lock()
	before := p.ended != nil
	p.end(why)
	p.ended = why
	p.c.release()
	err, gone := p.c.err, p.c.ports[p.handle] == nil
	p.c.Mu.Unlock()
	if !gone {
		_, err = p.call(context.Background(), "the server", sharing.OpDelete, 0, nil)
	}
	if before {
		err = nil
	}
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	delete(p.c.ports, p.handle)
	return errors.Join(err, p.release())
}

// release frees what the port has, but for what Memory gave.
func (p *Port) release() error {
	if p.file == nil {
		return nil
	}
	err := errors.Join(pagemem.Unmap(p.page), p.file.Close())
	p.file, p.page, p.state = nil, nil, nil
	return err
}

// Settle waits until the server has carried out what was written to the port, and returns the error of a write that failed.
func (p *Port) Settle(ctx context.Context, what string) error {
	p.c.Mu.Lock()
	settled := p.written == p.settled
	p.c.Mu.Unlock()
	if settled {
		return nil
	}
	return p.settle(ctx, what, sharing.OpFlush)
}

// Sync is Settle, and waits until the peer's NI has acknowledged all.
func (p *Port) Sync(ctx context.Context, what string) error {
	return p.settle(ctx, what, sharing.OpSync)
}

func (p *Port) settle(ctx context.Context, what string, op sharing.Op) error {
	p.c.Mu.Lock()
	written := p.written
	p.c.Mu.Unlock()
	_, err := p.call(ctx, what, op, 0, nil)
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	if failed := p.takeFailure(); failed != nil {
		return failed
	}
	if err == nil {
		p.settled = max(p.settled, written)
	}
	return err
}

// Read copies bytes of the page, all of one moment.
func (p *Port) Read(ctx context.Context, data []byte, off int) error {
	_, ended, err := p.read(data, off)
	if ended {
		err = p.reason(ctx)
	}
	return err
}

// read also returns the page's version, and whether the port had ended before.
func (p *Port) read(data []byte, off int) (version uint64, ended bool, err error) {
	try := func() (ok bool) {
		p.c.Mu.Lock()
		defer p.c.Mu.Unlock()
		if err = p.c.err; err == nil && p.page == nil {
			err = p.ended
		}
		if err != nil {
			return true
		}
		ended = p.state.Ended()
		version, ok = p.state.Read(func() { copy(data, p.page[off:]) })
		return ok
	}
	for !try() {
		runtime.Gosched()
	}
	return version, ended, err
}

// reason waits for the server to say why the port has ended.
func (p *Port) reason(ctx context.Context) (err error) {
	waited := p.c.Until(ctx, "the server", func() bool {
		err = p.ended
		return err != nil
	})
	return errors.Join(waited, err)
}

// changed reports whether the page has a version other than one, or cannot change any more.
func (p *Port) changed(version uint64) (changed, out bool) {
	p.c.Mu.Lock()
	defer p.c.Mu.Unlock()
	return p.state == nil || p.state.Version() != version || p.state.Ended(), p.state != nil && p.state.Out()
}

// Wait waits until ready, which gets a copy of the page.
func (p *Port) Wait(ctx context.Context, what string, ready func([]byte) bool) error {
	page := make([]byte, p.c.identity.PageBytes)
	block := time.Now().Add(p.c.config.Spin)
	for {
		version, ended, err := p.read(page, 0)
		if err != nil {
			return err
		}
		if ready(page) {
			return nil
		}
		if ended {
			return p.reason(ctx)
		}
		changed, out := p.changed(version)
		for !changed && !out && !p.c.virtualTime && ctx.Err() == nil && time.Now().Before(block) {
			runtime.Gosched()
			changed, out = p.changed(version)
		}
		if changed {
			if ctx.Err() != nil {
				return wait.Error(ctx, what)
			}
			continue
		}
		if _, err := p.call(ctx, what, sharing.OpWait, version, nil); err != nil {
			if changed, _ := p.changed(version); !changed { // then ready sees what came last
				return err
			}
		}
		block = time.Now().Add(p.c.config.Spin)
	}
}

// Memory is a receive port's page as memory; it and Unmap are for Client.Mu held.
func (p *Port) Memory() (_ []byte, err error) {
	size := p.c.identity.PageBytes
	if p.memory == nil {
		if p.memory, err = pagemem.Open(p.file, size); err != nil {
			return nil, fmt.Errorf("port %d: cannot map its page: %w", p.id, err)
		}
	}
	return p.memory[:size:size], nil
}

// Mapped reports whether Memory was called, and Unmap not since.
func (p *Port) Mapped() bool { return p.memory != nil }

// Unmap ends what Memory gave.
func (p *Port) Unmap() error {
	err := pagemem.Unmap(p.memory)
	p.memory = nil
	return err
}

// Offer is another node's request to connect a port.
type Offer struct {
	sharing.Offer
	ID uint32 // of the port

	c      *Client
	handle uint32
}

// NextOffer waits for a request whose parameters begin with prefix.
func (c *Client) NextOffer(ctx context.Context, what string, prefix []byte) (*Offer, error) {
	a, err := c.do(ctx, what, sharing.Message{Op: sharing.OpAccept, Data: prefix}, call{undo: func(a Answer) {
		c.refuse(a.Port, "the program stopped waiting")
	}})
	if err != nil {
		return nil, err
	}
	o := &Offer{c: c, handle: a.Port, ID: uint32(a.Value)}
	if err := json.Unmarshal(a.Data, &o.Offer); err != nil || o.Direction > 1 || c.links[o.Link] == nil {
		return nil, violation("offers % x", a.Data)
	}
	return o, nil
}

// Accept takes the port.
func (o *Offer) Accept() (*Port, error) {
	return o.c.newPort(sharing.Message{Op: sharing.OpTake, Port: o.handle}, o.Link)
}

// Refuse refuses the port.
func (o *Offer) Refuse(reason string) error { return o.c.refuse(o.handle, reason) }

func (c *Client) refuse(handle uint32, reason string) error {
	_, err := c.Call(context.Background(), "the server", sharing.Message{Op: sharing.OpRefuse, Port: handle, Data: []byte(reason)})
	return err
}
