package ip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const tunDevice = "/dev/net/tun"

// What the kernel may leave to do (TUNSETOFFLOAD).
const leaveSums, leaveTCPv4, leaveTCPv6, leaveECN = 1, 2, 4, 8

// queueFrames is how many frames wait in the kernel for this process. What TCP has underway waits here, and more waiting is of no use.
const queueFrames = 64

// device is a TAP.
type device struct {
	*os.File
	called string
}

func (d *device) name() string { return d.called }

// openTAP makes an interface, with its addresses.
func openTAP(name string, node uint16, mtu int, prefixes []netip.Prefix) (tap, error) {
	if len(name) >= unix.IFNAMSIZ || strings.ContainsAny(name, "/ \t:") || name == "" {
		return nil, fmt.Errorf("no interface can be called %q: want 1 to %d characters, without blanks", name, unix.IFNAMSIZ-1)
	}
	fd, err := unix.Open(tunDevice, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return nil, fmt.Errorf("%s: %w: the kernel has no TUN/TAP, or not loaded: run modprobe tun as root", tunDevice, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: an interface takes CAP_NET_ADMIN: run as root", tunDevice, err)
	}
	d := &device{}
	if err := d.attach(fd, name); err != nil {
		unix.Close(fd)
		return nil, err
	}
	d.File = os.NewFile(uintptr(fd), tunDevice) // which waits for frames only now that there is an interface
	if err := d.configure(node, mtu, prefixes); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// attach makes the interface behind an open TUN device.
func (d *device) attach(fd int, name string) error {
	r := newRequest(name)
	r.putUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR | unix.IFF_TUN_EXCL)
	switch err := ioctl(fd, unix.TUNSETIFF, unsafe.Pointer(r)); {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("interface %s: %w: an interface takes CAP_NET_ADMIN: run as root", name, err)
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("interface %s: %w: there is one of this name already: choose another name, or remove it (ip link del %s)", name, err, name)
	case err != nil:
		return fmt.Errorf("interface %s: %w", name, err)
	}
	d.called = unix.ByteSliceToString(r.name[:])
	size := int32(offloadBytes)
	if err := ioctl(fd, unix.TUNSETVNETHDRSZ, unsafe.Pointer(&size)); err != nil {
		return fmt.Errorf("interface %s: %w", d.called, err)
	}
	if err := unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, leaveSums|leaveTCPv4|leaveTCPv6|leaveECN); err != nil {
		return fmt.Errorf("interface %s: offload: %w", d.called, err)
	}
	return nil
}

// configure gives the interface its MAC, MTU and addresses, and brings it up.
func (d *device) configure(node uint16, mtu int, prefixes []netip.Prefix) error {
	four, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(four)
	do := func(code uint, what string, fill func(r *request)) {
		r := newRequest(d.called)
		fill(r)
		failed := ioctl(four, code, unsafe.Pointer(r))
		if code == unix.SIOCSIFTXQLEN && errors.Is(failed, unix.EPERM) {
			return // a user namespace may not, and a longer queue only makes TCP slower
		}
		if failed != nil && err == nil {
			err = fmt.Errorf("interface %s: %s: %w", d.called, what, failed)
		}
	}
	do(unix.SIOCSIFHWADDR, "MAC", func(r *request) {
		mac := MAC(node)
		r.putUint16(unix.ARPHRD_ETHER)
		copy(r.data[2:], mac[:])
	})
	do(unix.SIOCSIFMTU, "MTU", func(r *request) { binary.NativeEndian.PutUint32(r.data[:], uint32(mtu)) })
	do(unix.SIOCSIFTXQLEN, "queue", func(r *request) { binary.NativeEndian.PutUint32(r.data[:], queueFrames) })
	do(unix.SIOCSIFFLAGS, "up", func(r *request) { r.putUint16(unix.IFF_UP | unix.IFF_RUNNING) })
	for _, p := range prefixes {
		if p.Addr().Is6() {
			if failed := d.addIPv6(p); failed != nil && err == nil {
				err = fmt.Errorf("interface %s: %v: %w", d.called, p, failed)
			}
			continue
		}
		do(unix.SIOCSIFADDR, p.String(), func(r *request) { r.putAddress(p.Addr().As4()) })
		do(unix.SIOCSIFNETMASK, p.String(), func(r *request) { r.putAddress([4]byte(net.CIDRMask(p.Bits(), 32))) })
	}
	return err
}

// Loopback brings lo up, over which a network namespace reaches its own addresses.
func Loopback() error {
	four, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(four)
	r := newRequest("lo")
	r.putUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := ioctl(four, unix.SIOCSIFFLAGS, unsafe.Pointer(r)); err != nil {
		return fmt.Errorf("interface lo: up: %w", err)
	}
	return nil
}

// addIPv6 adds an address.
func (d *device) addIPv6(p netip.Prefix) error {
	link, err := net.InterfaceByName(d.called)
	if err != nil {
		return err
	}
	six, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(six)
	r := struct { // in6_ifreq
		address [16]byte
		bits    uint32
		index   int32
	}{p.Addr().As16(), uint32(p.Bits()), int32(link.Index)}
	return ioctl(six, unix.SIOCSIFADDR, unsafe.Pointer(&r))
}

// Down removes an interface that Up has made, here or in another process, whose Run then returns.
func Down(name string) error {
	link, err := net.InterfaceByName(name)
	switch {
	case err != nil:
		return fmt.Errorf("interface %s: %w", name, err)
	case len(link.HardwareAddr) != 6:
		return fmt.Errorf("interface %s: not one of lmmc ip up", name)
	}
	if _, ours := nodeOfMAC(link.HardwareAddr); !ours {
		return fmt.Errorf("interface %s: not one of lmmc ip up: its MAC is %v, want 02:00:00:00 and a node's number", name, link.HardwareAddr)
	}
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	const size = unix.SizeofNlMsghdr + unix.SizeofIfInfomsg
	var m []byte
	m = binary.NativeEndian.AppendUint32(m, size)
	m = binary.NativeEndian.AppendUint16(m, unix.RTM_DELLINK)
	m = binary.NativeEndian.AppendUint16(m, unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	m = append(m, make([]byte, 8+4)...) // sequence number, sender; of the interface its family and type
	m = binary.NativeEndian.AppendUint32(m, uint32(link.Index))
	m = append(m, make([]byte, 8)...)
	if err := unix.Sendto(s, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 1<<12)
	n, _, err := unix.Recvfrom(s, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 {
		return fmt.Errorf("interface %s: an answer of %d bytes", name, n)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return fmt.Errorf("interface %s: %w", name, unix.Errno(-code))
	}
	return nil
}

// request is an ifreq.
type request struct {
	name [unix.IFNAMSIZ]byte
	data [24]byte
}

func newRequest(name string) *request {
	r := new(request)
	copy(r.name[:], name)
	return r
}

func (r *request) putUint16(v uint16) { binary.NativeEndian.PutUint16(r.data[:], v) }

func (r *request) putAddress(a [4]byte) {
	r.putUint16(unix.AF_INET)
	copy(r.data[4:], a[:])
}

func ioctl(fd int, code uint, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(code), uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}
