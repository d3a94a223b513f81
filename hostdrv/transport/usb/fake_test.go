package usb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeBus has devices that are there until they are unplugged, and finds fault with those who leave things open.
type fakeBus struct {
	t       testing.TB
	plugged []*fakeDevice
	failure error // of devices
	closed  bool
}

func newFakeBus(t testing.TB, plugged ...*fakeDevice) *fakeBus {
	b := &fakeBus{t: t, plugged: plugged}
	t.Cleanup(func() {
		if !b.closed {
			t.Error("the bus was not closed")
		}
	})
	return b
}

func (b *fakeBus) devices() (all []described, err error) {
	for _, d := range b.plugged {
		all = append(all, d.described)
	}
	return all, b.failure
}

func (b *fakeBus) open(want described) (device, error) {
	for _, d := range b.plugged {
		if d.described == want {
			if d.isOpen {
				b.t.Errorf("%v was opened twice", want)
			}
			if d.denied != nil {
				return nil, d.denied
			}
			d.bus, d.isOpen = b, true
			return d, nil
		}
	}
	return nil, errUnplugged
}

func (b *fakeBus) close() error {
	for _, d := range b.plugged {
		if d.isOpen {
			b.t.Errorf("the bus was closed while %v was open", d.described)
		}
	}
	if b.closed {
		b.t.Error("the bus was closed twice")
	}
	b.closed = true
	return nil
}

var (
	errUnplugged = errors.New("no device")
	errStalled   = errors.New("pipe error")
)

// request is one that a fakeDevice got.
type request struct {
	request      uint8
	value, index uint16
}

// fakeDevice is a chip with a board behind one channel. It is its device's endpoints as well.
type fakeDevice struct {
	described
	number string // serial
	size   int    // of packets

	denied, taken error // of opening, of claiming
	stalled       uint8 // a request that it refuses, if isStalling
	isStalling    bool

	board    net.Conn // what the host writes goes in, what comes out the host reads
	rng      *rand.Rand
	bus      *fakeBus
	isOpen   bool
	claimed  int // interface number + 1
	requests []request
	users    atomic.Int32
}

// plug returns a chip and the board's end of its serial line. Chips differ by their port.
func plug(release uint16, port string) (*fakeDevice, net.Conn) {
	chip, board := net.Pipe()
	return &fakeDevice{
		described: described{vendor: ftdi, product: 0x6010, release: release, port: port, address: 3},
		size:      512, board: chip, rng: rand.New(rand.NewPCG(1, uint64(release))),
	}, board
}

func (d *fakeDevice) unplug() { d.board.Close() }

func (d *fakeDevice) serial() (string, error) { return d.number, nil }

func (d *fakeDevice) control(r uint8, value, index uint16) error {
	if d.isStalling && r == d.stalled {
		return errStalled
	}
	d.requests = append(d.requests, request{r, value, index})
	return nil
}

func (d *fakeDevice) claim(number int) (endpoints, error) {
	if d.taken != nil {
		return nil, d.taken
	}
	d.claimed = number + 1
	return (*fakeEnds)(d), nil
}

func (d *fakeDevice) close() error {
	if d.claimed != 0 {
		d.bus.t.Error("the device was closed while an interface was claimed")
	}
	d.isOpen = false
	return nil
}

type fakeEnds fakeDevice

func (d *fakeEnds) packet() int { return d.size }

// read is as a chip does it: packets, each with a status, the last one short; nothing but a status when the latency timer runs out.
func (d *fakeEnds) read(ctx context.Context, b []byte) (int, error) {
	d.users.Add(1)
	defer d.users.Add(-1)
	if len(b) < readPackets*d.size {
		return 0, fmt.Errorf("overflow: a buffer of %d bytes", len(b))
	}
	data := make([]byte, 1+d.rng.IntN(readPackets*(d.size-statusBytes)))
	var n int
	var err error
	if ctx.Err() == nil {
		d.board.SetReadDeadline(time.Now().Add(latency * time.Millisecond))
		n, err = d.board.Read(data)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return 0, errUnplugged
	}
	sent := copy(b, pack(data[:n], d.size))
	if ctx.Err() != nil {
		return sent, context.Canceled
	}
	return sent, nil
}

// write takes what it likes of b, as an interrupted transfer does.
func (d *fakeEnds) write(ctx context.Context, b []byte) (int, error) {
	d.users.Add(1)
	defer d.users.Add(-1)
	var once sync.Once
	stop := context.AfterFunc(ctx, func() { once.Do(func() { d.board.SetWriteDeadline(time.Unix(1, 0)) }) })
	defer stop()
	n, err := d.board.Write(b[:1+len(b)*3/4])
	if errors.Is(err, io.ErrClosedPipe) {
		err = errUnplugged
	}
	return n, err
}

func (d *fakeEnds) close() error {
	if n := d.users.Load(); n != 0 {
		d.bus.t.Errorf("the interface was released with %d transfers underway", n)
	}
	if d.claimed == 0 {
		d.bus.t.Error("the interface was released twice")
	}
	d.claimed = 0
	return nil
}

// pack makes packets of data, as a chip does.
func pack(data []byte, size int) (packets []byte) {
	for {
		packets = append(packets, 0x01, 0x60) // modem status: the reserved bit that is always set; line status: empty
		n := min(len(data), size-statusBytes)
		packets = append(packets, data[:n]...)
		data = data[n:]
		if n < size-statusBytes {
			return packets
		}
		if len(data) == 0 {
			return packets // full: the transfer goes on, or ends here because it is full
		}
	}
}
