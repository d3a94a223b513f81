package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// messages is a context of a client.
type messages struct {
	hostdrv.Messages
	longest int

	mu     sync.Mutex
	staged []byte // of the next message to be sent
	posted int    // bytes of descriptors that have not completed
}

// postedBytes is how many bytes the descriptors of a context may have that are posted, those of messages that came in parts included.
const postedBytes = 16 << 20

func openContext(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.full(); err != nil {
		return a, nil, err
	}
	var o msg.Options
	if err := json.Unmarshal(m.Data, &o); err != nil {
		return a, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	opened, err := c.server.node.OpenMessages(ctx, int(min(m.Value, 1<<16)), o)
	if err != nil {
		return a, nil, err
	}
	a.Port = c.handle()
	c.contexts[a.Port] = &messages{Messages: opened, longest: cmp.Or(o.Longest, msg.MaxLongest)}
	return a, nil, nil
}

func (c *client) context(handle uint32) (*messages, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.contexts[handle]; m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("%w: the program has no context with this handle", hostdrv.ErrRange)
}

// onContext is for calls about a context, with an empty answer.
func onContext(do func(x *messages, m sharing.Message) error) run {
	return simple(func(c *client, _ context.Context, m sharing.Message) error {
		x, err := c.context(m.Port)
		if err != nil {
			return err
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		return do(x, m)
	})
}

// part keeps a part of the next message.
func part(x *messages, m sharing.Message) error {
	if len(x.staged)+len(m.Data) > x.longest {
		x.staged = nil
		return fmt.Errorf("%w: more than %d bytes", msg.ErrTooLong, x.longest)
	}
	x.staged = append(x.staged, m.Data...)
	return nil
}

// room reports whether descriptors of so many bytes more may be posted.
func (x *messages) room(bytes int) error {
	if x.posted+bytes > postedBytes {
		return fmt.Errorf("%w: descriptors of %d bytes are posted, at most %d may be", hostdrv.ErrLimit, x.posted, postedBytes)
	}
	return nil
}

func postSend(x *messages, m sharing.Message) error {
	data := append(x.staged, m.Data...)
	x.staged = nil
	err := x.room(len(data))
	if p := sharing.PostOf(m.Value); err == nil {
		err = x.PostSend(msg.Send{Node: p.Node, Tag: p.Tag, Data: data, Cookie: m.Value})
	}
	if err == nil {
		x.posted += len(data)
	}
	return err
}

func postReceive(x *messages, m sharing.Message) error {
	p := sharing.PostOf(m.Value)
	room := min(int(p.Tag), x.longest)
	err := x.room(room)
	if err == nil {
		err = x.PostReceive(msg.Receive{Data: make([]byte, room), Cookie: m.Value})
	}
	if err == nil {
		x.posted += room
	}
	return err
}

// completion answers with the oldest completion.
func completion(c *client, ctx context.Context, m sharing.Message) (a sharing.Message, file *os.File, err error) {
	x, err := c.context(m.Port)
	if err != nil {
		return a, nil, err
	}
	var done msg.Completion
	is := true
	if m.Value != 0 {
		done, err = x.Wait(ctx)
	} else {
		done, is, err = x.Poll()
	}
	if err != nil || !is {
		return a, nil, err
	}
	p := sharing.PostOf(done.Cookie)
	x.mu.Lock()
	if done.Received {
		x.posted -= min(int(p.Tag), x.longest)
	} else {
		x.posted -= len(done.Data)
	}
	x.mu.Unlock()
	a.Port, a.Value = sharing.DoneSent, sharing.Post{Index: p.Index, Node: done.Node, Tag: done.Tag}.Value()
	if done.Received {
		a.Port, a.Data = sharing.DoneReceived, done.Data
	}
	if done.Err != nil {
		a.Port |= sharing.DoneFailed
		a.Data, err = json.Marshal(sharing.Describe(done.Err))
	}
	if len(a.Data) > sharing.MaxData {
		file, err = fileOf(a.Data)
		a.Data = nil
	}
	return a, file, err
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

func closeContext(c *client, _ context.Context, m sharing.Message) (a sharing.Message, _ *os.File, err error) {
	x, err := c.context(m.Port)
	if err == nil {
		err = x.Close()
	}
	c.mu.Lock()
	delete(c.contexts, m.Port)
	c.mu.Unlock()
	return a, nil, err
}
