package i2c

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench/bus"
)

// Device is what a Target does.
type Device interface {
	// Start is called when the device is addressed, for reading or writing, and says whether it acknowledges.
	Start(read bool) bool
	// Write is called with a byte for the device, and says whether it acknowledges.
	Write(v byte) bool
	// Read returns the next byte for the master.
	Read() byte
	// Stop is called at the end.
	Stop()
}

// Target is a device on a bus. Throttled, it stretches the clock.
type Target struct {
	bus.Stall
	bus     *Bus
	address Address
	device  Device
	*end
	next    uint64 // of SDA, in wait clocks
	wait    uint64
	active  bool // addressed, or being so
	begun   bool
	reading bool
	chosen  bool // the address was ours
	half    bool // the high bits of a 10-bit address were ours
	whole   bool // all of them, since the last STOP
	bits    int
	value   byte
	stretch bool
}

// AddTarget puts a device on the bus.
func (i *Bus) AddTarget(address Address, d Device) (*Target, error) {
	if err := address.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", i, err)
	}
	t := &Target{Stall: i.Stalls(), bus: i, address: address, device: d, end: i.join(), next: 1}
	i.targets = append(i.targets, t)
	return t, nil
}

// put drives SDA when its hold time has passed.
func (t *Target) put(v uint64) { t.next, t.wait = v, t.bus.config.Hold }

// restart is in reset, which has let the lines go.
func (t *Target) restart() {
	if t.chosen {
		t.device.Stop()
	}
	*t = Target{Stall: t.Stall, bus: t.bus, address: t.address, device: t.device, end: t.end, next: 1}
}

func (t *Target) step(was, now end, start, stop bool) {
	if t.stretch && !t.Stall.Now() {
		t.stretch, t.scl = false, 1
	}
	if t.wait > 0 {
		if t.wait--; t.wait == 0 {
			t.sda = t.next
		}
	}
	switch {
	case start, stop:
		if t.chosen && (stop || t.begun) {
			t.device.Stop()
		}
		t.begun, t.active, t.chosen, t.reading, t.half, t.bits, t.value = start, start, false, false, false, 0, 0
		t.whole = t.whole && start
		t.sda, t.next, t.wait = 1, 1, 0
	case !t.active:
	case was.scl == 0 && now.scl == 1:
		if t.bits++; t.bits <= 8 {
			t.value = t.value<<1 | byte(now.sda)
		} else if t.reading && t.chosen && now.sda == 1 {
			t.active = false // the master wants no more
		}
	case was.scl == 1 && now.scl == 0:
		t.fall()
	}
}

// fall is at a falling edge of SCL within a transfer.
func (t *Target) fall() {
	if t.Stall.Now() {
		t.stretch, t.scl = true, 0
	}
	switch {
	case t.bits == 8 && !t.chosen:
		if t.active = t.addressed(); t.active {
			t.put(0)
		}
	case t.bits == 8 && t.reading:
		t.put(1)
	case t.bits == 8:
		if t.device.Write(t.value) {
			t.put(0)
		}
	case t.bits == 9:
		t.bits, t.value = 0, 0
		t.put(1)
		if t.reading {
			t.value = t.device.Read()
			t.put(uint64(t.value >> 7))
		}
	case t.reading && t.chosen && t.bits > 0: // what has come moves what is sent to the front
		t.put(uint64(t.value >> 7))
	}
}

// addressed takes a byte of the address, and tells whether the target acknowledges it.
func (t *Target) addressed() bool {
	switch ten := t.address&isTen != 0; {
	case t.half:
		t.whole = t.value == byte(t.address)
	case t.value&^1 != t.address.first(0):
		t.whole = false // another one is addressed
		return false
	case ten && t.value&1 == 0:
		t.half = true
		return true
	default:
		t.reading, t.whole = t.value&1 != 0, t.whole || !ten
	}
	t.chosen = t.whole && t.device.Start(t.reading)
	return t.chosen
}

// EEPROM is a Device that keeps an address, which the first bytes of a write set and each byte moves on.
type EEPROM struct {
	// Target is what it holds; what it refuses is not acknowledged, or read as 0xFF.
	Target bus.Target
	// AddressBytes is how many bytes an address has; 0 means 1.
	AddressBytes int

	address uint64
	left    int // bytes of the address to come
}

// Start implements Device.
func (e *EEPROM) Start(read bool) bool {
	if !read {
		e.left = max(1, e.AddressBytes)
	}
	return true
}

// Write implements Device.
func (e *EEPROM) Write(v byte) bool {
	if e.left > 0 {
		if e.left == max(1, e.AddressBytes) {
			e.address = 0
		}
		e.left--
		e.address = e.address<<8 | uint64(v)
		return true
	}
	e.address++
	return e.Target.WriteLanes(e.address-1, []byte{v}, 1) == nil
}

// Read implements Device.
func (e *EEPROM) Read() byte {
	v := []byte{0xFF}
	if e.Target.Read(e.address, v) != nil {
		v[0] = 0xFF
	}
	e.address++
	return v[0]
}

// Stop implements Device.
func (e *EEPROM) Stop() {}
