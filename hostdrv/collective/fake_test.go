package collective_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// fake is a network whose messages take any time, drawn by a seed: they are in order from one node to another, and only there. Its time passes when all wait.
type fake struct {
	mu     sync.Mutex
	rng    *testbench.Rand
	ends   []*fakeEnd
	pipes  [][]underway // by sender * nodes + receiver; behind them those for multicasts, which messages overtake
	lossy  bool         // multicasts get lost, each copy every other time
	now    time.Duration
	timers map[*fakeTimer]bool
}

// underway is a message, or a copy of a multicast.
type underway struct {
	message.Send
	copied bool
}

type fakeTimer struct {
	at     time.Duration
	expire context.CancelFunc
}

// fakeEnd is a node's end.
type fakeEnd struct {
	net     *fake
	moved   sync.Cond // something has come, or was sent to it
	rank    int
	rooms   []message.Receive
	done    []message.Completion
	waiting context.Context // nil: it does not
	sent    int
	gone    bool // it is closed, or its node died
	silent  bool // its program does something else, and looks at no message
	refuses int  // probes for which there is no descriptor
}

func newFake(n int, seed uint64) *fake {
	f := &fake{rng: testbench.NewRand(seed), pipes: make([][]underway, 2*n*n), timers: map[*fakeTimer]bool{}}
	for i := range n {
		f.ends = append(f.ends, &fakeEnd{net: f, rank: i, moved: sync.Cond{L: &f.mu}})
	}
	return f
}

func (e *fakeEnd) PostSend(s message.Send) error {
	e.net.mu.Lock()
	defer e.net.mu.Unlock()
	if e.refuses > 0 && s.Tag>>12&15 == 0 {
		e.refuses--
		return message.ErrFull
	}
	e.sent++
	if s.Node < linkproto.MulticastBase {
		e.push(int(s.Node)-1, underway{s, false})
		return nil
	}
	for to := range e.net.ends {
		if to != e.rank && (!e.net.lossy || e.net.rng.IntN(2) == 0) {
			e.push(to, underway{s, true})
		}
	}
	e.done = append(e.done, message.Completion{Node: s.Node, Tag: s.Tag, Data: s.Data, Cookie: s.Cookie})
	return nil
}

func (e *fakeEnd) push(to int, m underway) {
	n := len(e.net.ends)
	pipe := &e.net.pipes[e.rank*n+to]
	if m.copied {
		pipe = &e.net.pipes[(n+e.rank)*n+to]
	}
	*pipe = append(*pipe, m)
	e.net.ends[to].moved.Signal()
}

func (e *fakeEnd) PostReceive(r message.Receive) error {
	e.net.mu.Lock()
	defer e.net.mu.Unlock()
	e.rooms = append(e.rooms, r)
	return nil
}

func (e *fakeEnd) Wait(ctx context.Context) (message.Completion, error) {
	f := e.net
	f.mu.Lock()
	defer f.mu.Unlock()
	e.waiting = ctx
	defer func() { e.waiting = nil }()
	defer context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		e.moved.Signal()
	})()
	for {
		switch {
		case e.gone:
			return message.Completion{}, errors.New("dead")
		case len(e.done) > 0:
			done := e.done[0]
			e.done = e.done[1:]
			return done, nil
		case ctx.Err() != nil:
			return message.Completion{}, ctx.Err()
		case f.deliver():
		case f.expire():
			f.wake()
		default:
			e.moved.Wait()
		}
	}
}

func (f *fake) wake() {
	for _, e := range f.ends {
		e.moved.Signal()
	}
}

// deliver moves a message, if one can.
func (f *fake) deliver() bool {
	n := len(f.ends)
	for start, i := f.rng.IntN(2*n*n), 0; i < 2*n*n; i++ {
		k := (start + i) % (2 * n * n)
		from, to := f.ends[k/n%n], f.ends[k%n]
		if len(f.pipes[k]) == 0 || from.gone || !to.gone && len(to.rooms) == 0 {
			continue
		}
		s := f.pipes[k][0]
		f.pipes[k] = f.pipes[k][1:]
		sent := message.Completion{Node: s.Node, Tag: s.Tag, Data: s.Data, Cookie: s.Cookie}
		if to.gone {
			sent.Err = &message.PeerError{Node: s.Node, Why: "it does not answer"}
		} else {
			room := to.rooms[0]
			to.rooms = to.rooms[1:]
			size := copy(room.Data, s.Data)
			to.done = append(to.done, message.Completion{Received: true, Node: uint16(from.rank + 1), Tag: s.Tag, Data: room.Data[:size:size], Cookie: room.Cookie})
		}
		if !s.copied {
			from.done = append(from.done, sent)
		}
		from.moved.Signal()
		to.moved.Signal()
		return true
	}
	return false
}

// expire lets time pass, if all wait.
func (f *fake) expire() bool {
	if len(f.timers) == 0 || slices.ContainsFunc(f.ends, func(e *fakeEnd) bool {
		return !e.gone && !e.silent && (e.waiting == nil || e.waiting.Err() != nil || len(e.done) > 0)
	}) {
		return false
	}
	var first *fakeTimer
	for t := range f.timers {
		if first == nil || t.at < first.at {
			first = t
		}
	}
	f.now = max(f.now, first.at)
	first.expire()
	delete(f.timers, first)
	return true
}

func (e *fakeEnd) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	e.net.mu.Lock()
	defer e.net.mu.Unlock()
	t := &fakeTimer{e.net.now + d, cancel}
	e.net.timers[t] = true
	return limited, func() {
		cancel()
		e.net.mu.Lock()
		delete(e.net.timers, t)
		e.net.mu.Unlock()
	}
}

// time is what has passed.
func (f *fake) time() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// pause has the program do something else for a time.
func (e *fakeEnd) pause(d time.Duration) {
	over := make(chan struct{})
	e.net.mu.Lock()
	e.silent = true
	e.net.timers[&fakeTimer{e.net.now + d, func() { e.silent = false; close(over) }}] = true
	e.net.wake()
	e.net.mu.Unlock()
	<-over
}

// be says whether the program does something else for a time.
func (e *fakeEnd) be(silent bool) {
	e.net.mu.Lock()
	defer e.net.mu.Unlock()
	e.silent = silent
	e.net.wake()
}

func (e *fakeEnd) Close() error {
	e.net.mu.Lock()
	defer e.net.mu.Unlock()
	e.gone = true
	e.net.wake()
	return nil
}

// members are the numbers of n nodes.
func members(n int) (list []uint16) {
	for i := range n {
		list = append(list, uint16(i+1))
	}
	return list
}

// join makes the groups of a fake network.
func join(t check.TB, f *fake, o collective.Options) (groups []*collective.Group) {
	o.Members, o.Multicast = members(len(f.ends)), linkproto.MulticastBase
	for i, e := range f.ends {
		groups = append(groups, check.Must(collective.Over(e, uint16(i+1), o))(t))
	}
	return groups
}

// each runs a member's part in a goroutine of its own, for all of them, and returns how they ended.
func each(groups []*collective.Group, run func(g *collective.Group) error) []error {
	errs := make([]error, len(groups))
	var work sync.WaitGroup
	for i, g := range groups {
		work.Go(func() { errs[i] = run(g) })
	}
	work.Wait()
	return errs
}

func want(t testing.TB, what string, errs []error) {
	t.Helper()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("%s, member %d: %v", what, rank, err)
		}
	}
}
