// Package tcp is the transport to a network interface whose host port is reached by a TCP connection, as behind a terminal server or
// in another process (see Serve). Importing it makes targets such as "tcp:localhost:7010" known to hostdrv.Open.
package tcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
)

func init() { hostdrv.Register("tcp", open) }

// defaultRate is how many symbols a second the link layer's timers take the connection for. TCP loses nothing, so it is low: what is
// at the other end may be a simulation on a busy machine, and late is not lost. A link that hears nothing for a third of a second starts again.
const defaultRate = 50_000

// Timing is that of a connection that carries rate symbols a second.
func Timing(rate int) hostdrv.Timing {
	return hostdrv.Timing{TicksPerSecond: float64(rate), Burst: 1 << 12, LinkTimeout: 5 * rate}
}

// open opens targets "tcp:HOST:PORT", with the option rate (symbols a second).
func open(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	address, rate, err := parse(target)
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("nobody serves there, as lmmc serve --tcp %s does: %w", address, err)
	}
	if err != nil {
		return nil, err
	}
	return pipe.New(conn, Timing(rate)), nil
}

// parse reads a target.
func parse(target *url.URL) (address string, rate int, err error) {
	rate = defaultRate
	if err := hostdrv.Ints(target, map[string]*int{"rate": &rate}); err != nil {
		return "", 0, err
	}
	address = cmp.Or(target.Opaque, target.Host)
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", 0, fmt.Errorf("%w: want tcp:HOST:PORT: %w", hostdrv.ErrTarget, err)
	}
	return address, rate, nil
}

// Listener is the other end of targets tcp:HOST:PORT. A zero one is closed.
type Listener struct {
	listener net.Listener
	rate     int
}

// Listen waits at a target's address for those who open it.
func Listen(ctx context.Context, target *url.URL) (*Listener, error) {
	address, rate, err := parse(target)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	return &Listener{l, rate}, err
}

// Accept returns the transport to one of them.
func (l *Listener) Accept(context.Context) (hostdrv.Transport, error) {
	if l.listener == nil {
		return nil, hostdrv.ErrClosed
	}
	conn, err := l.listener.Accept()
	if err != nil {
		return nil, err
	}
	return pipe.New(conn, l.Timing()), nil
}

// Timing is that of the transports.
func (l *Listener) Timing() hostdrv.Timing { return Timing(l.rate) }

// Close makes Accept return an error.
func (l *Listener) Close() error {
	if l.listener == nil {
		return hostdrv.ErrClosed
	}
	return l.listener.Close()
}

// Serve lets others drive a target by TCP, one after the other, and closes the listener when ctx ends, with ctx's error. open is called for
// each connection.
func Serve(ctx context.Context, l net.Listener, open func(context.Context) (hostdrv.Transport, error)) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return ctx.Err()
		}
		switch {
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE): // until there is a descriptor
			time.Sleep(100 * time.Millisecond)
			continue
		case err != nil:
			return err
		}
		t, err := open(ctx)
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		if err := pipe.Bridge(ctx, conn, t); err != nil {
			return err
		}
	}
}
