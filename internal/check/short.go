package check

import (
	"net"
	"os"
	"syscall"
)

// Short returns a listener whose process has no descriptor left for the first connections, so many.
func Short(l net.Listener, connections int) net.Listener { return &short{l, connections} }

type short struct {
	net.Listener
	left int
}

func (s *short) Accept() (net.Conn, error) {
	if s.left--; s.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return s.Listener.Accept()
}
