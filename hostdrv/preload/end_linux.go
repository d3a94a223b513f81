package preload

import (
	"cmp"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// end is the daemon's end of a connection. The program that has the other one gets ECONNRESET, and not the end of data, if bytes are unread here when this end is closed. So
// the last byte that was read stays in the queue: reads look behind it (SO_PEEK_OFF), and then take all but the last.
type end struct {
	file   *os.File
	raw    syscall.RawConn
	filler int // bytes that keep the program's end from being writable while it connects
}

// sendBuffer is what a program's end can send ahead. The byte that stays keeps all with which it was sent: up to 64 KB, of sendfile. An end is writable while that is a quarter.
const sendBuffer = 2 * 212992

// newPair makes a connection, whose ends have no data yet. The program's end has a name, and is not writable if the connection is not established yet.
func newPair(name record, connecting bool) (e *end, theirs int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, err
	}
	theirs = fds[1]
	if err = roomBehind(theirs); err != nil {
		unix.Close(fds[0])
		unix.Close(theirs)
		return nil, -1, err
	}
	err = unix.SetsockoptInt(theirs, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer/2) // the kernel doubles it
	room, failed := unix.GetsockoptInt(theirs, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err = cmp.Or(err, failed); err == nil && room < sendBuffer {
		err = unix.ENOBUFS // net.core.wmem_max is less than usual
	}
	e = &end{}
	if connecting && err == nil {
		e.filler, err = unix.Write(theirs, make([]byte, room/4+1))
	}
	if err == nil {
		_, err = unix.Write(theirs, make([]byte, 1)) // the byte that stays
	}
	if err == nil {
		err = unix.Bind(theirs, name.name())
	}
	if err == nil {
		err = unix.SetNonblock(fds[0], true)
	}
	if err == nil && !connecting {
		err = unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PEEK_OFF, 1)
	}
	if err != nil {
		unix.Close(fds[0])
		unix.Close(theirs)
		return nil, -1, err
	}
	e.file = os.NewFile(uintptr(fds[0]), "connection")
	e.raw, err = e.file.SyscallConn()
	return e, theirs, err
}

// roomBehind says EMFILE of a descriptor that is among the last that the daemon may have: those are for requests of programs, which else would wait for each other.
func roomBehind(fd int) error {
	const requests = 16
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if uint64(fd)+requests >= limit.Cur {
		return unix.EMFILE
	}
	return nil
}

// control does something with the descriptor.
func (e *end) control(do func(fd int) error) (err error) {
	if failed := e.raw.Control(func(fd uintptr) { err = do(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

// rename says at the end's name what the program's end stands for.
func (e *end) rename(r record) error {
	return e.control(func(fd int) error { return unix.Bind(fd, r.name()) })
}

// establish lets the program write.
func (e *end) establish(r record) error {
	if err := e.rename(r); err != nil {
		return err
	}
	return e.control(func(fd int) error {
		for b := make([]byte, e.filler); e.filler > 0; {
			n, err := unix.Read(fd, b[:e.filler])
			if err != nil {
				return err
			}
			e.filler -= n
		}
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEEK_OFF, 1)
	})
}

// pieces are what reads go to, had only while there is something.
var pieces = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// forward waits for what the program writes, has do carry it on, and takes it from the queue. It returns io.EOF when the program has shut its writing down, and ECONNRESET when
// it has closed with bytes unread.
func (e *end) forward(do func([]byte) error) error {
	var b *[64 << 10]byte
	var n int
	var errno syscall.Errno
	failed := e.raw.Read(func(fd uintptr) bool {
		b = pieces.Get().(*[64 << 10]byte)
		for errno = unix.EINTR; errno == unix.EINTR; {
			var r uintptr
			r, _, errno = unix.Syscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(b)), uintptr(len(b)), unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
			n = int(r)
		}
		if errno == unix.EAGAIN {
			pieces.Put(b)
		}
		return errno != unix.EAGAIN
	})
	if failed != nil {
		return failed
	}
	defer pieces.Put(b)
	switch {
	case errno != 0:
		return errno
	case n == 0:
		return io.EOF
	}
	if err := do(b[:n]); err != nil {
		return err
	}
	return e.take(b[:n])
}

// take takes as many bytes as b has from the queue.
func (e *end) take(b []byte) error {
	return e.control(func(fd int) error {
		for len(b) > 0 {
			n, err := unix.Read(fd, b)
			if err != nil && err != unix.EINTR {
				return err
			}
			b = b[max(n, 0):]
		}
		return nil
	})
}

// shutdown ends what the program reads.
func (e *end) shutdown() error {
	return e.control(func(fd int) error { return unix.Shutdown(fd, unix.SHUT_WR) })
}

// hung says whether both directions are over: the program has closed its end, or each side has shut its own down.
func hung(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&unix.POLLHUP != 0
}

func (e *end) hung() (is bool) {
	_ = e.raw.Control(func(fd uintptr) { is = hung(fd) })
	return is
}

// awaitHung waits until both directions are over. It fails if the end is closed before.
func (e *end) awaitHung() error { return e.raw.Read(hung) }

// whenHung has something done if that happens before stop is called.
func (e *end) whenHung(do func()) (stop func()) {
	over := make(chan struct{})
	go func() {
		if e.awaitHung() == nil {
			do()
		}
		close(over)
	}()
	return func() {
		_ = e.file.SetReadDeadline(time.Unix(1, 0))
		<-over
		_ = e.file.SetReadDeadline(time.Time{})
	}
}

// close closes the end. The program gets ECONNRESET, or, if the connection has ended as it should, nothing more.
func (e *end) close(reset bool) {
	if !reset {
		_ = e.control(func(fd int) error {
			_ = unix.Shutdown(fd, unix.SHUT_RDWR) // so that nothing more comes
			for b := make([]byte, 4096); ; {
				if n, err := unix.Read(fd, b); n <= 0 || err != nil {
					return err
				}
			}
		})
	}
	e.file.Close()
}
