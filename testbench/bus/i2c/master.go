package i2c

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// How a transfer of a Master ends that was not carried out.
var (
	ErrNack        = errors.New("i2c: not acknowledged")
	ErrArbitration = errors.New("i2c: arbitration lost")
)

// Master is a master on a bus, beside the design and other masters.
type Master struct {
	bus *Bus
	*end
	resets uint64 // of the bus, when the transfer began
}

// NewMaster puts a master on the bus.
func (i *Bus) NewMaster() *Master { return &Master{bus: i, end: i.join()} }

// Address is the address of a device: 7 bits, without the bit for reading, or 10 bits by Ten.
type Address uint16

const isTen Address = 1 << 15

// Ten is an address of 10 bits.
func Ten(address uint16) Address { return isTen | Address(address) }

func (a Address) String() string {
	if a&isTen != 0 {
		return fmt.Sprintf("%#x (10 bits)", uint16(a&^isTen))
	}
	return fmt.Sprintf("%#x", uint16(a))
}

func (a Address) check() error {
	switch {
	case a&isTen != 0 && a&^isTen > 0x3FF:
		return fmt.Errorf("address %s: want 10 bits", a)
	case a&isTen == 0 && a > 0x7F:
		return fmt.Errorf("address %s: want 7 bits, without the bit for reading, or i2c.Ten(%#x)", a, uint16(a))
	}
	return nil
}

// first is the byte after a START.
func (a Address) first(read byte) byte {
	if a&isTen != 0 {
		return tenBits | byte(a>>8&3)<<1 | read
	}
	return byte(a)<<1 | read
}

// Write writes bytes to a device. The error wraps ErrNack, and says which byte, ErrArbitration, or bus.ErrReset.
func (m *Master) Write(c *testbench.Task, address Address, data ...byte) error {
	_, err := m.Transfer(c, address, data, 0)
	return err
}

// Read reads n bytes from a device.
func (m *Master) Read(c *testbench.Task, address Address, n int) ([]byte, error) {
	return m.Transfer(c, address, nil, n)
}

// Transfer writes bytes and then reads n after a repeated START. Without bytes to write it reads at once; without either it only addresses the device.
func (m *Master) Transfer(c *testbench.Task, address Address, out []byte, n int) ([]byte, error) {
	if err := address.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", m.bus, err)
	}
	m.free(c)
	m.resets = m.bus.resets
	over := false
	defer func() {
		if m.scl, m.sda = 1, 1; !over { // it is given up, and nobody else sends a STOP
			m.bus.begun = false
		}
	}()
	in, err := m.transfer(c, address, out, n)
	over = true
	return in, err
}

func (m *Master) transfer(c *testbench.Task, address Address, out []byte, n int) ([]byte, error) {
	if len(out) > 0 || n == 0 || address&isTen != 0 {
		if err := m.open(c, address, 0, out); err != nil {
			return nil, err
		}
	}
	var in []byte
	if n > 0 {
		if err := m.open(c, address, 1, nil); err != nil {
			return nil, err
		}
	}
	for k := range n {
		var v byte
		for range 8 {
			bit, err := m.bit(c, 1, false)
			if err != nil {
				return nil, err
			}
			v = v<<1 | byte(bit)
		}
		ack := uint64(0)
		if k == n-1 {
			ack = 1
		}
		if _, err := m.bit(c, ack, true); err != nil {
			return nil, err
		}
		in = append(in, v)
	}
	m.stop(c)
	return in, nil
}

// open begins with a START and sends bytes. When one is not acknowledged it ends with a STOP.
func (m *Master) open(c *testbench.Task, address Address, read byte, data []byte) error {
	m.start(c)
	bytes := []byte{address.first(read)}
	if address&isTen != 0 && read == 0 {
		bytes = append(bytes, byte(address))
	}
	of := len(bytes)
	for k, v := range append(bytes, data...) {
		for bit := range 8 {
			if _, err := m.bit(c, uint64(v>>(7-bit)&1), true); err != nil {
				return err
			}
		}
		nack, err := m.bit(c, 1, false)
		if err != nil {
			return err
		}
		if nack != 0 {
			m.stop(c)
			if k < of {
				return fmt.Errorf("%w: address %s", ErrNack, address)
			}
			return fmt.Errorf("%w: byte %d, %#x, of %d to address %s", ErrNack, k-of+1, v, len(data), address)
		}
	}
	return nil
}

func (m *Master) quarter(c *testbench.Task, n uint64) { m.bus.Wait(c, n*m.bus.config.Quarter) }

// free waits until no other master has used the bus for as long as a bit takes.
func (m *Master) free(c *testbench.Task) {
	idle := func() bool { return !m.bus.InReset() && !m.bus.begun && m.bus.line == end{1, 1} }
	for quiet := uint64(0); quiet < 4*m.bus.config.Quarter; quiet++ {
		if !idle() {
			c.Until(idle, 0)
			quiet = 0
		}
		m.bus.Wait(c, 1)
	}
}

// start makes a START: at once on a bus that is free, or a repeated one.
func (m *Master) start(c *testbench.Task) {
	if m.scl == 0 {
		m.sda = 1
		m.quarter(c, 1)
		m.high(c)
	}
	m.sda = 0
	m.quarter(c, 2)
	m.scl = 0
	m.quarter(c, 1)
}

func (m *Master) stop(c *testbench.Task) {
	m.sda = 0
	m.quarter(c, 1)
	m.high(c)
	m.sda = 1
	m.quarter(c, 2)
}

// high lets SCL go, waits while somebody stretches it, and half its high time, unless another master ends that.
func (m *Master) high(c *testbench.Task) {
	m.scl = 1
	m.bus.Wait(c, 1)
	c.Until(func() bool { return m.bus.line.scl == 1 }, 0)
	m.stay(c)
}

// stay waits a quarter, or less if another master pulls SCL.
func (m *Master) stay(c *testbench.Task) {
	for range m.bus.config.Quarter {
		if m.bus.line.scl == 0 {
			return
		}
		m.bus.Wait(c, 1)
	}
}

// bit sends a bit, which the others must not overrule if it is ours, and returns what the line was.
func (m *Master) bit(c *testbench.Task, v uint64, ours bool) (uint64, error) {
	m.sda = v
	m.quarter(c, 1)
	m.high(c)
	got := m.bus.line.sda
	if m.resets != m.bus.resets {
		return 0, fmt.Errorf("i2c: %w", bus.ErrReset)
	}
	if ours && got != v {
		m.scl, m.sda = 1, 1
		return 0, fmt.Errorf("%w: somebody pulls SDA", ErrArbitration)
	}
	m.stay(c)
	m.scl = 0
	m.quarter(c, 1)
	return got, nil
}
