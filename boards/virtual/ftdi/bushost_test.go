package ftdi_test

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/internal/check"
)

// memory is a memory on the bus of an 8051: it takes an address when ALE falls, and data when WR# rises, and drives the bus while RD# is low.
type memory struct {
	content  map[uint16]byte
	bus      uint16 // what the host drives, with ones where it does not
	strobes  uint16
	address  uint16
	io       uint16 // of the pins for waiting
	clash    bool   // both have driven the bus
	selected int    // times
}

const (
	cs, ale, rd, wr = 1, 2, 4, 8
	io1             = 0x80
)

// half is the circuit at a channel's pins.
type half func(value, driven uint16) (levels uint16)

func (h half) Drive(value, driven uint16) uint16 { return h(value, driven) }

func (m *memory) busses(value, driven uint16) uint16 {
	m.bus = value | ^driven
	if m.strobes&(cs|rd) != 0 {
		return m.bus
	}
	m.clash = m.clash || driven&0xFF != 0
	return m.bus&0xFF00 | uint16(m.content[m.address])
}

func (m *memory) strobe(value, driven uint16) uint16 {
	now := value | ^driven
	fell, rose := m.strobes&^now, now&^m.strobes
	if m.strobes = now; fell&cs != 0 {
		m.selected++
	}
	switch {
	case now&cs != 0:
	case fell&ale != 0:
		m.address = m.bus
	case rose&wr != 0:
		m.content[m.address] = byte(m.bus)
	}
	return now&^io1 | m.io
}

// TestBusHost writes and reads a memory, by short addresses and by long ones.
func TestBusHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := plug(t)
		m := &memory{content: map[uint16]byte{}}
		h.Wire(ftdi.A, half(m.busses))
		h.Wire(ftdi.B, half(m.strobe))
		if !h.set(0x09, 1, 1) || !h.set(0x0B, 0x0800, 1) || h.set(0x0B, 0x0800, 2) {
			t.Fatal("the mode is one of channel A")
		}
		h.exchange([]byte{0x5A}, 0x92, 0x34, 0x5A, 0x90, 0x34)
		h.exchange([]byte{0xA5, 0x5A}, 0x93, 0x12, 0x34, 0xA5, 0x91, 0x12, 0x34, 0x91, 0xFF, 0x34)
		if want := map[uint16]byte{0xFF34: 0x5A, 0x1234: 0xA5}; len(m.content) != 2 || m.content[0xFF34] != want[0xFF34] || m.content[0x1234] != want[0x1234] {
			t.Errorf("%x, want %x", m.content, want)
		}
		if m.clash || m.selected != 5 || m.strobes&(cs|ale|rd|wr) != cs|rd|wr {
			t.Errorf("both drive the bus: %v; %d cycles; strobes %04x", m.clash, m.selected, m.strobes)
		}
		h.exchange([]byte{0xFA, 0x80, 0xFA, 0x10}, 0x80, 0x8A, 0x10, 0x87) // others are no commands here
		h.send(0x91, 0x12)                                                 // half of one
		h.exchange([]byte{0xA5}, 0x34)

		h.send(0x88, 0x90, 0x34)
		time.Sleep(time.Second)
		h.Device().Do(func() {
			check.Equal(t, "bus cycles while I/O1 is low", m.selected, 6)
			m.io = io1
		})
		h.exchange([]byte{m.content[0x1234]}, 0x87)
		h.Device().Do(func() { m.io = 0 })
		h.exchange([]byte{m.content[0x1234]}, 0x89, 0x90, 0x34)

		driven := []uint16{1, 1}
		h.Wire(ftdi.A, half(func(_, d uint16) uint16 { driven[0] = d; return 0 }))
		h.Wire(ftdi.B, half(func(_, d uint16) uint16 { driven[1] = d; return 0 }))
		if !h.set(0x0B, 0, 1) || !slices.Equal(driven, []uint16{0, 0}) {
			t.Errorf("%04x are driven without a mode", driven)
		}
		if !h.set(0x0B, 0x0200, 2) || h.set(0x0B, 0x0800, 1) {
			t.Error("it takes pins that channel B uses")
		}
	})
}

func TestBitBang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 4)
		h.exchange([]byte{0xF4, 0xF5, 0xFE}, 0x05, 0x0A, 0x0B)
		if w.value != 0x0B || w.driven != 0x0B {
			t.Errorf("%04x of %04x", w.value, w.driven)
		}
		if !h.set(0x0B, 0x010F, 1) || !h.set(3, 0x4138, 1) {
			t.Error("asynchronous bit-bang")
		}
		h.send(0x06)
		if w.value != 0x06 || w.driven != 0x0F {
			t.Errorf("%04x of %04x", w.value, w.driven)
		}
		h.answers()
		time.Sleep(time.Millisecond)
		have := h.answers()
		if len(have) < 100 || len(bytes.Trim(have, "\xF6")) > 0 {
			t.Errorf("%d samples, % x", len(have), have[:min(len(have), 9)])
		}
	})
}
