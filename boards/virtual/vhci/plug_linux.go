package vhci

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
)

// number stands for the device in what the kernel says to it.
const number = 1<<16 | 2

// Plug plugs a device of this program into the kernel, and returns the port. It stays there until ctx ends, the device is
// unplugged; then ended gets what usbip.Carry has returned. dir is Sysfs.
//
// Another process has to use the device. In this one, a call that keeps a lock of a file in the kernel until the device has answered would
// wait for itself: Go waits for all its files at once, the kernel for the lock of each, so that no thread is left to answer.
func Plug(ctx context.Context, dir string, d *usbdev.Device) (port int, ended <-chan error, err error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("vhci: %w", err)
	}
	theirs, ours := os.NewFile(uintptr(ends[0]), "usbip"), os.NewFile(uintptr(ends[1]), "usbip")
	conn, err := net.FileConn(ours)
	if err = errors.Join(err, ours.Close()); err != nil {
		return 0, nil, errors.Join(err, theirs.Close())
	}
	host, err := d.Attach()
	if err != nil {
		return 0, nil, errors.Join(err, conn.Close(), theirs.Close())
	}
	if port, err = Attach(dir, theirs.Fd(), number); err != nil {
		host.Close()
		return 0, nil, errors.Join(err, conn.Close(), theirs.Close())
	}
	carried := make(chan error, 1)
	go func() { carried <- usbip.Carry(ctx, conn, host) }()
	return port, carried, theirs.Close()
}
