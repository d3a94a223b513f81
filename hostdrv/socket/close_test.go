package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// fails wants an error of a call as package net has it: a net.OpError about a system call.
func fails(t *testing.T, what string, err error, want syscall.Errno) {
	t.Helper()
	var op *net.OpError
	var call *os.SyscallError
	if !errors.Is(err, want) || !errors.As(err, &op) || !errors.As(err, &call) || op.Timeout() != (want == syscall.ETIMEDOUT) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func ended(t *testing.T, what string, c net.Conn) {
	t.Helper()
	if n, err := within(t, c).Read(make([]byte, 9)); n != 0 || err != io.EOF {
		t.Errorf("%s: read %d bytes, %v; want io.EOF", what, n, err)
	}
}

// TestHalfClose: each direction ends by itself, and a closed connection says so.
func TestHalfClose(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	near, far := pipe(t, n.stacks[0], n.stacks[1])
	check.Must(near.Write([]byte("hello")))(t)
	check.Fatal(t, near.CloseWrite())
	check.Equal(t, "read", string(check.Must(io.ReadAll(far))(t)), "hello")
	fails(t, "write after CloseWrite", check.Err(near.Write([]byte{1})), syscall.EPIPE)
	check.Must(far.Write([]byte("the other way")))(t)
	check.Fatal(t, far.Close())
	check.Equal(t, "read the other way", string(check.Must(io.ReadAll(near))(t)), "the other way")
	check.Fatal(t, near.Close())
	check.Fails(t, "read when closed", check.Err(near.Read(make([]byte, 1))), net.ErrClosed)
	check.Fails(t, "write when closed", check.Err(near.Write(make([]byte, 1))), net.ErrClosed)
	check.Fails(t, "close when closed", near.Close(), net.ErrClosed)
	check.Fails(t, "deadline when closed", near.SetDeadline(time.Time{}), net.ErrClosed)

	near, far = pipe(t, n.stacks[0], n.stacks[1])
	check.Fatal(t, far.CloseRead())
	ended(t, "after CloseRead", far)
	check.Must(near.Write(make([]byte, 1<<20)))(t) // nobody reads it, and nobody waits for that
	check.Must(far.Write([]byte{1}))(t)
	check.Must(within(t, near).Read(make([]byte, 1)))(t)
}

// TestReset: what the other end hears of one that is aborted, or closed with bytes that were not read.
func TestReset(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	for _, c := range []struct {
		name  string
		abort func(near, far *socket.Conn) error
		want  syscall.Errno
	}{
		{"SetLinger(0)", func(near, _ *socket.Conn) error { return errors.Join(near.SetLinger(0), near.Close()) }, syscall.ECONNRESET},
		{"unread", func(near, far *socket.Conn) error {
			_, err := far.Write([]byte("unread"))
			_, err2 := near.Read(make([]byte, 1))
			return errors.Join(err, err2, near.Close())
		}, syscall.ECONNRESET},
	} {
		near, far := pipe(t, n.stacks[0], n.stacks[1])
		check.Must(near.Write([]byte("before")))(t)
		check.Must(io.ReadFull(far, make([]byte, 6)))(t)
		check.Fatal(t, c.abort(near, far))
		fails(t, c.name+", read", check.Err(within(t, far).Read(make([]byte, 1))), c.want)
		ended(t, c.name+", second read", far)
		fails(t, c.name+", write", check.Err(far.Write([]byte{1})), syscall.EPIPE)
	}

	near, far := pipe(t, n.stacks[0], n.stacks[1])
	check.Fatal(t, near.Close())
	ended(t, "after the other end closed", far)
	var err error
	for err == nil { // the first one makes the other end say that nobody reads
		_, err = within(t, far).Write(make([]byte, 1000))
	}
	fails(t, "write to an end that is closed", err, syscall.EPIPE)
}

// TestLinger: Close waits until all is sent, or drops it.
func TestLinger(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{Buffer: 64 << 10})
	near, far := pipe(t, n.stacks[0], n.stacks[1])
	data := make([]byte, 100_000) // more than the other end takes unread, less than both buffers
	check.Must(near.Write(data))(t)
	check.Fatal(t, near.SetLinger(30))
	closed := check.Go(near.Close)
	check.Equal(t, "read", len(check.Must(io.ReadAll(far))(t)), len(data))
	check.Fatal(t, <-closed)

	near, far = pipe(t, n.stacks[0], n.stacks[1])
	check.Must(near.Write(data))(t)
	check.Fatal(t, near.SetLinger(1))
	check.Fatal(t, near.Close()) // nobody reads
	got, err := io.ReadAll(within(t, far))
	if fails(t, "read", err, syscall.ECONNRESET); len(got) >= len(data) {
		t.Errorf("all %d bytes came", len(got))
	}
}

// TestNoConnection: why a connection cannot be had.
func TestNoConnection(t *testing.T) {
	const patience = 50 * time.Millisecond // of which some pass before a busy machine lets the test look
	n := open(t, star(t, 2, cluster.Model), socket.Options{Patience: patience})
	s := n.stacks[0]
	fails(t, "nobody listens", check.Err(s.Dial("tcp", "2:80")), syscall.ECONNREFUSED)
	fails(t, "no such node", check.Err(s.Dial("tcp", "77:80")), syscall.EHOSTUNREACH)
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("nobody wants it any more")
	cancel(why)
	check.Fails(t, "cancelled", check.Err(s.DialContext(gone, "tcp", "77:80")), why)
	l, at := listen(t, n.stacks[1])
	_, err := n.stacks[1].Listen("tcp", at)
	fails(t, "port in use", err, syscall.EADDRINUSE)
	_, err = n.stacks[1].Listen("tcp", "1:80")
	fails(t, "another's address", err, syscall.EADDRNOTAVAIL)
	check.Fatal(t, l.Close())
	fails(t, "nobody listens any more", check.Err(s.Dial("tcp", at)), syscall.ECONNREFUSED)
	near, _ := pipe(t, s, n.stacks[1])
	packets := check.Must(s.ListenPacket("udp", ":0"))(t).(*socket.PacketConn)
	check.Fatal(t, packets.TellRefused())
	check.Fatal(t, n.stacks[1].Close()) // the node is there, without sockets
	start := n.nis[0].Now()
	fails(t, "no sockets", check.Err(s.Dial("tcp", "2:80")), syscall.ECONNREFUSED)
	check.Must(packets.WriteTo([]byte{1}, socket.Addr{Node: 2, Port: 53}))(t)
	_, from, err := packets.ReadFrom(nil)
	fails(t, "no sockets of datagrams", err, syscall.ECONNREFUSED)
	check.Equal(t, "of which", from, net.Addr(socket.Addr{Node: 2, Port: 53}))
	if took := n.nis[0].Now() - start; took >= patience {
		t.Errorf("it is known after %v of the network's time, not before Patience", took)
	}
	ended(t, "of the node without sockets", near)
	for _, bad := range []string{"2", "2:x", "0:1", "4096:1", "10.0.0.2:80", "two:1"} {
		var op *net.OpError
		if _, err := s.Dial("tcp", bad); !errors.As(err, &op) || op.Op != "dial" {
			t.Errorf("address %q: %v", bad, err)
		}
	}
	check.Fails(t, "a network", check.Err(s.Dial("unix", "2:80")), net.UnknownNetworkError("unix"))
	check.Fatal(t, s.Close())
	check.Fails(t, "closed", check.Err(s.Dial("tcp", "2:80")), net.ErrClosed)
}

// TestDialEnds: Dial fails when its Stack is closed, or its node dies, before the other end has answered.
func TestDialEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(n *network) error
	}{
		{"Stack closed", func(n *network) error { return n.stacks[0].Close() }},
		{"network interface closed", func(n *network) error { return n.nis[0].Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := open(t, star(t, 2, cluster.Model), socket.Options{Patience: 20 * time.Millisecond})
			check.Fatal(t, n.Between(func() error { return n.Cluster.Cut(1, true) }))
			dialled := check.Go(func() error { return check.Err(n.stacks[0].Dial("tcp", "2:80")) })
			for n.stacks[0].Counts().Opened == 0 {
				runtime.Gosched()
			}
			check.Fatal(t, c.end(n))
			if <-dialled == nil {
				t.Error("it has connected")
			}
		})
	}
}

// TestPeerDies: connections to a node that is gone end within a bounded time of the network, those that only wait to read too.
func TestPeerDies(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(n *network) error
		want syscall.Errno
	}{
		{"cable cut", func(n *network) error { return n.Between(func() error { return n.Cluster.Cut(1, true) }) }, syscall.ETIMEDOUT},
		{"network interface closed", func(n *network) error { return n.nis[1].Close() }, syscall.ETIMEDOUT},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := open(t, star(t, 2, cluster.Model), socket.Options{Patience: 3 * time.Millisecond})
			near, _ := pipe(t, n.stacks[0], n.stacks[1])
			idle, _ := pipe(t, n.stacks[0], n.stacks[1])
			check.Fatal(t, c.end(n))
			start := n.nis[0].Now()
			fails(t, "read", check.Err(idle.Read(make([]byte, 1))), c.want)
			// A second is Patience if none is given. Some time passes before a busy machine lets the test look.
			if took := n.nis[0].Now() - start; took >= time.Second {
				t.Errorf("read failed after %v of the network's time", took)
			}
			fails(t, "write", check.Err(near.Write(make([]byte, 1))), c.want)
			fails(t, "write again", check.Err(near.Write(make([]byte, 1))), syscall.EPIPE)
		})
	}
}

// TestCloseWaits: a Stack that is closed waits for what its connections have to send, and not for longer.
func TestCloseWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		to   int
		end  func(far *socket.Conn) error
	}{
		{"own node", 0, func(*socket.Conn) error { return nil }},
		{"reset by the peer", 1, func(far *socket.Conn) error { return errors.Join(far.SetLinger(0), far.Close()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const patience = time.Second
			n := open(t, star(t, 2, cluster.Model), socket.Options{Patience: patience})
			near, far := pipe(t, n.stacks[0], n.stacks[c.to])
			if c.to != 0 {
				check.Must(near.Write(make([]byte, 100_000)))(t) // more than the other end takes unread
			}
			check.Fatal(t, near.SetReadDeadline(time.Now()))
			start := n.nis[0].Now()
			closed := check.Go(n.stacks[0].Close)
			for !errors.Is(check.Err(near.Read(make([]byte, 1))), net.ErrClosed) {
				runtime.Gosched()
			}
			check.Fatal(t, n.nis[0].Sleep(t.Context(), 5*time.Millisecond)) // until all that was sent is acknowledged
			check.Fatal(t, c.end(far))
			check.Fatal(t, <-closed)
			if took := n.nis[0].Now() - start; took >= patience {
				t.Errorf("it has waited %v of the network's time", took)
			}
		})
	}
}
