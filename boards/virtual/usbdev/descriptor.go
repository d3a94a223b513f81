package usbdev

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf16"
)

// Types of descriptors.
const (
	deviceType     = 1
	configType     = 2
	stringType     = 3
	interfaceType  = 4
	endpointType   = 5
	qualifierType  = 6
	otherSpeedType = 7
)

const english = 0x0409 // the language of all strings

// Bulk endpoints have packets of these lengths at most.
const (
	HighSpeedPacket = 512
	FullSpeedPacket = 64
)

// Descriptors are those of a high-speed device with one configuration.
type Descriptors struct {
	Device  [18]byte
	Config  []byte   // with its interfaces and endpoints, all of them for bulk transfers
	Strings []string // the first has number 1
}

// Identity holds the values of a device's descriptors.
type Identity struct {
	Vendor, Product, Release uint16
	Strings                  [3]string // manufacturer, product, serial number
	Interfaces               int       // each of a vendor's own class with a pair of endpoints, 1 in, 2 out, 3 in, and so on
	MilliAmps                int       // that it draws
	SelfPowered              bool
	RemoteWakeup             bool // it may wake its host up, which no function here does
}

// Describe makes descriptors. Strings that are empty are left out.
func Describe(id Identity) Descriptors {
	var numbers [3]byte // of the strings
	d := Descriptors{}
	for i, s := range id.Strings {
		if s != "" {
			d.Strings = append(d.Strings, s)
			numbers[i] = byte(len(d.Strings))
		}
	}
	le := binary.LittleEndian
	b := []byte{18, deviceType, 0x00, 0x02, 0, 0, 0, 64}
	b = le.AppendUint16(b, id.Vendor)
	b = le.AppendUint16(b, id.Product)
	b = le.AppendUint16(b, id.Release)
	d.Device = [18]byte(append(b, numbers[0], numbers[1], numbers[2], 1))

	attributes := byte(0x80)
	if id.SelfPowered {
		attributes |= 0x40
	}
	if id.RemoteWakeup {
		attributes |= 0x20
	}
	c := []byte{9, configType, 0, 0, byte(id.Interfaces), 1, 0, attributes, byte(min(id.MilliAmps/2, 255))}
	for i := range byte(id.Interfaces) {
		c = append(c, 9, interfaceType, i, 0, 2, 0xFF, 0xFF, 0xFF, numbers[1])
		for _, address := range []byte{In | (2*i + 1), 2*i + 2} {
			c = append(c, 7, endpointType, address, 2)
			c = append(le.AppendUint16(c, HighSpeedPacket), 0)
		}
	}
	le.PutUint16(c[2:], uint16(len(c)))
	d.Config = c
	return d
}

// endpoints reads those of the configuration.
func (d *Descriptors) endpoints() (all []*endpoint) {
	owner := byte(0)
	for at := 0; at < len(d.Config); at += int(d.Config[at]) {
		b := d.Config[at:]
		if len(b) < 2 || b[0] < 2 || int(b[0]) > len(b) {
			panic(fmt.Sprintf("usbdev: configuration descriptor broken at byte %d", at))
		}
		switch b[1] {
		case interfaceType:
			owner = b[2]
		case endpointType:
			all = append(all, &endpoint{address: b[2], owner: owner, size: int(binary.LittleEndian.Uint16(b[4:]) & 0x7FF)})
		}
	}
	return all
}

// get returns a descriptor, nil if there is none.
func (d *Descriptors) get(kind, index byte) []byte {
	switch {
	case kind == stringType:
		return d.text(int(index))
	case index != 0:
	case kind == deviceType:
		return d.Device[:]
	case kind == configType:
		return d.Config
	case kind == qualifierType: // the device descriptor at the other speed
		q := append([]byte{10, qualifierType}, d.Device[2:8]...)
		return append(q, d.Device[17], 0)
	case kind == otherSpeedType:
		c := slices.Clone(d.Config)
		c[1] = otherSpeedType
		for at := 0; at < len(c); at += int(c[at]) {
			if c[at+1] == endpointType {
				binary.LittleEndian.PutUint16(c[at+4:], FullSpeedPacket)
			}
		}
		return c
	}
	return nil
}

func (d *Descriptors) text(index int) []byte {
	b := []byte{0, stringType}
	switch {
	case index == 0:
		b = binary.LittleEndian.AppendUint16(b, english)
	case index > len(d.Strings):
		return nil
	default:
		for _, unit := range utf16.Encode([]rune(d.Strings[index-1])) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
		b = b[:min(len(b), 254)] // its length is one byte
	}
	b[0] = byte(len(b))
	return b
}
