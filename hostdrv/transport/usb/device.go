package usb

import (
	"context"

	"github.com/stafflink/lmmc/hostdrv"
)

// Device is an open chip that is reached in another way than by libusb, such as one that is simulated in this process.
type Device interface {
	Identity() (vendor, product, release uint16)
	Packet() int                                      // most bytes in one from the chip
	Control(request uint8, value, index uint16) error // a vendor's request to the device, without data
	// Read returns what one transfer from a channel has brought, in packets of which all but the last are full. Read and Write may be
	// called at the same time, each from one goroutine, and return when ctx ends.
	Read(ctx context.Context, channel int, b []byte) (int, error)
	Write(ctx context.Context, channel int, b []byte) (int, error)
	Close() error // after Read and Write have returned
}

// Open makes a transport of the second channel of a chip, or of its only one, at a rate in bits a second. ticks is how many symbol times a second the driver is
// to count in wall-clock time: fewer than the rate says if what is at the line is a simulation that is slower; 0 for those. The transport closes the
// device, and so does Open if it fails.
func Open(ctx context.Context, d Device, baud int, ticks float64) (hostdrv.Transport, error) {
	b := ownBus{d}
	vendor, _, _ := d.Identity()
	return openTimed(ctx, b, wanted{vendor: vendor, channel: -1, baud: baud}, ticks)
}

// ownBus has one device.
type ownBus struct{ Device }

func (b ownBus) devices() ([]described, error) {
	d := described{port: "0-0"}
	d.vendor, d.product, d.release = b.Identity()
	return []described{d}, nil
}

func (b ownBus) open(described) (device, error) { return ownDevice(b), nil }
func (b ownBus) close() error                   { return b.Close() }

// ownDevice is the device before the bus closes it.
type ownDevice struct{ Device }

func (d ownDevice) serial() (string, error) { return "", nil }
func (d ownDevice) control(request uint8, value, index uint16) error {
	return d.Control(request, value, index)
}
func (d ownDevice) claim(channel int) (endpoints, error) { return ownChannel{d.Device, channel}, nil }
func (d ownDevice) close() error                         { return nil }

type ownChannel struct {
	Device
	channel int
}

func (c ownChannel) packet() int { return c.Packet() }
func (c ownChannel) read(ctx context.Context, b []byte) (int, error) {
	return c.Read(ctx, c.channel, b)
}
func (c ownChannel) write(ctx context.Context, b []byte) (int, error) {
	return c.Write(ctx, c.channel, b)
}
func (c ownChannel) close() error { return nil }
