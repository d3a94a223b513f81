package ftdi

import (
	"io"
	"sync"
)

// UART is the far end of a channel's serial line, where the board is. Its time is the board's: nothing is lost because the board is slow, and
// it waits when the host does not read.
type UART struct {
	channel *channel
	input   chan struct{} // there may be something to be read
	room    chan struct{} // there may be room to write
	closed  chan struct{}
	once    sync.Once
}

func newUART(c *channel) *UART {
	return &UART{channel: c, input: make(chan struct{}, 1), room: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (u *UART) signal(what chan struct{}) {
	select {
	case what <- struct{}{}:
	default:
	}
}

// Read waits for bytes from the host. After Close it returns io.EOF. One goroutine may read and one write.
func (u *UART) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		u.channel.device.Do(func() {
			n = copy(p, u.channel.fromHost)
			u.channel.fromHost = u.channel.fromHost[n:]
		})
		if n > 0 {
			return n, nil
		}
		select {
		case <-u.input:
		case <-u.closed:
			return 0, io.EOF
		}
	}
}

// Write returns when all of p is in the chip's buffer. After Close it returns io.ErrClosedPipe.
func (u *UART) Write(p []byte) (written int, err error) {
	for {
		u.channel.device.Do(func() { written += u.channel.arrive(p[written:]) })
		if written == len(p) {
			return written, nil
		}
		select {
		case <-u.room:
		case <-u.closed:
			return written, io.ErrClosedPipe
		}
	}
}

// Close ends Read and Write.
func (u *UART) Close() error {
	u.once.Do(func() { close(u.closed) })
	return nil
}
