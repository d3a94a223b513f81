package preload

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/stafflink/lmmc/hostdrv/socket"
)

// relay carries bytes between a program's end and a connection of the cluster until both are over.
type relay struct {
	end    *end
	conn   *socket.Conn
	linger *atomic.Int32 // seconds as of SO_LINGER, or -1
	reset  atomic.Bool   // the program is to get ECONNRESET
}

func (r *relay) run() {
	var work sync.WaitGroup
	work.Go(r.down)
	r.up()
	work.Wait()
	r.end.close(r.reset.Load())
}

// up carries what the program writes, and closes the connection when the program has closed its end.
func (r *relay) up() {
	var err error
	for err == nil {
		err = r.end.forward(func(b []byte) error {
			_, err := r.conn.Write(b)
			if err != nil {
				r.abort()
			}
			return err
		})
	}
	if errors.Is(err, io.EOF) && !(r.linger.Load() == 0 && r.end.hung()) {
		_ = r.conn.CloseWrite() // or what goes wrong the other direction sees
		err = r.end.awaitHung()
	}
	if l := r.linger.Load(); errors.Is(err, syscall.ECONNRESET) {
		_ = r.conn.SetLinger(0)
	} else if l >= 0 {
		_ = r.conn.SetLinger(int(l))
	}
	r.conn.Close()
}

// down carries what the other node's program writes.
func (r *relay) down() {
	const most = 64 << 10
	b := make([]byte, 2<<10) // of connections most rest
	for {
		n, err := r.conn.Read(b)
		if errors.Is(err, io.EOF) && !(r.linger.Load() == 0 && r.end.hung()) {
			_ = r.end.shutdown()
			if err := r.conn.AwaitOver(); err != nil && !errors.Is(err, net.ErrClosed) {
				r.end.close(false) // what is written now nobody takes
			}
			return
		}
		if err != nil {
			r.abort()
			return
		}
		if _, err := r.end.file.Write(b[:n]); err != nil {
			if r.end.hung() { // closed, and there is still something: as TCP does then
				_ = r.conn.SetLinger(0)
				r.conn.Close()
			} else {
				_ = r.conn.CloseRead()
			}
			return
		}
		if n == len(b) && n < most {
			b = make([]byte, 2*n)
		}
	}
}

// abort has the program get ECONNRESET.
func (r *relay) abort() {
	r.reset.Store(true)
	r.end.close(true)
}
