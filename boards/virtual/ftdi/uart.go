package ftdi

import (
	"io"
	"sync"
)

// UART is somebody at the far end of a channel's serial line, where the board is. Their time is the board's: nothing is lost because the
// board is slow, and it waits when the host does not read. What the host sends while nobody is there is lost, as on any line.
type UART struct {
	channel *channel
	closed  chan struct{}
	once    sync.Once
}

// UART puts somebody at a channel's serial line, instead of who was there.
func (c *Chip) UART(channel int) *UART {
	u := &UART{channel: c.channels[channel], closed: make(chan struct{})}
	c.device.Do(func() { u.channel.line = u })
	return u
}

func signal(what chan struct{}) {
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
			if u.channel.engine != nil || u.channel.line != u {
				return
			}
			n = copy(p, u.channel.fromHost)
			u.channel.fromHost = u.channel.fromHost[n:]
		})
		if n > 0 {
			return n, nil
		}
		select {
		case <-u.channel.input:
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
		case <-u.channel.room:
		case <-u.closed:
			return written, io.ErrClosedPipe
		}
	}
}

// Close ends Read and Write.
func (u *UART) Close() error {
	u.once.Do(func() {
		close(u.closed)
		u.channel.device.Do(func() {
			if u.channel.line == u {
				u.channel.line = nil
			}
		})
	})
	return nil
}
