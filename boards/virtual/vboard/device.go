package vboard

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// packet is the largest bulk packet of high-speed USB.
const packet = 512

// device adapts a chip to hostdrv/transport/usb.
type device struct {
	bus                      usbdev.Bus
	vendor, product, release uint16
	clock                    *clock
	close                    func() error // ends the board
}

// plugIn attaches to a device and configures it. Closing the result calls close.
func plugIn(ctx context.Context, d *usbdev.Device, c *clock, close func() error) (*device, error) {
	host, err := d.Attach()
	if err != nil {
		return nil, err
	}
	b, le := d.Descriptors().Device, binary.LittleEndian
	own := &device{host, le.Uint16(b[8:]), le.Uint16(b[10:]), le.Uint16(b[12:]), c, close}
	return own, own.configure(ctx)
}

// configure configures the device; it detaches when that fails.
func (d *device) configure(ctx context.Context) error {
	const setConfiguration = 9
	_, err := d.carry(ctx, &usbdev.Transfer{Setup: usbdev.Setup{Request: setConfiguration, Value: 1}})
	if err != nil {
		d.bus.Close()
	}
	return err
}

func (d *device) Identity() (vendor, product, release uint16) { return d.vendor, d.product, d.release }

func (d *device) Packet() int { return packet }

func (d *device) Control(request uint8, value, index uint16) error {
	s := usbdev.Setup{Type: usbdev.Vendor, Request: request, Value: value, Index: index}
	_, err := d.carry(context.Background(), &usbdev.Transfer{Setup: s}) // does not wait
	return err
}

// Read copies, since a cancelled transfer may still be written to.
func (d *device) Read(ctx context.Context, channel int, b []byte) (int, error) {
	t := &usbdev.Transfer{Endpoint: usbdev.In | byte(2*channel+1), Room: len(b)}
	_, err := d.carry(ctx, t)
	d.clock.look()
	return copy(b, t.Data), err
}

func (d *device) Write(ctx context.Context, channel int, b []byte) (int, error) {
	d.clock.send(+1)
	defer d.clock.send(-1)
	return d.carry(ctx, &usbdev.Transfer{Endpoint: byte(2*channel + 2), Data: b})
}

func (d *device) carry(ctx context.Context, t *usbdev.Transfer) (int, error) {
	if err := usbdev.Carry(ctx, d.bus, t); err != nil {
		return 0, err
	}
	if t.Status != usbdev.OK {
		return t.Actual, fmt.Errorf("endpoint %02x: %v", t.Endpoint, t.Status)
	}
	return t.Actual, nil
}

func (d *device) Close() error {
	d.bus.Close()
	return d.close()
}
