// Package usbip implements USB/IP, by which a machine uses USB devices of another machine or program: a server that exports devices of package
// usbdev, and a client. The protocol is version 1.1.1, as Documentation/usb/usbip_protocol.rst of Linux has it; its numbers are big-endian.
package usbip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// DefaultPort is the TCP port registered for USB/IP.
const DefaultPort = 3240

const version = 0x0111

// Operations, before a device is imported. A reply has the request's code without the bit.
const (
	opRequest = 0x8000
	opImport  = 0x0003
	opList    = 0x0005
)

// Status codes of replies to operations.
const (
	stOK     = 0
	stBusy   = 2
	stNoDev  = 4
	stError  = 5
	opHeader = 8 // bytes
)

var statusText = map[uint32]string{1: "not available", stBusy: "in use by another client", 3: "in an error state", stNoDev: "no such device", stError: "refused"}

// Commands, after a device is imported.
const (
	cmdSubmit = 1
	cmdUnlink = 2
	retSubmit = 3
	retUnlink = 4

	header = 48 // bytes
)

const (
	deviceSize = 312 // of a device in a reply
	pathSize   = 256
	busIDSize  = 32

	highSpeed = 3
	zeroFlag  = 0x40 // of a submitted transfer: URB_ZERO_PACKET
)

// Results of transfers are Linux's error numbers, whatever system runs this.
const (
	errNoMem    = -12
	errNoDevice = -19
	errPipe     = -32
	errProto    = -71
	errOverflow = -75
	errReset    = -104 // the transfer was unlinked
)

var statuses = map[usbdev.Status]int32{usbdev.OK: 0, usbdev.Stalled: errPipe, usbdev.Overflow: errOverflow, usbdev.Absent: errProto, usbdev.Gone: errNoDevice}

// Errors of a connection.
var (
	// ErrProtocol means that the peer violates the protocol.
	ErrProtocol = errors.New("usbip: protocol error")
	// ErrRefused means that the server refuses the device.
	ErrRefused = errors.New("usbip: refused")
)

func protocolf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// Info describes an exported device.
type Info struct {
	BusID           string // names it in an import
	Bus, Number     uint32
	Vendor, Product uint16
	Release         uint16
	Class           [3]byte
	Config, Configs byte
	Interfaces      [][3]byte // classes; in lists only
	interfaces      int
}

// ID is the device's number in commands.
func (i Info) ID() uint32 { return i.Bus<<16 | i.Number }

func (i Info) append(b []byte) []byte {
	be := binary.BigEndian
	start := len(b)
	b = append(b, make([]byte, pathSize+busIDSize)...)
	copy(b[start:], "/sys/devices/lmmc/"+i.BusID)
	copy(b[start+pathSize:], i.BusID)
	b = be.AppendUint32(b, i.Bus)
	b = be.AppendUint32(b, i.Number)
	b = be.AppendUint32(b, highSpeed)
	for _, v := range []uint16{i.Vendor, i.Product, i.Release} {
		b = be.AppendUint16(b, v)
	}
	b = append(b, i.Class[:]...)
	return append(b, i.Config, i.Configs, byte(i.interfaces))
}

func parseInfo(b []byte) Info {
	be := binary.BigEndian
	i := Info{BusID: text(b[pathSize:][:busIDSize])}
	b = b[pathSize+busIDSize:]
	i.Bus, i.Number = be.Uint32(b), be.Uint32(b[4:]) // and the speed
	i.Vendor, i.Product, i.Release = be.Uint16(b[12:]), be.Uint16(b[14:]), be.Uint16(b[16:])
	i.Class = [3]byte(b[18:21])
	i.Config, i.Configs, i.interfaces = b[21], b[22], int(b[23])
	return i
}

func appendOp(b []byte, code uint16, status uint32) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, version)
	b = be.AppendUint16(b, code)
	return be.AppendUint32(b, status)
}

// command is the header of a command, or of an answer to one.
type command struct {
	code, number, device, direction, endpoint uint32

	flags   uint32 // submit
	status  int32  // answers
	length  int32  // of a submit's data or room, or what an answer has carried
	packets int32  // of an isochronous transfer
	setup   [8]byte
	unlink  uint32 // the number of the transfer to be unlinked
}

func (c command) append(b []byte) []byte {
	be := binary.BigEndian
	end := len(b) + header
	for _, v := range []uint32{c.code, c.number, c.device, c.direction, c.endpoint} {
		b = be.AppendUint32(b, v)
	}
	switch c.code {
	case cmdSubmit:
		for _, v := range []uint32{c.flags, uint32(c.length), 0, uint32(c.packets), 0} {
			b = be.AppendUint32(b, v)
		}
		b = append(b, c.setup[:]...)
	case cmdUnlink:
		b = be.AppendUint32(b, c.unlink)
	case retSubmit:
		for _, v := range []uint32{uint32(c.status), uint32(c.length), 0, uint32(c.packets), 0} {
			b = be.AppendUint32(b, v)
		}
	case retUnlink:
		b = be.AppendUint32(b, uint32(c.status))
	}
	return append(b, make([]byte, end-len(b))...)
}

func parseCommand(b *[header]byte) command {
	be := binary.BigEndian
	word := func(i int) uint32 { return be.Uint32(b[4*i:]) }
	c := command{code: word(0), number: word(1), device: word(2), direction: word(3), endpoint: word(4)}
	switch c.code {
	case cmdSubmit:
		c.flags, c.length, c.packets = word(5), int32(word(6)), int32(word(8))
		c.setup = [8]byte(b[40:])
	case cmdUnlink:
		c.unlink = word(5)
	case retSubmit:
		c.status, c.length, c.packets = int32(word(5)), int32(word(6)), int32(word(8))
	case retUnlink:
		c.status = int32(word(5))
	}
	return c
}

// text returns the bytes before the first zero.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}
