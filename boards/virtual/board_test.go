package virtual_test

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/internal/check"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run runs a board until the test ends.
func run(t *testing.T, c virtual.Config) *virtual.Board {
	t.Helper()
	b := check.Must(virtual.New(c))(t)
	check.Background(t, b.Run)
	return b
}

// cable is a chip's second channel as a byte stream.
type cable struct {
	ctx  context.Context
	stop context.CancelFunc
	bus  usbdev.Bus
	rest []byte
}

func (c *cable) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		x := &usbdev.Transfer{Endpoint: 0x83, Room: 512}
		if err := usbdev.Carry(c.ctx, c.bus, x); err != nil {
			return 0, err
		}
		if x.Status != usbdev.OK {
			return 0, net.ErrClosed
		}
		c.rest = x.Data[2:]
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *cable) Write(p []byte) (int, error) {
	x := &usbdev.Transfer{Endpoint: 0x04, Data: p}
	if err := usbdev.Carry(c.ctx, c.bus, x); err != nil {
		return 0, err
	}
	if x.Status != usbdev.OK {
		return x.Actual, net.ErrClosed
	}
	return x.Actual, nil
}

func (c *cable) Close() error {
	c.stop()
	c.bus.Close()
	return nil
}

// open opens the network interface behind a bus.
func open(ctx context.Context, bus usbdev.Bus) (*hostdrv.NI, error) {
	for _, s := range []usbdev.Setup{ // configuration; latency 1 ms; 12 Mbaud
		{Request: 9, Value: 1}, {Type: 0x40, Request: 9, Value: 1, Index: 2}, {Type: 0x40, Request: 3, Value: 0, Index: 0x0202},
	} {
		if err := usbdev.Carry(ctx, bus, &usbdev.Transfer{Setup: s}); err != nil {
			return nil, err
		}
	}
	streaming, stop := context.WithCancel(context.Background())
	transport := pipe.New(&cable{ctx: streaming, stop: stop, bus: bus}, hostdrv.Timing{TicksPerSecond: 1e5, Burst: 4096, LinkTimeout: 1 << 20})
	return hostdrv.New(ctx, transport, hostdrv.Options{})
}

func TestKinds(t *testing.T) {
	check.Fails(t, "an unknown kind of board", check.Err(virtual.New(virtual.Config{Kind: "unknown"})), nil)
	for _, kind := range virtual.Kinds() {
		check.Must(virtual.New(virtual.Config{Kind: kind, Serial: "12345678"}))(t)
	}
}

// TestLook reads the status of an NI's links, and none from an FPGA without a status probe.
func TestLook(t *testing.T) {
	fpga := check.Must(hostdrv.Dial(t.Context(), "rtl:?links=2"))(t)
	b := run(t, virtual.Config{Kind: "icebreaker", FPGA: fpga})
	host := check.Must(b.Device().Attach())(t)
	defer host.Close()
	n := check.Must(open(t.Context(), host))(t) // without a nonce the links stay down
	defer n.Close()
	for s := b.Status(); ; s = b.Status() {
		if s.FPGA != nil && s.FPGA.Links[0].Up && s.FPGA.Links[1].Up {
			if s.FPGA.Links[0].Life == 0 || s.FPGA.Links[0].Life == s.FPGA.Links[1].Life || len(s.LEDs) != 2 || s.LEDs[1] != (virtual.LED{Name: "red, traffic", On: true}) {
				t.Errorf("%+v, %v", s.FPGA, s.LEDs)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.PowerCycle() // the flash is empty
	for s := b.Status(); s.FPGA != nil; s = b.Status() {
		time.Sleep(time.Millisecond)
	}
	if s := b.Status(); len(s.LEDs) != 0 {
		t.Errorf("LEDs of an empty FPGA: %v", s.LEDs)
	}
}
