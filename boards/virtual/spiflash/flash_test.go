package spiflash_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/spiflash"
	"github.com/stafflink/lmmc/internal/check"
)

// master is at the pins of a flash, in mode 0.
type master struct {
	*testing.T
	*spiflash.Flash
}

func (m master) bit(in bool) (out bool) {
	m.Pins(true, false, in)
	out, driven := m.Pins(true, false, in)
	m.Pins(true, true, in)
	m.Pins(true, false, in)
	return out || !driven
}

// spi sends a command and then reads as many bytes.
func (m master) spi(read int, send ...byte) (have []byte) {
	for i := range len(send) + read {
		out, in := byte(0), byte(0)
		if i < len(send) {
			out = send[i]
		}
		for bit := 7; bit >= 0; bit-- {
			in <<= 1
			if m.bit(out>>bit&1 != 0) {
				in |= 1
			}
		}
		if i >= len(send) {
			have = append(have, in)
		}
	}
	m.Pins(false, false, false)
	return have
}

func (m master) want(want []byte, send ...byte) {
	m.Helper()
	check.Equal(m, fmt.Sprintf("answer to % x", send), m.spi(len(want), send...), want)
}

// wait waits until the flash is no longer busy and returns how long that took, to 10 µs.
func (m master) wait() time.Duration {
	start := time.Now()
	for m.spi(1, 0x05)[0]&1 != 0 {
		time.Sleep(10 * time.Microsecond)
	}
	return time.Since(start)
}

func (m master) write(send ...byte) time.Duration {
	m.spi(0, 0x06)
	m.spi(0, send...)
	return m.wait()
}

func each(t *testing.T, test func(master)) {
	for _, part := range []spiflash.Part{spiflash.N25Q032A, spiflash.W25Q128JV} {
		t.Run(part.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(master{t, spiflash.New(part, 1)}) })
		})
	}
}

func (m master) winbond() bool { return m.Part().Name == "W25Q128JV" }

func TestIdentity(t *testing.T) {
	each(t, func(m master) {
		if m.winbond() {
			m.want([]byte{0xEF, 0x40, 0x18, 0}, 0x9F)
			m.want([]byte{0x17, 0x17}, 0xAB, 0, 0, 0)
			m.want([]byte{0xEF, 0x17, 0xEF}, 0x90, 0, 0, 0)
			m.want([]byte{0x17, 0xEF}, 0x90, 0, 0, 1)
			if a, b := m.spi(8, 0x4B, 0, 0, 0, 0), (master{m.T, spiflash.New(m.Part(), 2)}).spi(8, 0x4B, 0, 0, 0, 0); bytes.Equal(a, b) {
				m.Error("two parts have the same number")
			}
		} else {
			m.want([]byte{0x20, 0xBA, 0x16, 0x10, 0, 0}, 0x9F)
			m.want([]byte{0x20, 0xBA, 0x16}, 0x9E)
			m.want([]byte{0x80}, 0x70)
		}
		m.want([]byte{0xFF, 0xFF}, 0xF1) // the line is undriven
	})
}

// TestSFDP reads the SFDP as a driver does (JESD216): the table, its density, and the erase commands.
func TestSFDP(t *testing.T) {
	each(t, func(m master) {
		b := m.spi(256, 0x5A, 0, 0, 0, 0)
		le := binary.LittleEndian
		if string(b[:4]) != "SFDP" || b[11] != 9 || b[8] != 0 || b[15] != 0xFF {
			m.Fatalf("% x", b[:16])
		}
		table := b[le.Uint32(b[12:])&0xFFFFFF:]
		check.Equal(m, "density", le.Uint32(table[4:]), uint32(m.Part().Size*8-1))
		if table[0]&3 != 1 || table[1] != 0x20 {
			m.Errorf("4 KiB: % x", table[:4])
		}
		for i := range 4 {
			size, op := table[28+2*i], table[29+2*i]
			if size == 0 {
				continue
			}
			n := 1 << size
			for j := range m.Content()[:3*n] {
				m.Content()[j] = 0
			}
			m.write(op, byte(n>>16), byte(n>>8), byte(n))
			if c := m.Content(); c[n-1] != 0 || c[n] != 0xFF || c[2*n-1] != 0xFF || c[2*n] != 0 {
				m.Errorf("%02x does not erase %d bytes", op, n)
			}
		}
	})
}

func TestProgram(t *testing.T) {
	each(t, func(m master) {
		want := map[bool]time.Duration{false: 500 * time.Microsecond, true: 700 * time.Microsecond}[m.winbond()]
		check.Equal(m, "time to program", m.write(0x02, 0, 1, 0xFE, 1, 2, 3, 4), want)
		m.want([]byte{3, 4, 0xFF}, 0x03, 0, 1, 0) // the beginning of the page
		m.want([]byte{1, 2, 0xFF}, 0x03, 0, 1, 0xFE)
		m.want([]byte{1, 2, 0xFF}, 0x0B, 0, 1, 0xFE, 0)
		m.write(0x02, 0, 1, 0xFE, 0xF0, 0x0F)
		m.want([]byte{0, 2}, 0x03, 0, 1, 0xFE) // ones do not come back
		last := byte(m.Part().Size>>16 - 1)
		m.write(0x02, last, 0xFF, 0xFF, 9)
		m.want([]byte{9, 0xFF}, 0x03, last, 0xFF, 0xFF) // after the end is the beginning
		many := append([]byte{0x02, 0, 2, 0}, bytes.Repeat([]byte{7}, 300)...)
		for i := range 256 {
			many[4+44+i] = byte(i)
		}
		m.write(many...)
		if have := m.spi(256, 0x03, 0, 2, 0); have[44] != 0 || have[45] != 1 || have[43] != 255 {
			m.Errorf("300 bytes in a page: % x", have[40:48])
		}
	})
}

func TestRefused(t *testing.T) {
	each(t, func(m master) {
		m.spi(0, 0x02, 0, 0, 0, 0)
		m.spi(0, 0xD8, 0, 0, 0)
		m.spi(0, 0xC7)
		m.spi(0, 0x01, 0xFC)
		m.spi(0, 0x06)
		m.spi(0, 0x02, 0, 0, 0)    // no data
		m.spi(0, 0xD8, 0, 0)       // cut off
		m.spi(0, 0xD8, 0, 0, 0, 0) // too long
		for _, b := range []byte{0x02, 0, 0, 0, 0} {
			for bit := 7; bit >= 0; bit-- {
				m.bit(b>>bit&1 != 0)
			}
		}
		m.bit(true)
		m.Pins(false, false, false) // not at the end of a byte
		m.want([]byte{0x02}, 0x05)
		m.want([]byte{0xFF}, 0x03, 0, 0, 0)
		if have := m.Counts(); have.Refused != 8 || have.Programs+have.Erases != 0 {
			m.Errorf("%+v", have)
		}
		m.spi(0, 0x04)
		m.want([]byte{0x00}, 0x05)
		m.write(0x02, 0, 0, 0, 0)
		m.spi(0, 0x06)
		m.spi(0, 0xD8, 0, 0, 0)
		m.want([]byte{0x03, 0x03}, 0x05)
		m.want([]byte{0xFF}, 0x03, 0, 0, 0) // busy: nothing but the status is there
		m.wait()
		m.want([]byte{0x00}, 0x05) // and write enable is gone
	})
}

func TestProtect(t *testing.T) {
	each(t, func(m master) {
		size := m.Part().Size
		unit := size / 64
		for _, c := range []struct {
			status       byte
			inside, free int // -1: none
		}{
			{0, -1, 0},
			{1 << 2, size - unit, size - unit - 1},
			{3 << 2, size - 4*unit, size - 4*unit - 1},
			{1<<5 | 1<<2, unit - 1, unit},
			{7 << 2, 0, -1},
		} {
			m.write(0x01, c.status)
			m.want([]byte{c.status}, 0x05)
			for at, want := range map[int]byte{c.inside: 0xFF, c.free: 0x5A} {
				if at < 0 {
					continue
				}
				m.Content()[at] = 0xFF
				m.write(0x02, byte(at>>16), byte(at>>8), byte(at), 0x5A)
				check.Equal(m, fmt.Sprintf("status %02x, byte at %#x", c.status, at), m.Content()[at], want)
			}
			if c.inside >= 0 {
				m.write(0xC7)
				if !m.winbond() {
					m.want([]byte{0xB2}, 0x70) // both errors, and that something was protected
					m.spi(0, 0x50)
					m.want([]byte{0x80}, 0x70)
				}
			}
			m.spi(0, 0x04)
		}
		if m.winbond() {
			m.write(0x01, 1<<6|1<<2, 0x40) // all but the last 4 KiB
			m.write(0x02, 0xFF, 0xF0, 0, 0)
			m.write(0x02, 0, 0x20, 0, 0)
			if c := m.Content(); c[0xFFF000] != 0 || c[0x2000] != 0xFF {
				m.Error("inverted protection")
			}
			m.spi(0, 0x50)
			m.spi(0, 0x01, 0, 0)
			m.want([]byte{2}, 0x05) // at once
			m.PowerCycle()
			m.want([]byte{1<<6 | 1<<2}, 0x05)
			m.want([]byte{0x40}, 0x35)
		}
	})
}

func TestPowerDownAndReset(t *testing.T) {
	each(t, func(m master) {
		m.spi(0, 0xB9)
		asleep := m.spi(1, 0x9F)[0] == 0xFF
		check.Equal(m, "asleep", asleep, m.winbond())
		m.spi(0, 0xAB)
		if m.spi(1, 0x9F)[0] == 0xFF {
			m.Error("does not wake")
		}
		m.spi(0, 0x06)
		m.spi(0, 0x99)
		m.want([]byte{2}, 0x05)
		m.spi(0, 0x66)
		m.spi(0, 0x05)
		m.spi(0, 0x99)
		m.want([]byte{2}, 0x05)
		m.spi(0, 0x66)
		m.spi(0, 0x99)
		m.want([]byte{0}, 0x05)
	})
}

// TestPowerLoss interrupts a write: bytes before are written, bytes after are not, and one page between is undefined.
func TestPowerLoss(t *testing.T) {
	each(t, func(m master) {
		r := rand.New(rand.NewPCG(3, 3))
		for range 50 {
			clear(m.Content()[:64<<10])
			m.spi(0, 0x06)
			m.spi(0, 0xD8, 0, 0, 0)
			time.Sleep(time.Duration(r.Int64N(int64(150 * time.Millisecond))))
			m.PowerCycle()
			m.want([]byte{0}, 0x05)
			c := m.Content()[:64<<10]
			ones := len(c) - len(bytes.TrimLeft(c, "\xFF"))
			zeros := len(c) - len(bytes.TrimRight(c, "\x00"))
			if rest := len(c) - ones - zeros; rest > spiflash.Page {
				m.Errorf("%d bytes are neither erased nor old", rest)
			}
		}
		data := append([]byte{0x02, 1, 0, 0}, make([]byte, 256)...)
		m.spi(0, 0x06)
		m.spi(0, data...)
		time.Sleep(250 * time.Microsecond)
		m.PowerCycle()
		c := m.Content()[1<<16:][:256]
		if n := bytes.Count(c, []byte{0}); n < 80 || n > 130 || c[255] != 0xFF {
			m.Errorf("%d bytes of 256 are programmed", n)
		}
	})
}

// TestNonsense drives the pins at random.
func TestNonsense(t *testing.T) {
	each(t, func(m master) {
		r := rand.New(rand.NewPCG(4, 4))
		selected := false
		for range 1 << 19 {
			if v := r.Uint32(); v&0x3F0 == 0 {
				selected = !selected
				time.Sleep(time.Millisecond)
			} else {
				m.Pins(selected, v&1 != 0, v&2 != 0)
			}
		}
	})
}

// TestByte compares transfers by bytes with transfers by pins, for commands of all kinds that end anywhere.
func TestByte(t *testing.T) {
	each(t, func(pins master) {
		bytes := spiflash.New(pins.Part(), 1)
		rng := rand.New(rand.NewPCG(1, 2))
		ops := []byte{0x01, 0x02, 0x02, 0x03, 0x04, 0x05, 0x06, 0x06, 0x06, 0x0B, 0x20, 0x5A, 0x66, 0x99, 0x9F, 0xAB, 0xB9, 0xC7, 0xD8}
		both := func(selected, clock, in bool) {
			high, driven := pins.Pins(selected, clock, in)
			if other, also := bytes.Pins(selected, clock, in); other != high || also != driven {
				t.Errorf("%v, driven %v; by bytes %v and %v", high, driven, other, also)
			}
		}
		for range 5000 {
			both(true, false, false)
			for i := range rng.IntN(12) {
				in, want := byte(rng.Uint32()), byte(0)
				switch i {
				case 0:
					in = ops[rng.IntN(len(ops))]
				case 1, 2, 3:
					in &= 1
				}
				for bit := 7; bit >= 0; bit-- {
					want <<= 1
					if pins.bit(in>>bit&1 != 0) {
						want |= 1
					}
				}
				if have := bytes.Byte(in); have != want {
					t.Fatalf("byte %d is %02x by bytes, and %02x by pins", i, have, want)
				}
				if rng.IntN(50) == 0 {
					both(true, true, true)
					both(true, false, true)
				}
			}
			both(false, false, false)
			time.Sleep(time.Duration(rng.IntN(int(time.Millisecond))))
		}
		if pins.Counts() != bytes.Counts() || !slices.Equal(pins.Content(), bytes.Content()) {
			t.Errorf("%+v; by bytes %+v, or something else is stored", pins.Counts(), bytes.Counts())
		}
		if c := pins.Counts(); c.Programs == 0 || c.Erases == 0 || c.Reads == 0 || c.Refused == 0 {
			t.Errorf("hardly anything was done: %+v", c)
		}
	})
}
