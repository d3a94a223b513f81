// Package serve lets several processes use one network interface (NI) together. The process that has opened it serves it at a Unix socket;
// the others open the target "unix:PATH" with hostdrv.OpenNode and have a hostdrv.Node like any other. This works on Linux.
//
// A process reaches only the ports that it has created or accepted itself. What it reads it reads in memory that the server writes,
// without a call; what it writes goes through the socket, many writes in a message and without answers. When it ends, however it does, its ports are deleted. One that breaks the
// rules of the socket, or exceeds its limits, harms only itself.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// ErrServed is what Listen returns when another server is alive at the same path.
var ErrServed = errors.New("serve: another server has this socket")

// Options say what clients may do. Zero values stand for the numbers in parentheses.
type Options struct {
	Clients int // at a time (64)
	Ports   int // of each, with the requests that it has fetched and not answered (1024)
	Calls   int // underway for each (256)
	// Tap is that of the node's NI. With one, programs of the server's user may capture what all programs do.
	Tap *capture.Tap
	// Log gets a line when a client comes or goes; nil means none.
	Log *slog.Logger
}

func (o *Options) fill() error {
	for _, f := range []struct {
		v       *int
		usually int
	}{{&o.Clients, 64}, {&o.Ports, 1024}, {&o.Calls, 256}} {
		if *f.v == 0 {
			*f.v = f.usually
		}
		if *f.v < 0 {
			return fmt.Errorf("%w: limits %d clients, %d ports, %d calls", hostdrv.ErrRange, o.Clients, o.Ports, o.Calls)
		}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return nil
}

// Serve serves a node's NI until ctx ends, with ctx's error, or the NI fails, with why. It closes the listener, and has deleted its clients'
// ports when it returns. The node may be used by the caller as well, and stays open.
func Serve(ctx context.Context, node *hostdrv.Node, l *Listener, o Options) error {
	if err := o.fill(); err != nil {
		return errors.Join(err, l.Close())
	}
	if node.NI() == nil {
		return errors.Join(errors.New("serve: this node's network interface is another process's, which serves it already"), l.Close())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{node: node, listener: l, options: o, clients: map[*client]bool{}}
	var work sync.WaitGroup
	work.Go(func() { // ends with the NI
		select {
		case <-node.NI().Done():
			cancel(node.NI().Err())
		case <-ctx.Done():
		}
	})
	stop := context.AfterFunc(ctx, l.Stop)
	err := s.accept(ctx, &work)
	stop()
	cancel(err)
	work.Wait()
	return errors.Join(err, l.Close())
}

// accept lets clients in until the server ends.
func (s *server) accept(ctx context.Context, work *sync.WaitGroup) error {
	for {
		conn, err := s.listener.socket.AcceptUnix()
		switch {
		case err == nil:
			work.Go(func() { s.serve(ctx, conn) })
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE): // until a client has gone
			s.options.Log.Warn("cannot let anybody in", "why", err)
			time.Sleep(100 * time.Millisecond)
		default:
			return err
		}
	}
}

// server is what clients have in common.
type server struct {
	node     *hostdrv.Node
	listener *Listener
	options  Options

	mu      sync.Mutex
	clients map[*client]bool
	tracing *client // the one that the trace buffer records for, or nil
}

// serve admits a program that has connected, if it may, and serves it until one of both ends.
func (s *server) serve(ctx context.Context, conn *net.UnixConn) {
	pid, own, err := s.listener.peer(conn)
	doorbell, failed := sharing.NewConn(conn)
	if failed != nil {
		s.options.Log.Warn("cannot let anybody in", "why", failed)
		return
	}
	defer doorbell.Close()
	c := &client{server: s, conn: doorbell, own: own, gone: make(chan struct{}), ports: map[uint32]*port{}, offers: map[uint32]*hostdrv.Request{}, contexts: map[uint32]*messages{}, barriers: map[uint32]*hostdrv.Barrier{}, calls: map[uint32]context.CancelFunc{}}
	log := s.options.Log.With("pid", pid)
	if err == nil {
		err = s.enter(c)
	}
	if err != nil {
		log.Warn("refused", "why", err)
		c.fail(sharing.Message{Op: sharing.OpRefused}, err)
		return
	}
	log.Info("came")
	err = c.run(ctx)
	s.mu.Lock()
	delete(s.clients, c)
	if s.tracing == c {
		s.tracing = nil
	}
	s.mu.Unlock()
	if err != nil {
		log.Warn("ended by the server", "why", err)
	} else {
		log.Info("went")
	}
}

// gone is why clients are dismissed when the server ends.
func (s *server) gone(ctx context.Context) error {
	if err := s.node.NI().Err(); err != nil && !errors.Is(err, hostdrv.ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: the server has ended: %w", hostdrv.ErrGone, context.Cause(ctx))
}

func (s *server) enter(c *client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= s.options.Clients {
		return fmt.Errorf("%w: %d programs use this network interface already", hostdrv.ErrLimit, len(s.clients))
	}
	s.clients[c] = true
	return nil
}

// Listener is a socket at which an NI is served.
type Listener struct {
	socket *net.UnixListener
	path   string
	lock   *os.File
	gid    int // -1 for none
}

// Stop lets nobody in any more. The socket is this process's all the same, until Close.
func (l *Listener) Stop() {
	if l.socket != nil {
		l.socket.Close()
	}
}

// Accept lets in the next program that may use the socket, and says which process it is. Serve does that itself; this is for what else listens at such a socket.
func (l *Listener) Accept() (conn *net.UnixConn, pid int, err error) {
	for {
		if conn, err = l.socket.AcceptUnix(); err != nil {
			return nil, 0, err
		}
		if pid, _, err = l.peer(conn); err == nil {
			return conn, pid, nil
		}
		conn.Close()
	}
}
