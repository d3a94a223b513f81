package ftdi

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// eepromWords is the size of a 93C56. Addresses beyond it are the same words again.
const eepromWords = 128

// EEPROM is the memory beside the chip that holds the board's identity. The chip reads it when it is plugged in. Its format is
// what FTDI's and others' tools (ftdi_eeprom) read and write.
type EEPROM [eepromWords]uint16

// Places in an EEPROM, in bytes.
const (
	atProduct    = 4
	atVendor     = 2
	atRelease    = 6
	atAttributes = 8
	atCurrent    = 9  // in 2 mA
	atPins       = 12 // drive strength of the four groups of pins
	atStrings    = 14 // offset and length of manufacturer, product, serial number
	atMemory     = 24 // which EEPROM it is
	firstString  = 0x9A
)

const (
	release     = 0x0700 // of FT2232H
	virtualPort = 8      // in the first two bytes: the system's serial driver is to have the channel
	fifo        = 1      // in them: the channel is a FIFO while it is no engine, and not a serial port that drives its pins
	memory93C56 = 0x56
	useSerial   = 8 // in the byte at 10
	flagsAt     = 10

	attributeSelf   = 0x40 // it has power of its own
	attributeWakeup = 0x20
)

// NewEEPROM returns a programmed EEPROM. Manufacturer, product and serial number have 48 characters together at most.
func NewEEPROM(id usbdev.Identity) (*EEPROM, error) {
	b := make([]byte, 2*eepromWords)
	le := binary.LittleEndian
	b[0], b[1] = virtualPort|fifo, virtualPort
	le.PutUint16(b[atVendor:], id.Vendor)
	le.PutUint16(b[atProduct:], id.Product)
	le.PutUint16(b[atRelease:], release)
	b[atAttributes] = 0x80
	if id.SelfPowered {
		b[atAttributes] |= attributeSelf
	}
	if id.RemoteWakeup {
		b[atAttributes] |= attributeWakeup
	}
	b[atCurrent] = byte(min(id.MilliAmps/2, 250))
	b[atMemory] = memory93C56
	at := firstString
	for i, s := range id.Strings {
		units := utf16.Encode([]rune(s))
		size := 2 + 2*len(units)
		if at+size > 2*eepromWords-2 {
			return nil, fmt.Errorf("ftdi: %q does not fit the EEPROM with what is before it", s)
		}
		b[atStrings+2*i], b[atStrings+2*i+1] = byte(at), byte(size)
		b[at], b[at+1] = byte(size), 3
		for j, u := range units {
			le.PutUint16(b[at+2+2*j:], u)
		}
		at += size
	}
	if id.Strings[2] != "" {
		b[flagsAt] |= useSerial
	}
	e := &EEPROM{}
	for i := range e {
		e[i] = le.Uint16(b[2*i:])
	}
	e[eepromWords-1] = e.checksum()
	return e, nil
}

func (e *EEPROM) checksum() uint16 {
	sum := uint16(0xAAAA)
	for _, w := range e[:eepromWords-1] {
		sum ^= w
		sum = sum<<1 | sum>>15
	}
	return sum
}

// Valid reports whether the checksum is right. If not, the chip has its default identity.
func (e *EEPROM) Valid() bool { return e[eepromWords-1] == e.checksum() }

// Identity is the identity of a chip with this EEPROM.
func (e *EEPROM) Identity() usbdev.Identity {
	id := usbdev.Identity{Vendor: Vendor, Product: Product, Release: release, Interfaces: 2, MilliAmps: 90, Strings: [3]string{"FTDI", "Dual RS232-HS"}}
	if !e.Valid() {
		return id
	}
	b := e.bytes()
	le := binary.LittleEndian
	id.Vendor, id.Product = le.Uint16(b[atVendor:]), le.Uint16(b[atProduct:])
	id.SelfPowered, id.RemoteWakeup, id.MilliAmps = b[atAttributes]&attributeSelf != 0, b[atAttributes]&attributeWakeup != 0, 2*int(b[atCurrent])
	for i := range id.Strings {
		id.Strings[i] = e.text(int(b[atStrings+2*i]), int(b[atStrings+2*i+1]))
	}
	if b[flagsAt]&useSerial == 0 {
		id.Strings[2] = ""
	}
	return id
}

func (e *EEPROM) bytes() []byte {
	var b []byte
	for _, w := range e {
		b = binary.LittleEndian.AppendUint16(b, w)
	}
	return b
}

// text reads a string descriptor. What is beyond the end is the beginning again.
func (e *EEPROM) text(at, size int) string {
	b := e.bytes()
	var units []uint16
	for i := 2; i+1 < size; i += 2 {
		low, high := b[(at+i)%len(b)], b[(at+i+1)%len(b)]
		units = append(units, uint16(low)|uint16(high)<<8)
	}
	return string(utf16.Decode(units))
}
