package preload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/socket"
)

// outletName says for whom an outlet is, and for datagrams to what group: the kernel says it with each, as the address in the outlet's name.
type outletName struct {
	to    netip.AddrPort
	group netip.Addr // not valid: to the node
}

// outlet is the daemon's end for a peer.
type outlet struct {
	outletName
	file *os.File
	raw  syscall.RawConn
	name unix.Sockaddr
	node socket.Addr // zero: to is no node's address
	used uint64

	reading sync.Mutex // while what the program has sent is taken
}

// outlet is the end for a peer, which is made unless there is one.
func (s *datagrams) outlet(name outletName) (*outlet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.outlets[name], error(nil)
	if o == nil {
		if o, err = s.newOutlet(name); err != nil {
			return nil, err
		}
	}
	s.clock++
	o.used = s.clock
	if o.node.Node != 0 && !o.group.IsValid() {
		s.last[o.node] = o
	}
	return o, nil
}

func (s *datagrams) newOutlet(of outletName) (*outlet, error) {
	if s.outlets == nil {
		return nil, net.ErrClosed
	}
	if len(s.outlets) >= mostOutlets {
		s.forget()
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := roomBehind(fd); err != nil {
		unix.Close(fd)
		return nil, err
	}
	name := record{kind: namePeer, domain: s.name.domain, id: s.name.id, local: netip.AddrPortFrom(of.group, 0), peer: of.to}
	if err = unix.Connect(fd, s.name.name()); err == nil || errors.Is(err, unix.EPERM) { // the program hears of another peer only
		err = unix.Bind(fd, name.name())
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	o := &outlet{file: os.NewFile(uintptr(fd), "datagrams"), name: name.name(), outletName: of}
	if node, is := ip.NodeOf(of.to.Addr(), s.daemon.prefixes); is {
		o.node = socket.Addr{Node: node, Port: of.to.Port()}
	}
	if o.raw, err = o.file.SyscallConn(); err != nil {
		o.file.Close()
		return nil, err
	}
	s.outlets[of] = o
	s.daemon.work.Go(func() { s.fromProgram(o) })
	return o, nil
}

// forget closes the outlet used longest ago, which is made anew when it is needed.
func (s *datagrams) forget() {
	var oldest *outlet
	for name, o := range s.outlets {
		if name.to != s.peer && (oldest == nil || o.used < oldest.used) {
			oldest = o
		}
	}
	if oldest != nil {
		s.remove(oldest)
	}
}

func (s *datagrams) remove(o *outlet) {
	o.file.Close()
	delete(s.outlets, o.outletName)
	if s.last[o.node] == o {
		delete(s.last, o.node)
	}
}

// receive waits for datagrams, and has do take each, with its sender's address as the kernel says it, until the socket is closed.
func receive(raw syscall.RawConn, reading *sync.Mutex, do func(b, from []byte)) {
	var from [128]byte
	for {
		var b *[64 << 10]byte // had only while there is something
		var n uintptr
		var size uint32
		var errno syscall.Errno
		err := raw.Read(func(fd uintptr) bool {
			b, size = pieces.Get().(*[64 << 10]byte), uint32(len(from))
			reading.Lock()
			n, _, errno = unix.Syscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(b)), uintptr(len(b)), unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&from)), uintptr(unsafe.Pointer(&size)))
			reading.Unlock()
			if errno != 0 {
				pieces.Put(b)
			}
			return errno != unix.EAGAIN
		})
		if err != nil {
			return
		}
		if errno == 0 {
			do(b[:n], from[:size])
			pieces.Put(b)
		}
	}
}

// fromProgram takes what the program sends to a peer. What cannot go is lost, as datagrams may be.
func (s *datagrams) fromProgram(o *outlet) {
	own := s.name.bytes()
	receive(o.raw, &o.reading, func(b, from []byte) {
		if len(from) < 2 || !bytes.Equal(from[2:], own) {
			return // another program's
		}
		switch {
		case o.node.Node != 0:
			_, _ = s.port.conn.WriteTo(b, o.node)
		case s.daemon.isGroup(o.to.Addr()):
			s.cast(o.to, b)
		default:
			s.toSystem(o.to, b)
		}
	})
}

func (s *datagrams) toSystem(to netip.AddrPort, b []byte) {
	var at unix.Sockaddr = &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
	if s.name.domain == unix.AF_INET {
		at = &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	}
	if raw, err := s.system.SyscallConn(); err == nil {
		_ = raw.Write(func(fd uintptr) bool {
			return !errors.Is(unix.Sendto(int(fd), b, unix.MSG_DONTWAIT, at), unix.EAGAIN)
		})
	}
}

// send has the program get a datagram, when it has room.
func (s *datagrams) send(o *outlet, b []byte) {
	_ = o.raw.Write(func(fd uintptr) bool {
		_, err := unix.SendmsgN(int(fd), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if errors.Is(err, unix.ENOTCONN) && unix.Connect(int(fd), s.name.name()) == nil {
			_, err = unix.SendmsgN(int(fd), b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		}
		return !errors.Is(err, unix.EAGAIN)
	})
}

// refuse has a program that hears of the outlet's peer only get an error, which the library takes for ECONNREFUSED: so the kernel has it when the outlet leaves it with something
// unread. Unless there is, the outlet has something put there.
func (s *datagrams) refuse(o *outlet) {
	_ = o.raw.Control(func(fd uintptr) {
		o.reading.Lock()
		defer o.reading.Unlock()
		program, none := s.name.name(), [2]byte{} // AF_UNSPEC
		leave := func() {
			_, _, _ = unix.Syscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&none)), unsafe.Sizeof(none))
		}
		if _, _, err := unix.Recvfrom(int(fd), none[:0], unix.MSG_PEEK|unix.MSG_DONTWAIT); err != nil {
			leave()
			if sendNothing(o.name) != nil || unix.Connect(int(fd), program) != nil {
				return
			}
		}
		leave()
		_ = unix.Connect(int(fd), program) // or it is with the next datagram
	})
}

// sendNothing sends a datagram without bytes to a socket that has no peer.
func sendNothing(to unix.Sockaddr) error {
	from, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	return unix.Sendto(from, nil, unix.MSG_DONTWAIT, to)
}

// addressOf reads a sockaddr_in or sockaddr_in6.
func addressOf(b []byte) (a netip.AddrPort, is bool) {
	switch {
	case len(b) >= unix.SizeofSockaddrInet4 && binary.NativeEndian.Uint16(b) == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:])), true
	case len(b) >= unix.SizeofSockaddrInet6 && binary.NativeEndian.Uint16(b) == unix.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])).Unmap(), binary.BigEndian.Uint16(b[2:])), true
	}
	return a, false
}
