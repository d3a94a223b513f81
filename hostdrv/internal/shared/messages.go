package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/pagemem"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// Messages is a context of another process's NI. Its descriptors and the bytes of its messages are in memory that the server sees too. The server is told of a descriptor
// only if it does not look at the memory by itself, and so it is of who waits for a completion, after having looked at the memory for one long enough.
type Messages struct {
	c       *Client
	handle  uint32
	number  int
	options msg.Options
	info    sharing.ContextInfo
	ended   atomic.Pointer[error] // why, or nil
	came    uint64                // how often the server has told of a completion, under Client.Mu

	mu       sync.Mutex
	memory   []byte
	rings    *sharing.Rings
	area     area
	kept     bool // the program has memory by Buffer
	sends    posts
	receives posts
	untold   int    // receives posted of which the server may not know: not more than of those that it knows, so that it need not be told of each
	done     uint64 // completions taken
	waiting  int    // calls that sleep
}

// posts are the descriptors for sending, or for receiving.
type posts struct {
	all    []descriptor // by index
	free   []uint16     // those that are the program's
	posted uint64
}

// descriptor is one that is posted.
type descriptor struct {
	data   []byte
	cookie uint64
	at     int // place in the area
	length int
	own    bool // that is the program's, by Buffer
}

func newPosts(n int) (p posts) {
	p.all = make([]descriptor, n)
	for i := range n {
		p.free = append(p.free, uint16(n-1-i))
	}
	return p
}

// OpenMessages opens a context.
func (c *Client) OpenMessages(ctx context.Context, number int, o msg.Options) (*Messages, error) {
	options, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	m := &Messages{c: c, number: number, options: o.Filled()}
	a, err := c.do(ctx, "the server", sharing.Message{Op: sharing.OpContext, Value: uint64(max(number, 0)), Data: options}, call{
		then: func(a Answer) {
			if m.handle = a.Port; c.talks != nil {
				c.talks[m.handle] = m
			}
		},
		undo: func(a Answer) {
			m.handle = a.Port
			m.end()
		}})
	if err != nil {
		return nil, err
	}
	if err := m.open(a); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// open maps what an answer has.
func (m *Messages) open(a Answer) error {
	if a.File == nil {
		return violation("sent no file")
	}
	err := json.Unmarshal(a.Data, &m.info)
	if err == nil {
		m.memory, err = pagemem.OpenShared(a.File, m.info.Bytes())
	}
	if err = errors.Join(err, a.File.Close()); err == nil {
		m.rings, err = m.info.Rings(m.memory)
	}
	if err != nil {
		return fmt.Errorf("context %d: cannot map its memory: %w", m.number, err)
	}
	m.options.Longest = m.info.Longest
	m.sends, m.receives = newPosts(m.info.Sends), newPosts(m.info.Receives)
	m.area.free = []span{{0, len(m.rings.Area)}}
	return nil
}

// err is why the context has ended, or nil.
func (m *Messages) err() error {
	if why := m.ended.Load(); why != nil {
		return *why
	}
	return m.c.failure()
}

// PostSend posts a descriptor for sending.
func (m *Messages) PostSend(s msg.Send) error {
	m.mu.Lock()
	err := m.err()
	if err == nil {
		err = m.options.CheckSend(&s, m.number, m.info.Node, m.info.LongestCast)
	}
	if err == nil {
		err = m.post(&m.sends, &m.rings.Sends, sharing.Post{Node: s.Node, Tag: s.Tag, Quiet: s.Quiet}, descriptor{data: s.Data, cookie: s.Cookie, length: len(s.Data)}, s.Data)
	}
	tell := err == nil && m.rings.Wake()
	m.mu.Unlock()
	if tell {
		m.tell()
	}
	return err
}

// PostReceive posts a descriptor for receiving.
func (m *Messages) PostReceive(r msg.Receive) error {
	m.mu.Lock()
	err := m.err()
	if err == nil {
		err = m.post(&m.receives, &m.rings.Receives, sharing.Post{}, descriptor{data: r.Data, cookie: r.Cookie, length: min(len(r.Data), m.info.Longest)}, nil)
	}
	m.untold++
	tell := err == nil && m.untoldMost()
	m.mu.Unlock()
	if tell {
		m.tell()
	}
	return err
}

// untoldMost reports whether the server does not look and is to be told now of the receives that it may not know.
func (m *Messages) untoldMost() bool {
	if 2*m.untold <= m.info.Receives-len(m.receives.free)-int(m.rings.Done.Count()-m.done) {
		return false
	}
	m.untold = 0
	return m.rings.Wake()
}

// tell has the server look, which does not.
func (m *Messages) tell() {
	m.c.send(sharing.Message{Op: sharing.OpMessagePosted, Port: m.handle}.Append(nil))
}

// post puts a descriptor into a ring, and what is to be sent into the area unless it is there.
func (m *Messages) post(p *posts, ring *sharing.Ring, as sharing.Post, d descriptor, send []byte) error {
	if len(p.free) == 0 {
		return fmt.Errorf("%w: %d are posted", msg.ErrFull, len(p.all))
	}
	if d.at, d.own = m.within(d.data); !d.own {
		at, ok := m.area.take(d.length)
		if !ok {
			return fmt.Errorf("%w: messages of at most %d bytes together may be posted", sharing.ErrLimit, len(m.rings.Area))
		}
		d.at = at
		copy(m.rings.Area[at:], send)
	}
	as.Index = p.free[len(p.free)-1]
	as.Offset, as.Length = uint32(d.at), uint32(d.length)
	p.free = p.free[:len(p.free)-1]
	p.all[as.Index] = d
	ring.Post(p.posted, as)
	p.posted++
	return nil
}

// within returns the place of data in the area, if it is memory of Buffer.
func (m *Messages) within(data []byte) (at int, ok bool) {
	first, base := uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(unsafe.Pointer(unsafe.SliceData(m.rings.Area)))
	return int(first - base), len(data) > 0 && first >= base && first < base+uintptr(len(m.rings.Area))
}

// Buffer returns memory of which messages are sent, or into which they are received, without a copy between the program and the server.
func (m *Messages) Buffer(bytes int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.err(); err != nil {
		return nil, err
	}
	at, ok := m.area.take(bytes)
	if !ok {
		return nil, fmt.Errorf("%w: messages of at most %d bytes together may be posted", sharing.ErrLimit, len(m.rings.Area))
	}
	m.kept = true
	return m.rings.Area[at : at+bytes : at+bytes], nil
}

// Poll takes the oldest completion, if there is one. If there is none the server may have completed all receives that it knows.
func (m *Messages) Poll() (done msg.Completion, ok bool, err error) {
	m.mu.Lock()
	if m.rings == nil || m.rings.Done.Count() == m.done {
		tell := m.rings != nil && m.untoldMost()
		m.mu.Unlock()
		if tell {
			m.tell()
		}
		return done, false, m.err()
	}
	defer m.mu.Unlock()
	done, err = m.completion(m.rings.Done.Completed(m.done))
	m.done++
	return done, err == nil, err
}

// Wait waits for the oldest completion: it polls for a time, and sleeps then until the server tells of one. Where time stands still unless somebody waits it sleeps at once.
func (m *Messages) Wait(ctx context.Context) (msg.Completion, error) {
	for {
		done, ok, err := m.Poll()
		for start := time.Now(); !ok && err == nil && !m.c.virtualTime && time.Since(start) < m.c.config.Spin; {
			runtime.Gosched()
			done, ok, err = m.Poll()
		}
		if ok || err != nil {
			return done, err
		}
		if m.c.virtualTime { // what goes on in this program may post something, of which the server then hears together with who waits
			runtime.Gosched()
		}
		if err = m.sleep(ctx); err != nil {
			if done, ok, _ := m.Poll(); ok { // meanwhile
				return done, nil
			}
			return done, err
		}
	}
}

// sleep waits until the server tells of a completion, unless there is one. Before the server sleeps it looks for who waits, so one of the two sees the other.
func (m *Messages) sleep(ctx context.Context) error {
	m.c.Mu.Lock()
	before := m.came
	m.c.Mu.Unlock()
	m.mu.Lock()
	if m.rings == nil || m.rings.Done.Count() != m.done {
		m.mu.Unlock()
		return nil
	}
	m.waiting++
	m.rings.Want(m.done)
	there := m.rings.Done.Count() != m.done
	tell := !there && m.rings.Wake()
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		if m.waiting--; m.waiting == 0 && m.rings != nil {
			m.rings.Unwant()
		}
		m.mu.Unlock()
	}()
	if there {
		return nil
	}
	if tell {
		m.tell()
	}
	return m.c.Until(ctx, "a completion", func() bool { return m.came != before || m.ended.Load() != nil })
}

// completion reads one.
func (m *Messages) completion(from sharing.Done) (done msg.Completion, err error) {
	p := &m.sends
	if from.Received {
		p = &m.receives
	}
	if int(from.Index) >= len(p.all) || len(p.free) == len(p.all) {
		return done, violation("completed descriptor %d, which is not posted", from.Index)
	}
	d := p.all[from.Index]
	p.all[from.Index] = descriptor{}
	p.free = append(p.free, from.Index)
	done = msg.Completion{Received: from.Received, Node: from.Node, Tag: from.Tag, Data: d.data, Cookie: d.cookie}
	switch {
	case from.Received && from.Failed != 0:
		done.Data, done.Err = nil, &msg.TooLongError{Node: from.Node, Bytes: int(from.Length), Room: d.length}
	case from.Received:
		n := min(int(from.Length), d.length)
		if done.Data = d.data[:n:n]; !d.own {
			copy(done.Data, m.rings.Area[d.at:])
		}
	case from.Failed == sharing.FailedSilent:
		done.Err = engine.ErrSilent
	case from.Failed != 0:
		done.Err = &msg.PeerError{Node: uint16(from.Length), Why: msg.Reasons[min(int(from.Failed), len(msg.Reasons))-1]}
	}
	if !d.own {
		m.area.give(d.at, d.length)
	}
	return done, nil
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
	if m.ended.Load() == &closedError {
		return nil
	}
	err := m.end()
	m.c.Mu.Lock()
	delete(m.c.talks, m.handle)
	m.c.Mu.Unlock()
	return errors.Join(err, m.release())
}

var closedError = error(engine.ErrClosed)

func (m *Messages) end() error {
	_, err := m.c.Call(context.Background(), "the server", sharing.Message{Op: sharing.OpContextClose, Port: m.handle})
	return err
}

// release ends the context at this end, and frees its memory unless the program has a Buffer in it.
func (m *Messages) release() error {
	m.ended.Store(&closedError)
	m.mu.Lock()
	defer m.mu.Unlock()
	memory := m.memory
	m.memory, m.rings = nil, nil
	if m.kept {
		return nil
	}
	return pagemem.Unmap(memory)
}
