// Package ftdi models an FT2232H, FTDI's bridge chip with high-speed USB and two channels, as a function for package usbdev. It
// follows the chip's data sheet, FTDI's application notes AN_108 (the commands of its synchronous engine) and AN_120 (rates), and, for the
// requests, which FTDI does not publish, what the drivers of Linux and of libftdi expect.
package ftdi

import (
	"encoding/binary"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
)

// The identity of a chip with an empty EEPROM.
const (
	Vendor  = 0x0403
	Product = 0x6010
)

// Channels of the chip.
const (
	A = iota
	B
	channels
)

// Requests, all of them with the channel, from 1, in the low byte of the index; 0 is the first too.
const (
	requestReset       = 0x00
	requestModem       = 0x01
	requestFlow        = 0x02
	requestBaud        = 0x03
	requestData        = 0x04
	requestStatus      = 0x05
	requestEvent       = 0x06
	requestError       = 0x07
	requestLatency     = 0x09
	requestGetLatency  = 0x0A
	requestBitMode     = 0x0B
	requestPins        = 0x0C // their levels
	requestReadEEPROM  = 0x90
	requestWriteEEPROM = 0x91
	requestEraseEEPROM = 0x92
)

// Values of requestReset.
const (
	resetAll     = 0
	purgeOutput  = 1 // what the host has sent
	purgeInput   = 2 // what the host has not read
	emptyEEPROM  = 0xFFFF
	eventEnabled = 1 << 8
	lineBreak    = 1 << 14 // of requestData
)

// Chip is an FT2232H. It is used by its Device and by UART.
type Chip struct {
	eeprom   *EEPROM
	device   *usbdev.Device
	channels [channels]*channel
}

// New returns a chip with an EEPROM, which requests of the host may change.
func New(eeprom *EEPROM) *Chip {
	c := &Chip{eeprom: eeprom}
	c.device = usbdev.New(function{c})
	for i := range c.channels {
		c.channels[i] = newChannel(c.device)
	}
	c.channels[A].other = c.channels[B]
	return c
}

// Device is the chip's USB device.
func (c *Chip) Device() *usbdev.Device { return c.device }

// Clock is the clock of a channel's engine in Hz; 0 while it has none. The model itself takes no time.
func (c *Chip) Clock(channel int) (hertz float64) {
	c.device.Do(func() {
		if m, ok := c.channels[channel].engine.(*mpsse); ok {
			hertz = m.clock()
		}
	})
	return hertz
}

// function is the chip as its device sees it.
type function struct{ chip *Chip }

// Describe reads the EEPROM.
func (f function) Describe() usbdev.Descriptors { return usbdev.Describe(f.chip.eeprom.Identity()) }

// Reset makes the channels serial ports with empty buffers.
func (f function) Reset() {
	for _, c := range f.chip.channels {
		c.powerUp()
	}
}

// Packet implements usbdev.Function: channel A has endpoints 1 and 2, channel B 3 and 4.
func (f function) Packet(endpoint byte, max int) ([]byte, bool) {
	return f.chip.channels[endpoint&^usbdev.In>>1].packet(max)
}

// Take implements usbdev.Function.
func (f function) Take(endpoint byte, packet []byte) bool {
	return f.chip.channels[endpoint>>1-1].take(packet)
}

// Control implements usbdev.Function.
func (f function) Control(s usbdev.Setup, _ []byte) (answer []byte, ok bool) {
	chip := f.chip
	index := max(int(s.Index&0xFF), 1) - 1
	if s.Type&0x60 != usbdev.Vendor {
		return nil, false
	}
	if s.Type&usbdev.In != 0 {
		if s.Request == requestReadEEPROM {
			return binary.LittleEndian.AppendUint16(nil, chip.eeprom[s.Index%eepromWords]), true
		}
		if index >= channels {
			return nil, false
		}
		return chip.channels[index].answer(s.Request)
	}
	switch s.Request {
	case requestWriteEEPROM:
		chip.eeprom[s.Index%eepromWords] = s.Value
		return nil, true
	case requestEraseEEPROM:
		for i := range chip.eeprom {
			chip.eeprom[i] = emptyEEPROM
		}
		return nil, true
	}
	if index >= channels {
		return nil, false
	}
	return nil, chip.channels[index].request(s)
}

// answer answers a request that reads a channel's state.
func (c *channel) answer(request byte) ([]byte, bool) {
	switch request {
	case requestStatus:
		return c.status(), true
	case requestGetLatency:
		return []byte{c.latency}, true
	case requestPins:
		return []byte{byte(c.pins.drive())}, true
	}
	return nil, false
}

// request carries out a request to a channel.
func (c *channel) request(s usbdev.Setup) bool {
	switch low := byte(s.Value); s.Request {
	case requestReset:
		switch s.Value {
		case resetAll:
			c.reset()
		case purgeOutput:
			c.purgeOutput()
		case purgeInput:
			c.toHost = nil
		default:
			return false
		}
	case requestModem:
		mask := byte(s.Value >> 8)
		c.flow.modem = c.flow.modem&^mask | low&mask&(modemDTR|modemRTS)
	case requestFlow:
		c.flow.set(byte(s.Index>>8), low, byte(s.Value>>8))
		signal(c.input) // it may go on
	case requestBaud:
		c.rate = rate(s.Value, s.Index)
	case requestData:
		c.format = s.Value
		signal(c.input) // after a break
	case requestEvent:
		c.event = s.Value
	case requestError: // would replace bytes with a parity error; the model passes them on and sets the status
	case requestLatency:
		if low == 0 {
			return false
		}
		c.latency = low
	case requestBitMode:
		return c.setMode(byte(s.Value>>8), low)
	default:
		return false
	}
	return true
}

// rate is what a divider stands for, in bits a second (AN_120): 14 bits and three of a fraction, of 3 MHz, or of 12 if bit 9 of the index is set.
func rate(value, index uint16) float64 {
	eighths := [8]float64{0, 4, 2, 1, 3, 5, 6, 7}[value>>14|index>>8&1<<2]
	clock := 3e6
	if index&(1<<9) != 0 {
		clock = 12e6
	}
	switch whole := float64(value & (1<<14 - 1)); {
	case whole == 0:
		return clock
	case whole == 1:
		return clock / 1.5
	default:
		return clock / (whole + eighths/8)
	}
}
