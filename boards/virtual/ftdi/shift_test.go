package ftdi_test

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/internal/check"
)

// atOnce are wires with byte transfers.
type atOnce struct {
	*wires
	shifts int
}

func (a *atOnce) Shift(value, driven uint16, out byte) (in byte) {
	a.shifts++
	for bit := 7; bit >= 0; bit-- {
		value = value&^dataOut | uint16(out>>bit&1)*dataOut
		in = in<<1 | byte(a.Drive(value, driven)/dataIn&1)
		a.Drive(value|clock, driven)
		a.Drive(value, driven)
	}
	return in
}

// TestShifter compares byte transfers with transfers edge by edge; only shifts in SPI mode 0 are byte transfers.
func TestShifter(t *testing.T) {
	data := []byte{0xA5, 0x0F, 0x80, 0x01}
	for _, c := range []struct {
		name   string
		before []byte
		op     byte
		shifts int
	}{
		{"both ways", nil, 0x31, 4},
		{"out", nil, 0x11, 4},
		{"in", nil, 0x20, 4},
		{"in, data out high", []byte{0x80, 2, 0x0B}, 0x20, 4},
		{"out with the rising edge", nil, 0x10, 0},
		{"in with the falling edge", nil, 0x24, 0},
		{"least significant bit first", nil, 0x39, 0},
		{"clock high", []byte{0x80, 1, 0x0B}, 0x31, 0},
		{"data out is an input", []byte{0x80, 0, 0x09}, 0x31, 0},
		{"data in is an output", []byte{0x80, 0, 0x0F}, 0x31, 0},
		{"loopback", []byte{0x84}, 0x31, 0},
		{"three phases", []byte{0x8C}, 0x31, 0},
		{"adaptive", []byte{0x96}, 0x31, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow, w := engine(t, 2)
				fast, once := plug(t), &atOnce{wires: &wires{levels: 0xFFFF}}
				fast.Wire(ftdi.A, once)
				fast.set(0x09, 1, 1)
				fast.set(0x0B, 0x020B, 1)
				program := append([]byte{0x80, 0, 0x0B}, c.before...)
				program = append(program, c.op, byte(len(data)-1), 0)
				if c.op&0x10 != 0 {
					program = append(program, data...)
				}
				program = append(program, 0x81)
				w.returns, once.returns = true, true
				w.reply = slices.Concat(bits(0x5A, 8, false), bits(0x3C, 8, false), bits(0x01, 8, false))
				once.reply = w.reply
				slow.send(program...)
				fast.send(program...)
				check.Equal(t, "answers by bytes and by edges", fast.answers(), slow.answers())
				if !bytes.Equal(w.rose, once.rose) || !bytes.Equal(w.fell, once.fell) || w.value != once.value {
					t.Errorf("edges % x and % x, pins %04x; edge by edge % x and % x, %04x", once.rose, once.fell, once.value, w.rose, w.fell, w.value)
				}
				if len(w.rose) == 0 || once.shifts != c.shifts {
					t.Errorf("%d bytes of %d at once", once.shifts, c.shifts)
				}
			})
		})
	}
}
