// Package socket lets programs on the nodes of a network use the sockets that they know: net.Conn, net.Listener and net.PacketConn, by addresses of nodes. Bytes go by
// messages (package message) past the operating system's protocol stack. See doc/sockets.md.
package socket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/stream"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/linkproto"
)

// Options say how a Stack is. Zero values stand for what is in parentheses.
type Options struct {
	// Context is that of the messages (DefaultContext). Nodes reach each other by the same one, and a program has it alone.
	Context int
	// Prefixes are those in which nodes have IP addresses, as of lmmc ip up --addr (none: addresses are numbers of nodes).
	Prefixes []netip.Prefix
	// Peers are nodes whose programs the own node's are in multicast groups with (none); one of two nodes is enough to have the other among its peers.
	Peers []uint16
	// Patience is how long, in the target's time, a peer may say nothing before its connections end (1 s). Those that say nothing are asked as often, and each second of real time.
	Patience time.Duration
	// Buffer is how many bytes the writer of a connection may be ahead of its reader at most (1 MB). Connections begin with 64 KB.
	Buffer int
	// Memory is how many bytes may wait to be read of all connections, and as many to be sent (64 MB); beyond it a connection still has 4 KB of each.
	Memory int
	// Seed decides what is random (something random).
	Seed uint64
}

// DefaultContext is the context of messages that sockets use.
const DefaultContext = message.LastContext

// How many messages are posted.
const (
	mostSends = 384 // with those to receive in 16 MB, which is what a server allows
	perPeer   = 16
	receives  = 128
)

// closedTicks is for how many times Patience a connection is kept that this program has closed and the peer has not, and for how many one may open.
const closedTicks = 60

// Counts are what a Stack has done.
type Counts = stream.Stats

// Stack is a program's sockets on a node. Its methods may be called from any goroutine at any time.
type Stack struct {
	node     *hostdrv.Node
	number   uint16
	options  Options
	messages *message.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup
	posted   [receives][]byte

	mu      sync.Mutex
	mux     *stream.Mux
	sending bool // somebody sends what there is
	free    []int
	sends   [mostSends]stream.Message
	idle    chan struct{} // gets something when Close need not wait any more
	closing bool
	err     error // why nothing works any more
	failed  chan struct{}
}

// Open makes the sockets of a node.
func Open(ctx context.Context, node *hostdrv.Node, o Options) (*Stack, error) {
	o.Context, o.Patience, o.Buffer = cmp.Or(o.Context, DefaultContext), cmp.Or(o.Patience, time.Second), cmp.Or(o.Buffer, 1<<20)
	o.Memory = cmp.Or(o.Memory, 64<<20)
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	const least, most = 4 << 10, 1 << 30
	if o.Buffer < least || o.Buffer > most {
		return nil, fmt.Errorf("%w: a buffer of %d bytes, want %d to %d", hostdrv.ErrRange, o.Buffer, least, most)
	}
	number, err := node.ReadRegister(ctx, linkproto.RegNodeID)
	if err != nil {
		return nil, err
	}
	c, err := message.Open(ctx, node, o.Context, message.Options{Sends: mostSends, Receives: receives, Longest: stream.SegmentBytes, Patience: o.Patience, Refuse: true, Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	s := &Stack{node: node, number: uint16(number), options: o, messages: c, idle: make(chan struct{}, 1), failed: make(chan struct{})}
	s.mux = stream.New(stream.Options{Node: s.number, Peers: o.Peers, Window: o.Buffer, Memory: o.Memory, PerPeer: perPeer, Most: mostSends, Linger: closedTicks, Seed: o.Seed})
	for i := range s.sends {
		s.free = append(s.free, i)
	}
	for i := range s.posted {
		s.posted[i] = s.mux.Buffer()
		if err := c.PostReceive(message.Receive{Data: s.posted[i], Cookie: uint64(i)}); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.work.Go(func() { s.fail(s.pump(ctx)) })
	s.work.Go(func() { s.tick(ctx) })
	s.work.Go(s.ask)
	return s, nil
}

// Node is the number of the own node.
func (s *Stack) Node() uint16 { return s.number }

// Counts returns what was done so far.
func (s *Stack) Counts() Counts {
	_ = s.lock()
	defer s.unlock()
	return s.mux.Stats()
}

// lock locks the Stack. A zero one is closed, and so is that of a zero socket.
func (s *Stack) lock() error {
	if s == nil {
		return net.ErrClosed
	}
	s.mu.Lock()
	if s.mux == nil {
		s.mux, s.err = stream.New(stream.Options{}), net.ErrClosed
	}
	if s.closing {
		return net.ErrClosed
	}
	return s.err
}

// unlock sends what there is to send, unless somebody does, tells Close when all is sent, and unlocks the Stack.
func (s *Stack) unlock() {
	if s == nil {
		return
	}
	for !s.sending && s.err == nil {
		m, ok := s.mux.Next()
		if !ok {
			break
		}
		last := len(s.free) - 1
		slot := s.free[last]
		s.free, s.sends[slot], s.sending = s.free[:last], m, true
		s.mu.Unlock()
		err := s.messages.PostSend(message.Send{Node: m.Node, Tag: m.Life, Data: m.Data, Cookie: uint64(slot), Quiet: m.Quiet})
		s.mu.Lock()
		if s.sending = false; err != nil {
			s.sent(slot, err)
		}
	}
	if s.closing && s.mux.Flushed() {
		signal(s.idle)
	}
	s.mu.Unlock()
}

// sent takes a descriptor back, whose message has arrived, or not because of err.
func (s *Stack) sent(slot int, err error) {
	why := syscall.Errno(0)
	if err != nil {
		why = syscall.ETIMEDOUT
		if peer, is := errors.AsType[*message.PeerError](err); is {
			why = peer.Errno()
		}
	}
	s.mux.Sent(s.sends[slot], why)
	s.sends[slot] = stream.Message{}
	s.free = append(s.free, slot)
}

// pump takes what comes until the context ends.
func (s *Stack) pump(ctx context.Context) error {
	for {
		done, err := s.messages.Wait(ctx)
		if err != nil {
			return err
		}
		if !done.Received {
			s.mu.Lock()
			s.sent(int(done.Cookie), done.Err)
			s.unlock()
			continue
		}
		i := int(done.Cookie)
		s.mu.Lock()
		if done.Err == nil && s.mux.Input(stream.Message{Node: done.Node, Life: done.Tag, Data: s.posted[i][:len(done.Data)]}) {
			s.posted[i] = s.mux.Buffer()
		}
		s.unlock()
		if err := s.messages.PostReceive(message.Receive{Data: s.posted[i], Cookie: uint64(i)}); err != nil {
			return err
		}
	}
}

// tick lets the streams get older.
func (s *Stack) tick(ctx context.Context) {
	for s.node.Doze(ctx, s.options.Patience) == nil {
		s.mu.Lock()
		s.mux.Tick()
		s.unlock()
	}
}

// ask asks peers whether they are there, in real time: a network in which nothing happens may pass its own slowly.
func (s *Stack) ask() {
	for tick := time.NewTicker(max(s.options.Patience, time.Second)); ; {
		select {
		case <-tick.C:
		case <-s.failed:
			tick.Stop()
			return
		}
		s.mu.Lock()
		s.mux.Ask()
		s.unlock()
	}
}

// Failed is closed when nothing works any more, as when the node is gone, and when the Stack is closed.
func (s *Stack) Failed() <-chan struct{} { return s.failed }

// fail ends all.
func (s *Stack) fail(err error) {
	defer close(s.failed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.mux.Close()
	s.mux.Fail()
	signal(s.idle)
}

// Close ends all connections, as the end of a program does: what was written to them is sent before, to peers that take it within Options.Patience.
func (s *Stack) Close() error {
	if s.lock() != nil {
		s.mu.Unlock()
		return nil
	}
	s.closing = true
	s.mux.Close()
	limit, cancel := s.node.WithTimeout(context.Background(), s.options.Patience)
	defer cancel()
	for s.err == nil && limit.Err() == nil && !s.mux.Flushed() {
		s.unlock()
		select {
		case <-s.idle:
		case <-limit.Done():
		}
		s.mu.Lock()
	}
	if s.err == nil {
		s.err = net.ErrClosed
	}
	s.mu.Unlock()
	s.cancel()
	err := s.messages.Close()
	s.work.Wait()
	return err
}
