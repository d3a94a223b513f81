package socket

import (
	"net"
	"os"
	"sync"
	"syscall"
)

// half is one direction of a socket.
type half struct {
	mu       sync.Mutex    // of the call that is underway
	ready    chan struct{} // gets something when there may be something to do
	deadline deadline
}

// do tries a call of one direction, under the lock, until it need not wait any more: it does not fail with EAGAIN.
func (s *Stack) do(h *half, closed *bool, try func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		over := h.deadline.wait()
		err := s.lock()
		switch {
		case *closed:
			err = net.ErrClosed
		case err == nil && passed(over):
			err = os.ErrDeadlineExceeded
		case err == nil:
			err = try()
		}
		s.unlock()
		if err != syscall.EAGAIN {
			return err
		}
		select {
		case <-h.ready:
		case <-over:
		}
	}
}

// control does something with a socket that is not closed, under the lock, also where nothing else works any more.
func (s *Stack) control(op string, local, remote net.Addr, closed *bool, do func()) error {
	_ = s.lock()
	defer s.unlock()
	if *closed || s == nil {
		return opError(op, op, local, remote, net.ErrClosed)
	}
	do()
	return nil
}

// opError is an error of an operation, as package net has them.
func opError(op, call string, source, addr net.Addr, err error) error {
	if errno, is := err.(syscall.Errno); is {
		err = os.NewSyscallError(call, errno)
	}
	return &net.OpError{Op: op, Net: Addr{}.Network(), Source: source, Addr: addr, Err: err}
}
