// Package usb is the transport to a board behind a USB bridge chip of FTDI. It speaks to the chip itself and needs no serial driver of
// the system. Importing it makes targets such as "usb:0403:6010?serial=FT12AB&interface=B&baud=3000000" known to hostdrv.Open.
//
// A program has libusb in it, and USB targets work, only if it is built with the tag usb, which takes cgo, pkg-config and libusb's
// header (Debian: libusb-1.0-0-dev). Without the tag the package needs none of them and opening gives ErrNotBuilt.
package usb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/internal/nearest"
)

func init() { hostdrv.Register("usb", open) }

// Errors of opening a board.
var (
	ErrNotBuilt   = errors.New("usb: this program was built without USB: install libusb-1.0-0-dev and pkg-config and build it with -tags usb, as make lmmc does")
	ErrNoDevice   = errors.New("usb: no such device")
	ErrSeveral    = errors.New("usb: several devices match")
	ErrBusy       = errors.New("usb: the interface is in use by another program")
	ErrPermission = errors.New("usb: no permission to use the device")
	ErrChip       = errors.New("usb: unknown bridge chip")
	ErrBaud       = errors.New("usb: rate not supported by the chip")
)

// Rates that a chip can be asked for, in bits a second. Those with full-speed USB end at 3,000,000.
const (
	DefaultBaud = 3_000_000
	MinBaud     = 1200
	MaxBaud     = 12_000_000
)

// ftdi is the vendor of the chips, unless a board's maker has put in his own number.
const ftdi = 0x0403

// wanted is what a target asks for.
type wanted struct {
	vendor  uint16
	product uint16 // 0 for any
	serial  string // "" for any
	port    string // where it is plugged in, such as "1-2.3"; "" for anywhere
	channel int    // 0 for A; -1 for the chip's second, or only, one
	baud    int
}

// parse reads a target "usb:VENDOR:PRODUCT", or "usb:" for any chip of FTDI, with the options serial, port, interface and baud.
func parse(target *url.URL) (wanted, error) {
	w := wanted{vendor: ftdi, channel: -1, baud: DefaultBaud}
	if id := target.Opaque + target.Path; id != "" {
		vendor, product, both := strings.Cut(id, ":")
		v, err := strconv.ParseUint(vendor, 16, 16)
		p, err2 := strconv.ParseUint(product, 16, 16)
		if !both || err != nil || err2 != nil {
			return w, fmt.Errorf("%w: device %q: want VENDOR:PRODUCT in hexadecimal, as in usb:0403:6010?interface=B", hostdrv.ErrTarget, id)
		}
		w.vendor, w.product = uint16(v), uint16(p)
	}
	query, err := url.ParseQuery(target.RawQuery)
	if err != nil {
		return w, fmt.Errorf("%w: %w", hostdrv.ErrTarget, err)
	}
	for name, given := range query {
		value := given[len(given)-1]
		if len(given) > 1 || value == "" {
			return w, fmt.Errorf("%w: option %s=%s: want one value", hostdrv.ErrTarget, name, strings.Join(given, ","))
		}
		switch name {
		case "serial":
			w.serial = value
		case "port":
			w.port = value
		case "interface":
			if w.channel = strings.Index("ABCD", strings.ToUpper(value)); w.channel < 0 || len(value) > 1 {
				return w, fmt.Errorf("%w: option interface=%s: want A, B, C or D", hostdrv.ErrTarget, value)
			}
		case "baud":
			if w.baud, err = strconv.Atoi(value); err != nil || w.baud < MinBaud || w.baud > MaxBaud {
				return w, fmt.Errorf("%w: option baud=%s: want %d to %d", hostdrv.ErrTarget, value, MinBaud, MaxBaud)
			}
		default:
			return w, fmt.Errorf("%w: no option %q%s; there are %s", hostdrv.ErrTarget, name, nearest.Hint(name, options), strings.Join(options, ", "))
		}
	}
	return w, nil
}

// options are those of a target.
var options = []string{"baud", "interface", "port", "serial"}

// open opens targets.
func open(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	w, err := parse(target)
	if err != nil {
		return nil, err
	}
	b, err := openBus()
	if err != nil {
		return nil, err
	}
	return openOn(ctx, b, w, 0)
}

// openOn opens what is wanted on a bus, which is closed with the transport. It counts so many symbol times a second, or those of the rate if 0.
func openOn(ctx context.Context, b bus, w wanted, symbols float64) (hostdrv.Transport, error) {
	s := &stream{bus: b}
	rate, err := s.open(ctx, w)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	symbols = cmp.Or(symbols, rate/10) // start bit, eight, stop bit
	return pipe.New(s, hostdrv.Timing{TicksPerSecond: symbols, Burst: max(16, int(symbols)/200), LinkTimeout: max(2*int(symbols), 1<<16), AckCoalesce: pipe.AckCoalesce}), nil
}

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
	vendor, _, _ := d.Identity()
	return openOn(ctx, ownBus{d}, wanted{vendor: vendor, channel: -1, baud: baud}, ticks)
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
