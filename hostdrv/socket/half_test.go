package socket

import (
	"errors"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/stream"
	"github.com/stafflink/lmmc/internal/check"
)

// TestLingerWakes: a write that is about to wait when its connection is closed ends, also while Close waits too.
func TestLingerWakes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := &Stack{number: 1, mux: stream.New(stream.Options{Node: 1, Window: 64 << 10, Memory: 1 << 20, PerPeer: 4, Most: 8})}
	l := check.Must(s.Listen("tcp", ":80"))(t)
	near := check.Must(s.Dial("tcp", ":80"))(t).(*Conn)
	far := check.Must(l.Accept())(t).(*Conn)
	check.Fatal(t, near.SetLinger(60))
	check.Must(near.Write(make([]byte, 100_000)))(t) // more than the other end takes unread

	closed, again := make(chan error), make(chan bool, 2)
	write := check.Go(func() error {
		return s.do(&near.write, &near.closed, func() error {
			if again <- true; len(again) == 1 {
				signal(near.write.ready)
				go func() { closed <- near.Close() }()
			}
			time.Sleep(5 * time.Millisecond) // Close waits for the lock: it gets that the second time, and before the write waits
			return syscall.EAGAIN
		})
	})
	time.Sleep(50 * time.Millisecond)
	check.Fatal(t, errors.Join(far.SetLinger(0), far.Close())) // which wakes one
	check.Fatal(t, <-closed)
	check.Fails(t, "write", <-write, net.ErrClosed)
}
