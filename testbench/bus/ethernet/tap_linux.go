package ethernet

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

func openTAP(name string) (io.ReadWriteCloser, error) {
	request, err := unix.NewIfreq(name)
	if err != nil || name == "" {
		return nil, fmt.Errorf("want a name of 1 to %d characters", unix.IFNAMSIZ-1)
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w: it takes CAP_NET_ADMIN and the module tun: run as root, and modprobe tun", err)
	}
	request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_TUN_EXCL)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: it takes CAP_NET_ADMIN, and a name that no interface has (ip link)", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "/dev/net/tun"), nil
}

// isFull reports an error of an interface that is down or has no room.
func isFull(err error) bool {
	return errors.Is(err, unix.EIO) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOBUFS)
}
