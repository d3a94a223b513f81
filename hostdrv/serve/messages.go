package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// messages is a context of a client.
type messages struct {
	hostdrv.MessageRings
	client *client
	handle uint32

	looking atomic.Bool    // a goroutine looks at what the client posts
	looks   sync.WaitGroup // such goroutines, which use the rings' memory
	closing atomic.Bool
}

// lookFor is how long the server looks for more that a program posts. Then the program has to say so, by a message.
const lookFor = 20 * time.Microsecond

func openContext(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, file *os.File, err error) {
	var o msg.Options
	if err := json.Unmarshal(m.Data, &o); err != nil {
		return a, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	opened, info, file, err := c.server.node.ShareMessages(ctx, int(min(m.Value, 1<<16)), o)
	if err != nil {
		return a, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.full(); err != nil {
		return a, nil, errors.Join(err, opened.Close(), file.Close())
	}
	a.Port = c.handle()
	c.contexts[a.Port] = &messages{MessageRings: opened, client: c, handle: a.Port}
	a.Data, err = json.Marshal(info)
	return a, file, err
}

func (c *client) context(handle uint32) (*messages, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.contexts[handle]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%w: the program has no context with this handle", hostdrv.ErrRange)
}

// posted takes what a client has posted, and looks for more.
func (c *client) posted(handle uint32) {
	x, err := c.context(handle)
	if err != nil {
		return // it was closed
	}
	if c.server.node.NI().VirtualTime() { // what a program says next is behind what it has posted
		x.look(0)
		return
	}
	if x.looking.CompareAndSwap(false, true) {
		x.looks.Add(1)
		c.work.Go(func() {
			defer x.looks.Done()
			x.look(lookFor)
		})
	}
}

// look takes what is posted until nothing was for so long. Then the client has to say so.
func (x *messages) look(patience time.Duration) {
	rings := x.Rings()
	for {
		seen := rings.Posted()
		if x.pull() != nil {
			return // and nobody looks any more
		}
		for start := time.Now(); rings.Posted() == seen && time.Since(start) < patience && !x.closing.Load(); {
			runtime.Gosched()
		}
		if rings.Posted() != seen {
			continue
		}
		x.looking.Store(false)
		rings.Sleep()
		if rings.Posted() == seen || !rings.Wake() || !x.looking.CompareAndSwap(false, true) {
			return
		}
	}
}

// pull takes what is posted. What is wrong with it the client hears.
func (x *messages) pull() error {
	err := x.Pull()
	if err != nil {
		x.client.fail(sharing.Message{Op: sharing.OpEnded, Port: x.handle}, err)
	}
	return err
}

// waitContext waits for a completion.
func waitContext(c *client, ctx context.Context, m sharing.Message) error {
	x, err := c.context(m.Port)
	if err != nil {
		return err
	}
	return x.Wait(ctx, m.Value)
}

func messageStats(c *client, _ context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	x, err := c.context(m.Port)
	if err != nil {
		return a, nil, err
	}
	s, err := x.Stats()
	if err == nil {
		a.Data, err = json.Marshal(s)
	}
	return a, nil, err
}

func closeContext(c *client, _ context.Context, m sharing.Message) error {
	x, err := c.context(m.Port)
	if err == nil {
		err = x.end()
	}
	c.mu.Lock()
	delete(c.contexts, m.Port)
	c.mu.Unlock()
	return err
}

// end closes the context, once nobody looks at its rings.
func (x *messages) end() error {
	x.closing.Store(true)
	x.looks.Wait()
	return x.Close()
}
