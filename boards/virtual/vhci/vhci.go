// Package vhci gives a connection that carries USB/IP to the Linux kernel (vhci_hcd), which then has the device plugged in.
package vhci

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Sysfs is where the kernel shows its virtual host controller.
const Sysfs = "/sys/devices/platform/vhci_hcd.0"

// Errors of attaching.
var (
	ErrNoKernel   = errors.New("vhci: this kernel has no virtual USB host controller: sudo modprobe vhci_hcd")
	ErrFull       = errors.New("vhci: all ports of the virtual USB host controller are taken")
	ErrPermission = errors.New("vhci: only root may attach devices")
)

const (
	free      = 4 // status of a port: nothing is attached
	highSpeed = 3
)

// Attach hands a socket to the kernel, which has imported the device with the number id (usbip.Info.ID), and returns the port at which it is
// plugged in. The caller may close its own descriptor of the socket then. dir is Sysfs.
func Attach(dir string, socket uintptr, id uint32) (port int, err error) {
	ports, err := Free(dir)
	if err != nil {
		return 0, err
	}
	for _, port := range ports { // another program may be faster
		err = write(dir, "attach", fmt.Sprintf("%d %d %d %d", port, socket, id, highSpeed))
		if !errors.Is(err, syscall.EBUSY) {
			return port, err
		}
	}
	return 0, ErrFull
}

// Free lists the ports for high speed at which nothing is plugged in.
func Free(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoKernel
	case err != nil:
		return nil, err
	}
	var ports []int
	// The first line names the columns: hub port sta spd dev sockfd local_busid
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "hs" {
			continue
		}
		port, err := strconv.Atoi(fields[1])
		status, err2 := strconv.Atoi(fields[2])
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("vhci: %s/status: %q: %w", dir, line, err)
		}
		if status == free {
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		return nil, ErrFull
	}
	return ports, nil
}

func write(dir, file, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoKernel
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	case err != nil:
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
