//go:build usb && cgo

package usb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/gousb"
)

// controlTimeout is for requests, which cannot be cancelled.
const controlTimeout = time.Second

// Transfers to the chip that may be underway at a time, so that it need not wait for the program between them, and bytes in each. What is underway is a delay
// for what comes after it.
const (
	writeTransfers = 2
	writeBytes     = 8 << 10
)

// libusb is a bus of real devices.
type libusb struct{ ctx *gousb.Context }

func openBus() (b bus, err error) {
	defer func() { // of the library, when libusb does not start
		if r := recover(); r != nil {
			err = fmt.Errorf("usb: libusb does not start: %v", r)
		}
	}()
	return &libusb{gousb.NewContext()}, nil
}

func describe(d *gousb.DeviceDesc) described {
	var hubs []string
	for _, port := range d.Path {
		hubs = append(hubs, strconv.Itoa(port))
	}
	return described{
		vendor: uint16(d.Vendor), product: uint16(d.Product), release: uint16(d.Device),
		port: fmt.Sprintf("%d-%s", d.Bus, strings.Join(hubs, ".")), address: d.Address,
	}
}

func (l *libusb) devices() (all []described, err error) {
	_, err = l.ctx.OpenDevices(func(d *gousb.DeviceDesc) bool {
		all = append(all, describe(d))
		return false
	})
	if all != nil {
		err = nil // of a device whose descriptors are unreadable
	}
	return all, err
}

func (l *libusb) open(d described) (device, error) {
	opened, err := l.ctx.OpenDevices(func(desc *gousb.DeviceDesc) bool { return describe(desc) == d })
	if len(opened) == 0 {
		if err == nil {
			err = gousb.ErrorNoDevice
		}
		return nil, translate(err)
	}
	opened[0].ControlTimeout = controlTimeout
	return &libusbDevice{opened[0]}, nil
}

func (l *libusb) close() error { return l.ctx.Close() }

// translate makes libusb's errors those of this package. The library wraps them as text in places.
func translate(err error) error {
	for code, ours := range map[gousb.Error]error{gousb.ErrorAccess: ErrPermission, gousb.ErrorBusy: ErrBusy} {
		if err != nil && (errors.Is(err, code) || strings.Contains(err.Error(), code.Error())) {
			return ours
		}
	}
	return err
}

type libusbDevice struct{ dev *gousb.Device }

func (d *libusbDevice) serial() (string, error) { return d.dev.SerialNumber() }

func (d *libusbDevice) control(request uint8, value, index uint16) error {
	_, err := d.dev.Control(gousb.ControlOut|gousb.ControlVendor|gousb.ControlDevice, request, value, index, nil)
	return translate(err)
}

func (d *libusbDevice) close() error { return d.dev.Close() }

func (d *libusbDevice) claim(number int) (_ endpoints, err error) {
	active, err := d.dev.ActiveConfigNum()
	if err != nil {
		return nil, translate(err)
	}
	config, err := d.dev.Config(max(active, 1))
	if err != nil {
		return nil, translate(err)
	}
	// Only now: set before, the library takes all interfaces from the system's driver, and gives none back. Set here, libusb takes the
	// one that is claimed, and gives it back when it is released.
	e := &libusbEndpoints{config: config}
	if err := d.dev.SetAutoDetach(true); err != nil {
		return nil, errors.Join(translate(err), e.close())
	}
	if number >= len(config.Desc.Interfaces) { // the library would panic
		return nil, errors.Join(fmt.Errorf("%w: the device has %d interfaces", ErrNoDevice, len(config.Desc.Interfaces)), e.close())
	}
	if e.claimed, err = config.Interface(number, 0); err != nil {
		return nil, errors.Join(translate(err), e.close())
	}
	if err := e.openEnds(); err != nil {
		return nil, errors.Join(translate(err), e.close())
	}
	return e, nil
}

type libusbEndpoints struct {
	config  *gousb.Config
	claimed *gousb.Interface // nil before it is
	size    int
	in      *gousb.ReadStream // nil before it is open, and after it has ended
	out     *gousb.OutEndpoint
	// Of writes underway, the first one first. The library's streams send their whole buffers, whatever is written to them, so that each write has
	// a stream of its length.
	writing []*gousb.WriteStream
}

// openEnds opens the interface's endpoints and begins to read.
func (e *libusbEndpoints) openEnds() error {
	var in *gousb.InEndpoint
	var err error
	for _, d := range e.claimed.Setting.Endpoints {
		switch {
		case d.TransferType != gousb.TransferTypeBulk:
		case d.Direction == gousb.EndpointDirectionIn:
			e.size = d.MaxPacketSize
			in, err = e.claimed.InEndpoint(d.Number)
		default:
			e.out, err = e.claimed.OutEndpoint(d.Number)
		}
		if err != nil {
			return err
		}
	}
	if in == nil || e.out == nil {
		return fmt.Errorf("%w: the interface has no pair of bulk endpoints", ErrChip)
	}
	e.in, err = in.NewStream(readPackets*e.size, readTransfers)
	return err
}

func (e *libusbEndpoints) packet() int { return e.size }

func (e *libusbEndpoints) read(ctx context.Context, b []byte) (int, error) {
	if e.in == nil {
		return 0, gousb.ErrorNoDevice
	}
	n, err := e.in.ReadContext(ctx, b)
	if err != nil {
		e.in = nil // the library has cancelled the other transfers and waited for them
		n = 0      // and freed what this one had brought
	}
	return n, err
}

func (e *libusbEndpoints) write(ctx context.Context, b []byte) (int, error) {
	for len(e.writing) >= writeTransfers {
		if err := e.settle(ctx); err != nil {
			return 0, err
		}
	}
	b = b[:min(len(b), writeBytes)]
	s, err := e.out.NewStream(len(b), 1)
	if err != nil {
		return 0, err
	}
	n, err := s.WriteContext(ctx, b)
	if err == nil {
		e.writing = append(e.writing, s)
	}
	return n, err
}

// settle waits for the first write underway.
func (e *libusbEndpoints) settle(ctx context.Context) error {
	s := e.writing[0]
	e.writing = e.writing[1:]
	return s.CloseContext(ctx)
}

// lastWords is how long what has been written may take to reach the chip when the endpoints are closed.
const lastWords = 100 * time.Millisecond

func (e *libusbEndpoints) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	for len(e.writing) > 0 {
		_ = e.settle(ctx) // who has written does not wait for it any more
	}
	cancel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	// The library's own Close leaves transfers underway. A read that is cancelled may still find a transfer that was complete.
	for b := make([]byte, readPackets*e.size); e.in != nil; {
		_, _ = e.read(cancelled, b)
	}
	if e.claimed != nil {
		e.claimed.Close()
	}
	return e.config.Close()
}
