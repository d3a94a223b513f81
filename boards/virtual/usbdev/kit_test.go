package usbdev_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/internal/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a function with packets and room set by the test.
type script struct {
	*usbdev.Device
	has    map[byte][][]byte // for the host, by endpoint
	room   int
	got    [][]byte
	resets int
	serial string // number
}

func newScript() *script {
	s := &script{has: map[byte][][]byte{}}
	s.Device = usbdev.New(s)
	return s
}

func (s *script) Describe() usbdev.Descriptors {
	return usbdev.Describe(usbdev.Identity{
		Vendor: 0x0403, Product: 0x6010, Release: 0x0700, Interfaces: 2, MilliAmps: 500, Strings: [3]string{"maker", "größe", s.serial},
	})
}

func (s *script) Reset() { s.resets++ }

func (s *script) Control(request usbdev.Setup, data []byte) ([]byte, bool) {
	return append([]byte{request.Request}, data...), request.Request != 99
}

func (s *script) Packet(endpoint byte, _ int) (packet []byte, ok bool) {
	if len(s.has[endpoint]) == 0 {
		return nil, false
	}
	packet, s.has[endpoint] = s.has[endpoint][0], s.has[endpoint][1:]
	return packet, true
}

func (s *script) Take(_ byte, packet []byte) bool {
	if s.room == 0 {
		return false
	}
	s.room--
	s.got = append(s.got, slices.Clone(packet))
	return true
}

// give gives the function packets for the host.
func (s *script) give(endpoint byte, packets ...[]byte) {
	s.Do(func() { s.has[endpoint] = append(s.has[endpoint], packets...) })
}

// attach attaches a host, which configures the device.
func (s *script) attach(t *testing.T) *usbdev.Host {
	t.Helper()
	h := check.Must(s.Attach())(t)
	t.Cleanup(h.Close)
	if _, status := control(t, h, usbdev.Setup{Request: 9, Value: 1}); status != usbdev.OK {
		t.Fatalf("SET_CONFIGURATION: %v", status)
	}
	return h
}

// control carries out a control transfer.
func control(t *testing.T, b usbdev.Bus, s usbdev.Setup) ([]byte, usbdev.Status) {
	t.Helper()
	transfer := &usbdev.Transfer{Endpoint: s.Type & usbdev.In, Setup: s, Room: int(s.Length)}
	if s.Type&usbdev.In == 0 {
		transfer.Data = make([]byte, s.Length)
	}
	check.Fatal(t, usbdev.Carry(context.Background(), b, transfer))
	return transfer.Data[:transfer.Actual], transfer.Status
}

// submitted is a transfer whose end is known.
type submitted struct {
	usbdev.Transfer
	ended atomic.Bool
}

// submit submits a transfer; the order of ends goes to order.
func submit(h *usbdev.Host, t usbdev.Transfer, order *[]*submitted) *submitted {
	s := &submitted{Transfer: t}
	s.Done = func(*usbdev.Transfer) {
		s.ended.Store(true)
		if order != nil {
			*order = append(*order, s)
		}
	}
	h.Submit(&s.Transfer)
	return s
}

func bytesOf(b byte, n int) []byte { return slices.Repeat([]byte{b}, n) }
