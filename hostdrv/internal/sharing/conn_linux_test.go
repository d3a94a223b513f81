package sharing_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
)

// conns are the two ends of a connection.
func conns(t *testing.T) (ends [2]*sharing.Conn) {
	t.Helper()
	fds := check.Must(unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0))(t)
	for i, fd := range fds {
		ends[i] = check.Must(sharing.FileConn(os.NewFile(uintptr(fd), "end")))(t)
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends
}

// TestConn has each end send more than there is room for, with a file now and then, while it receives.
func TestConn(t *testing.T) {
	const messages = 5000
	ends := conns(t)
	var work []<-chan error
	for _, c := range ends {
		work = append(work, check.Go(func() error {
			for i := range messages {
				var rights []byte
				if i%100 == 0 {
					rights = unix.UnixRights(0)
				}
				if err := c.Send(binary.NativeEndian.AppendUint32(nil, uint32(i)), rights); err != nil {
					return err
				}
			}
			return nil
		}), check.Go(func() error {
			b, control := make([]byte, 100), make([]byte, unix.CmsgSpace(4))
			for i := range messages {
				n, k, err := c.Receive(b, control)
				if err == nil && (n != 4 || binary.NativeEndian.Uint32(b) != uint32(i) || (k > 0) != (i%100 == 0)) {
					err = fmt.Errorf("message %d is % x, with %d bytes of control messages", i, b[:n], k)
				}
				if k > 0 {
					fds, failed := unix.ParseUnixRights(&try.Get(unix.ParseSocketControlMessage(control[:k]))[0])
					err = errors.Join(err, failed, unix.Close(fds[0]))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, ended := range work {
		check.Error(t, <-ended)
	}
}

// TestConnEnds: what calls return that wait when a connection ends, or later.
func TestConnEnds(t *testing.T) {
	fill := func(c *sharing.Conn) (err error) {
		for err == nil {
			err = c.Send(make([]byte, 1000), nil)
		}
		return err
	}
	t.Run("limit", func(t *testing.T) {
		c := conns(t)[0]
		_ = c.LimitSends(time.Now().Add(20 * time.Millisecond))
		check.Fails(t, "Send", fill(c), os.ErrDeadlineExceeded)
		check.Fatal(t, c.LimitReceives(time.Now().Add(20*time.Millisecond)))
		check.Fails(t, "Receive", third(c.Receive(make([]byte, 1), nil)), os.ErrDeadlineExceeded)
		check.Fatal(t, c.LimitReceives(time.Time{}))
	})
	t.Run("own", func(t *testing.T) {
		ends := conns(t)
		sends, receives := check.Go(func() error { return fill(ends[0]) }), check.Go(func() error { return third(ends[0].Receive(make([]byte, 1), nil)) })
		time.Sleep(10 * time.Millisecond) // both wait, or not yet
		check.Error(t, ends[0].Close())
		check.Fails(t, "Send", <-sends, net.ErrClosed)
		check.Fails(t, "Receive", <-receives, net.ErrClosed)
		check.Fails(t, "a second Close", ends[0].Close(), net.ErrClosed)
	})
	t.Run("peer", func(t *testing.T) {
		ends := conns(t)
		check.Fatal(t, ends[0].Send([]byte("last"), nil))
		check.Fatal(t, ends[0].Close())
		b := make([]byte, 10)
		n, _, err := ends[1].Receive(b, nil)
		if string(b[:n]) != "last" || err != nil {
			t.Errorf("%q, %v", b[:n], err)
		}
		check.Fails(t, "Receive", third(ends[1].Receive(b, nil)), io.EOF)
		if err := ends[1].Send(b, nil); !errors.Is(err, unix.EPIPE) {
			t.Errorf("Send: %v", err)
		}
	})
}

func third(_, _ int, err error) error { return err }
