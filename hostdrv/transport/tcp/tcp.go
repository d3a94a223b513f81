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

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
)

func init() { hostdrv.Register("tcp", open) }

// defaultRate is how many symbols a second the link layer's timers take the connection for. TCP loses nothing, so it is low: what is
// at the other end may be a simulation, and late is not lost.
const defaultRate = 100_000

// Timing is that of a connection that carries rate symbols a second.
func Timing(rate int) hostdrv.Timing {
	return hostdrv.Timing{TicksPerSecond: float64(rate), Burst: 1 << 12, LinkTimeout: 5 * rate}
}

// open opens targets "tcp:HOST:PORT", with the option rate (symbols a second).
func open(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	rate := defaultRate
	if err := hostdrv.Ints(target, map[string]*int{"rate": &rate}); err != nil {
		return nil, err
	}
	address := cmp.Or(target.Opaque, target.Host)
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("%w: want tcp:HOST:PORT: %w", hostdrv.ErrTarget, err)
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
		if err != nil {
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
