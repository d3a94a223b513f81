package usb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/udev"
)

// bus is what this package needs of libusb. Errors wrap ErrPermission and ErrBusy where that is what is wrong.
type bus interface {
	devices() ([]described, error) // what is plugged in; those whose descriptors are unreadable are left out
	open(described) (device, error)
	close() error // after all devices are closed
}

// described is what is known of a device that is not open.
type described struct {
	vendor, product, release uint16

	port    string // where it is plugged in, as the kernel has it: bus, "-", and the hubs' ports with dots between
	address int    // on its bus, of this plugging in
}

func (d described) String() string {
	return fmt.Sprintf("%04x:%04x at port %s", d.vendor, d.product, d.port)
}

// device is one that is open.
type device interface {
	serial() (string, error)                          // "" if it has none
	control(request uint8, value, index uint16) error // a vendor's request to the device, without data
	claim(interfaceNumber int) (endpoints, error)     // takes the interface, and no other one, from the system's driver
	close() error                                     // after all interfaces are closed
}

// endpoints are the two of an interface, for bulk transfers. Read and write may be called at the same time, each from one goroutine.
type endpoints interface {
	packet() int // most bytes in a packet to the host
	// read returns what one transfer has brought: packets, all full but perhaps the last. b has room for readPackets packets. When ctx
	// ends, or after an error, there is nothing more to be read.
	read(ctx context.Context, b []byte) (int, error)
	// write may return before the chip has taken what was written. An error may be of what was written before.
	write(ctx context.Context, b []byte) (int, error)
	close() error // gives the interface back to the system; after read and write have returned
}

// Transfers that wait for the chip at any time, and packets in each. A transfer ends when it is full or with a packet that is not: the
// chip sends one when its latency timer runs out. They are small so that data does not wait when it comes without a pause, and
// together hold what 12 Mbaud bring in 50 ms.
const (
	readPackets   = 8
	readTransfers = 16
)

// find opens the one device on a bus that is wanted.
func find(ctx context.Context, b bus, w wanted) (described, device, error) {
	all, err := b.devices()
	if err != nil {
		return described{}, nil, fmt.Errorf("usb: cannot list devices: %w", err)
	}
	slices.SortFunc(all, func(a, b described) int {
		return cmp.Or(strings.Compare(a.port, b.port), cmp.Compare(a.address, b.address))
	})
	fits := slices.DeleteFunc(all, func(d described) bool {
		return d.vendor != w.vendor || w.product != 0 && d.product != w.product || w.port != "" && d.port != w.port
	})
	if w.serial == "" && len(fits) > 1 {
		return described{}, nil, several(b, fits)
	}
	var failed []error // of devices that may have been the one
	for _, d := range fits {
		if err := ctx.Err(); err != nil {
			return d, nil, err
		}
		dev, err := b.open(d)
		if err == nil && w.serial != "" {
			var serial string
			if serial, err = dev.serial(); err != nil || serial != w.serial {
				err = errors.Join(err, dev.close())
				dev = nil
			}
		}
		if dev != nil {
			return d, dev, nil
		}
		if err != nil {
			failed = append(failed, explain(err, d))
		}
	}
	if failed != nil {
		return described{}, nil, errors.Join(failed...)
	}
	return described{}, nil, fmt.Errorf("%w: %s: is the board plugged in?", ErrNoDevice, w)
}

// several tells devices apart for who has to choose.
func several(b bus, fits []described) error {
	err := fmt.Errorf("%w: choose one with serial= or port=", ErrSeveral)
	for _, d := range fits {
		serial, failed := "", error(nil)
		dev, failed := b.open(d)
		if failed == nil {
			serial, failed = dev.serial()
			failed = errors.Join(failed, dev.close())
		}
		switch {
		case failed != nil:
			serial = "unknown: " + failed.Error()
		case serial == "":
			serial = "none"
		}
		err = fmt.Errorf("%w\n  %v, serial number %s", err, d, serial)
	}
	return err
}

func (w wanted) String() string {
	text := fmt.Sprintf("%04x:%04x", w.vendor, w.product)
	if w.product == 0 {
		text = fmt.Sprintf("any of vendor %04x", w.vendor)
	}
	if w.serial != "" {
		text += " with serial number " + w.serial
	}
	if w.port != "" {
		text += " at port " + w.port
	}
	return text
}

// explain says which device an error is of, and what helps.
func explain(err error, d described) error {
	if errors.Is(err, ErrPermission) {
		return fmt.Errorf("%w: %v: %s", err, d, udev.Advice(d.vendor))
	}
	return fmt.Errorf("%w: %v", err, d)
}
