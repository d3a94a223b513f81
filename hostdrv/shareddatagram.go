package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// sharedDatagrams are those of an NI of another process: its server passes them by a socket of their own.
type sharedDatagrams struct {
	node sharedNode
	most int // bytes of a frame's data
	conn *sharing.Conn

	sending, receiving sync.Mutex
	out, in            []byte
}

func (n sharedNode) datagrams(ctx context.Context, link int) (datagramBackend, error) {
	a, err := n.CallFile(ctx, sharing.Message{Op: sharing.OpDatagrams, Port: uint32(link)})
	if err != nil {
		return nil, err
	}
	conn, err := sharing.FileConn(a.File)
	if err != nil {
		return nil, err
	}
	most := maxDatagram(n.Identity())
	return &sharedDatagrams{node: n, most: most, conn: conn, in: make([]byte, sharing.DatagramHeader+most)}, nil
}

func (d *sharedDatagrams) send(ctx context.Context, frame Datagram) error {
	if len(frame.Data) > d.most {
		return fmt.Errorf("%w: a datagram of %d bytes, at most %d fit", ErrRange, len(frame.Data), d.most)
	}
	d.sending.Lock()
	defer d.sending.Unlock()
	d.out = sharing.Datagram(frame).Append(d.out[:0])
	return d.while(ctx, "room for a datagram", d.conn.LimitSends, func() error { return d.conn.Send(d.out, nil) })
}

func (d *sharedDatagrams) next(ctx context.Context) (frame Datagram, err error) {
	d.receiving.Lock()
	defer d.receiving.Unlock()
	err = d.while(ctx, "a datagram", d.conn.LimitReceives, func() error {
		size, _, err := d.conn.Receive(d.in, nil)
		if err == nil {
			frame, err = decodeDatagram(d.in[:size])
		}
		return err
	})
	return frame, err
}

// decodeDatagram makes a copy.
func decodeDatagram(b []byte) (Datagram, error) {
	d, err := sharing.DecodeDatagram(append([]byte(nil), b...))
	return Datagram(d), err
}

// while does something with the socket until ctx ends.
func (d *sharedDatagrams) while(ctx context.Context, what string, limit func(time.Time) error, do func() error) error {
	limited := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { limit(time.Unix(1, 0)); close(limited) })
	err := do()
	if !stop() {
		<-limited
		limit(time.Time{})
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
		return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
	case errors.Is(err, net.ErrClosed):
		return ErrClosed
	}
	d.node.lock()
	defer d.node.unlock()
	if failed := d.node.err(); failed != nil {
		return failed
	}
	return fmt.Errorf("%w: the server takes no more datagrams: %w", ErrGone, err)
}

func (d *sharedDatagrams) close() error {
	if err := d.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
