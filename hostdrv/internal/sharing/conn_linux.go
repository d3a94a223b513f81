package sharing

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Conn carries messages between a program and the server. Waking a process costs more than what it is woken for, so a Conn is woken by what comes alone, where a net.UnixConn is
// by room to send as well, each time that the other end has read something; and its calls, which the kernel answers at once, do not tell Go's scheduler of themselves.
type Conn struct {
	socket  *os.File // blocks, so that Go does not watch it
	raw     syscall.RawConn
	watch   *os.File // an epoll(7) that watches it for what comes
	came    syscall.RawConn
	limit   atomic.Pointer[time.Time] // of Send
	closing atomic.Bool
}

// NewConn makes a Conn of a socket, which it takes over.
func NewConn(from *net.UnixConn) (c *Conn, err error) {
	defer from.Close()
	raw, err := from.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, watch := -1, -1
	failed := raw.Control(func(at uintptr) { fd, err = unix.FcntlInt(at, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(failed, err); err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err == nil {
		watch, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	}
	if err == nil {
		err = errors.Join(unix.SetNonblock(watch, true), unix.EpollCtl(watch, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET}))
	}
	if err != nil {
		unix.Close(fd)
		unix.Close(watch)
		return nil, err
	}
	c = &Conn{socket: os.NewFile(uintptr(fd), "lmmc-socket"), watch: os.NewFile(uintptr(watch), "lmmc-watch")}
	if c.raw, err = c.socket.SyscallConn(); err == nil {
		c.came, err = c.watch.SyscallConn()
	}
	if err != nil {
		c.Close()
	}
	return c, err
}

// Receive waits for a message, and returns how long it is, and the control messages that came with it.
func (c *Conn) Receive(message, control []byte) (n, controls int, err error) {
	var errno syscall.Errno
	failed := c.came.Read(func(uintptr) bool {
		n, controls, errno, err = c.call(unix.SYS_RECVMSG, message, control, unix.MSG_CMSG_CLOEXEC)
		return err != nil || errno != unix.EAGAIN
	})
	switch {
	case errors.Is(failed, os.ErrDeadlineExceeded):
		return 0, 0, failed
	case c.closing.Load() || failed != nil || err != nil:
		return 0, 0, net.ErrClosed
	case errno != 0:
		return 0, 0, errno
	case n == 0:
		return 0, 0, io.EOF
	}
	return n, controls, nil
}

// Send sends a message, with control messages or none. If the other end does not read, it waits.
func (c *Conn) Send(message, control []byte) error {
	for {
		_, _, errno, err := c.call(unix.SYS_SENDMSG, message, control, unix.MSG_NOSIGNAL)
		if err != nil || c.closing.Load() {
			return net.ErrClosed
		}
		switch errno {
		case 0:
			return nil
		case unix.EAGAIN:
			if err := c.room(); err != nil {
				return err
			}
		default:
			return errno
		}
	}
}

// call is recvmsg or sendmsg, whichever does not wait.
func (c *Conn) call(number uintptr, message, control []byte, flags uintptr) (n, controls int, errno syscall.Errno, err error) {
	part := unix.Iovec{Base: unsafe.SliceData(message)}
	part.SetLen(len(message))
	m := unix.Msghdr{Iov: &part}
	m.SetIovlen(1)
	if len(control) > 0 {
		m.Control = unsafe.SliceData(control)
		m.SetControllen(len(control))
	}
	err = c.raw.Control(func(fd uintptr) {
		for errno = unix.EINTR; errno == unix.EINTR; {
			var r uintptr
			r, _, errno = unix.RawSyscall(number, fd, uintptr(unsafe.Pointer(&m)), flags|unix.MSG_DONTWAIT)
			n = int(r)
		}
	})
	return n, int(m.Controllen), errno, err
}

// room waits until there may be room to send.
func (c *Conn) room() (err error) {
	const most = 100 * time.Millisecond // then it looks whether there is a limit
	wait := most
	if limit := c.limit.Load(); limit != nil && !limit.IsZero() {
		if wait = min(most, time.Until(*limit)); wait <= 0 {
			return os.ErrDeadlineExceeded
		}
	}
	failed := c.raw.Control(func(fd uintptr) {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(wait.Milliseconds())+1)
	})
	if errors.Is(err, unix.EINTR) {
		err = nil
	}
	return errors.Join(failed, err)
}

// LimitSends and LimitReceives have Send and Receive wait until then at most; zero: for ever. A Send that waits hears of it within 100 ms.
func (c *Conn) LimitSends(until time.Time) error    { c.limit.Store(&until); return nil }
func (c *Conn) LimitReceives(until time.Time) error { return c.watch.SetReadDeadline(until) }

// Close ends the connection, and what waits for it.
func (c *Conn) Close() error {
	if c.closing.Swap(true) {
		return net.ErrClosed
	}
	_ = c.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // so that a Send which waits ends
	return errors.Join(c.watch.Close(), c.socket.Close())
}
