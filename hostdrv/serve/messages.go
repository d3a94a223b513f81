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
	looks   sync.WaitGroup // such goroutines, and tell, which use the rings' memory
	closing atomic.Bool
	cancel  context.CancelFunc // of tell
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
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x := &messages{MessageRings: opened, client: c, handle: a.Port, cancel: cancel}
	c.contexts[a.Port] = x
	x.looks.Go(func() { x.tell(ctx) })
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

// look takes what is asked for until nothing was for so long. Then the client has to say so.
func (x *messages) look(patience time.Duration) {
	rings := x.Rings()
	for {
		seen := rings.Asked()
		if x.closing.Load() || x.client.connection.Err() != nil || x.Pull() != nil { // however much is asked for
			return // and nobody looks any more
		}
		for start := time.Now(); rings.Asked() == seen && time.Since(start) < patience && !x.closing.Load(); {
			runtime.Gosched()
		}
		if rings.Asked() != seen {
			continue
		}
		x.looking.Store(false)
		rings.Sleep()
		if rings.Asked() == seen || !rings.Wake() || !x.looking.CompareAndSwap(false, true) {
			return
		}
	}
}

// tell tells the client each time that there is what it waits for, and what was wrong with what it has posted.
func (x *messages) tell(ctx context.Context) {
	for {
		err := x.Wait(ctx)
		switch {
		case errors.Is(err, hostdrv.ErrRings), errors.Is(err, msg.ErrEnded):
			x.client.fail(sharing.Message{Op: sharing.OpEnded, Port: x.handle}, err)
			return
		case err != nil:
			return
		}
		x.client.send(sharing.Message{Op: sharing.OpMessageCame, Port: x.handle}, nil)
	}
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
	x.cancel()
	x.looks.Wait()
	return x.Close()
}
