package shared

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// Messages is a context of another process's NI.
type Messages struct {
	c      *Client
	handle uint32

	sending sync.Mutex // one message at a time: its parts stay together

	mu     sync.Mutex
	posts  []descriptor // by index
	free   []uint16     // those that are the program's, of posts
	missed []Answer     // completions that nobody waited for any more
	closed bool
}

// descriptor is one that is posted.
type descriptor struct {
	data   []byte
	cookie uint64
}

// OpenMessages opens a context.
func (c *Client) OpenMessages(ctx context.Context, number int, o msg.Options) (*Messages, error) {
	options, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	m := &Messages{c: c, posts: make([]descriptor, min(max(cmp.Or(o.Sends, msg.DefaultRing)+cmp.Or(o.Receives, msg.DefaultRing), 0), 1<<16))}
	for i := range m.posts {
		m.free = append(m.free, uint16(len(m.posts)-1-i))
	}
	a, err := c.do(ctx, "the server", sharing.Message{Op: sharing.OpContext, Value: uint64(max(number, 0)), Data: options}, call{undo: func(a Answer) {
		m.handle = a.Port
		m.Close()
	}})
	m.handle = a.Port
	return m, err
}

// post asks the server to post a descriptor.
func (m *Messages) post(op sharing.Op, p sharing.Post, d descriptor, last []byte) error {
	m.mu.Lock()
	if m.closed || len(m.free) == 0 {
		err := msg.ErrFull
		if m.closed {
			err = engine.ErrClosed
		}
		m.mu.Unlock()
		return err
	}
	p.Index = m.free[len(m.free)-1]
	m.free = m.free[:len(m.free)-1]
	m.posts[p.Index] = d
	m.mu.Unlock()
	_, err := m.c.Call(context.Background(), "the server", sharing.Message{Op: op, Port: m.handle, Value: p.Value(), Data: last})
	if err != nil {
		m.take(p.Index)
	}
	return err
}

// take gives a descriptor back to the program.
func (m *Messages) take(index uint16) (d descriptor, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(index) >= len(m.posts) || len(m.free) == len(m.posts) {
		return d, false
	}
	d, m.posts[index] = m.posts[index], descriptor{}
	m.free = append(m.free, index)
	return d, true
}

// PostSend posts a descriptor for sending.
func (m *Messages) PostSend(s msg.Send) error {
	m.sending.Lock()
	defer m.sending.Unlock()
	rest := s.Data
	for ; len(rest) > sharing.MaxData; rest = rest[sharing.MaxData:] {
		if _, err := m.c.Call(context.Background(), "the server", sharing.Message{Op: sharing.OpMessagePart, Port: m.handle, Data: rest[:sharing.MaxData]}); err != nil {
			return err
		}
	}
	return m.post(sharing.OpMessageSend, sharing.Post{Node: s.Node, Tag: s.Tag}, descriptor{s.Data, s.Cookie}, rest)
}

// PostReceive posts a descriptor for receiving.
func (m *Messages) PostReceive(r msg.Receive) error {
	room := min(len(r.Data), msg.MaxLongest)
	return m.post(sharing.OpMessageReceive, sharing.Post{Tag: uint32(room)}, descriptor{r.Data, r.Cookie}, nil)
}

// Poll takes the oldest completion, if there is one.
func (m *Messages) Poll() (done msg.Completion, ok bool, err error) {
	ok, err = m.done(context.Background(), 0, &done)
	return done, ok, err
}

// Wait waits for the oldest completion.
func (m *Messages) Wait(ctx context.Context) (done msg.Completion, err error) {
	_, err = m.done(ctx, 1, &done)
	return done, err
}

func (m *Messages) done(ctx context.Context, wait uint64, into *msg.Completion) (bool, error) {
	a, ok, err := m.kept()
	if err != nil {
		return false, err
	}
	if !ok {
		a, err = m.c.do(ctx, "a completion", sharing.Message{Op: sharing.OpMessageDone, Port: m.handle, Value: wait}, call{undo: m.keep})
	}
	if err != nil || a.Port == 0 {
		return false, err
	}
	return true, m.completion(a, into)
}

// kept returns a completion that somebody did not wait for long enough.
func (m *Messages) kept() (a Answer, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return a, false, engine.ErrClosed
	}
	if len(m.missed) == 0 {
		return a, false, nil
	}
	a, m.missed = m.missed[0], m.missed[1:]
	return a, true, nil
}

func (m *Messages) keep(a Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missed = append(m.missed, a)
}

// completion reads an answer.
func (m *Messages) completion(a Answer, into *msg.Completion) error {
	p := sharing.PostOf(a.Value)
	d, ok := m.take(p.Index)
	if !ok {
		return violation("completed descriptor %d, which is not posted", p.Index)
	}
	*into = msg.Completion{Received: a.Port&sharing.DoneReceived != 0, Node: p.Node, Tag: p.Tag, Data: d.data, Cookie: d.cookie}
	if a.Port&sharing.DoneFailed != 0 {
		var f sharing.Failure
		if err := json.Unmarshal(a.Data, &f); err != nil {
			return violation("sent %q: %w", a.Data, err)
		}
		into.Err, a.Data = m.c.config.ErrorOf(f), nil
	}
	if into.Received {
		n, err := copyAnswer(d.data, a)
		into.Data = d.data[:n:n]
		return err
	}
	return nil
}

// copyAnswer copies what an answer or its file holds.
func copyAnswer(into []byte, a Answer) (int, error) {
	if a.File == nil {
		return copy(into, a.Data), nil
	}
	defer a.File.Close()
	info, err := a.File.Stat()
	if err != nil {
		return 0, err
	}
	return io.ReadFull(io.NewSectionReader(a.File, 0, info.Size()), into[:min(int64(len(into)), info.Size())])
}

// Stats returns the counts so far.
func (m *Messages) Stats() (s msg.Stats, err error) {
	a, err := m.c.Call(context.Background(), "the server", sharing.Message{Op: sharing.OpMessageStats, Port: m.handle})
	if err == nil {
		err = json.Unmarshal(a.Data, &s)
	}
	return s, err
}

// Close ends the context.
func (m *Messages) Close() error {
	m.mu.Lock()
	was := m.closed
	m.closed = true
	m.mu.Unlock()
	if was {
		return nil
	}
	_, err := m.c.Call(context.Background(), "the server", sharing.Message{Op: sharing.OpContextClose, Port: m.handle})
	return err
}
