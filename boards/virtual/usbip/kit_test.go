package usbip_test

import (
	"context"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/internal/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a device that sends back each packet, and buffers a few.
type echo struct {
	device *usbdev.Device
	held   [][]byte
	open   bool // packets go to the host
}

const holds = 8

func newEcho() *echo {
	e := &echo{open: true}
	e.device = usbdev.New(e)
	return e
}

func (e *echo) Describe() usbdev.Descriptors {
	return usbdev.Describe(usbdev.Identity{
		Vendor: 0x1209, Product: 1, Release: 0x123, Interfaces: 1, MilliAmps: 100, Strings: [3]string{"maker", "echo", "E1"},
	})
}

func (e *echo) Reset() { e.held = nil }

// Control echoes what is in the setup, and stalls request 1.
func (e *echo) Control(s usbdev.Setup, data []byte) ([]byte, bool) {
	b := s.Bytes()
	return append(b[:], data...), s.Request != 1
}

func (e *echo) Packet(byte, int) (packet []byte, ok bool) {
	if len(e.held) == 0 || !e.open {
		return nil, false
	}
	packet, e.held = e.held[0], e.held[1:]
	go e.device.Do(func() {}) // there is room
	return packet, true
}

func (e *echo) Take(_ byte, packet []byte) bool {
	if len(e.held) == holds {
		return false
	}
	e.held = append(e.held, append([]byte{}, packet...))
	go e.device.Do(func() {})
	return true
}

// serve runs a server until the test ends.
func serve(t testing.TB, exports ...usbip.Export) net.Addr {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Background(t, func(ctx context.Context) error { return usbip.Serve(ctx, l, exports, nil) })
	return l.Addr()
}
