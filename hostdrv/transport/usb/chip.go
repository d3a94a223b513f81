package usb

import "fmt"

// chip is a kind of bridge chip.
type chip struct {
	name     string
	channels int
	clock    int  // its highest rate, in bits a second, of which all others are fractions
	shared   bool // the request for a rate has the channel's number in the low byte of its index
}

// chips are known by the release number in the device's descriptor, which FTDI fixed for each.
var chips = map[uint16]chip{
	0x0500: {"FT2232D", 2, 3_000_000, true},
	0x0600: {"FT232R", 1, 3_000_000, false},
	0x0700: {"FT2232H", 2, 12_000_000, true},
	0x0800: {"FT4232H", 4, 12_000_000, true},
	0x0900: {"FT232H", 1, 12_000_000, true},
	0x1000: {"FT230X", 1, 3_000_000, false},
	0x2800: {"FT2233HP", 2, 12_000_000, true},
	0x2900: {"FT4233HP", 4, 12_000_000, true},
	0x3000: {"FT2232HP", 2, 12_000_000, true},
	0x3100: {"FT4232HP", 4, 12_000_000, true},
	0x3200: {"FT233HP", 1, 12_000_000, true},
	0x3300: {"FT232HP", 1, 12_000_000, true},
	0x3600: {"FT4232HA", 4, 12_000_000, true},
}

// Requests to a chip, all of them with the channel, from 1, in the index.
const (
	requestReset   = 0x00
	requestFlow    = 0x02
	requestBaud    = 0x03
	requestData    = 0x04
	requestLatency = 0x09
	requestBitMode = 0x0B
)

const (
	resetAll     = 0 // values of requestReset
	purgeOut     = 1
	purgeIn      = 2
	eightBits    = 8 // no parity, one stop bit
	latency      = 1 // ms after which the chip sends what it has
	statusBytes  = 2 // modem and line status, at the start of every packet from the chip
	fastDivider  = 1 << 17
	maxDivider   = 1<<14 - 1
	eighthsShift = 14
)

// eighths is how the chips encode a divider's fraction in three bits.
var eighths = [8]uint32{0, 3, 2, 4, 1, 5, 6, 7}

// divider returns what a chip divides its clock by for the rate that is nearest to baud, as requestBaud has it, and that rate. Between 1
// and 2 there is only 1.5 (FTDI, application note AN_120).
func (c chip) divider(baud int) (encoded uint32, rate float64) {
	eighth := min((2*8*c.clock/baud+1)/2, 8*maxDivider+7)
	switch {
	case eighth < 10:
		eighth, encoded = 8, 0
	case eighth < 14:
		eighth, encoded = 12, 1
	default:
		eighth = max(eighth, 16)
		encoded = uint32(eighth/8) | eighths[eighth%8]<<eighthsShift
	}
	if c.clock > 3_000_000 {
		encoded |= fastDivider
	}
	return encoded, 8 * float64(c.clock) / float64(eighth)
}

// setUp makes a channel an asynchronous serial port, whatever it was before, with nothing in its buffers.
func (c chip) setUp(d device, channel, baud int) (rate float64, err error) {
	divider, rate := c.divider(baud)
	if want := float64(baud); rate < want*0.98 || rate > want*1.02 {
		return 0, fmt.Errorf("%w: want %d, the nearest rate of %s is %.0f", ErrBaud, baud, c.name, rate)
	}
	port := uint16(channel + 1)
	rateIndex := uint16(divider >> 16)
	if c.shared {
		rateIndex = rateIndex<<8 | port
	}
	for _, r := range []struct {
		what         string
		request      uint8
		value, index uint16
	}{
		{"reset", requestReset, resetAll, port},
		{"mode", requestBitMode, 0, port},
		{"rate", requestBaud, uint16(divider), rateIndex},
		{"format", requestData, eightBits, port},
		{"flow control", requestFlow, 0, port},
		{"latency timer", requestLatency, latency, port},
		{"emptying to the board", requestReset, purgeOut, port},
		{"emptying to the host", requestReset, purgeIn, port},
	} {
		if err := d.control(r.request, r.value, r.index); err != nil {
			return 0, fmt.Errorf("usb: interface %c, setting up %s: %w", 'A'+channel, r.what, err)
		}
	}
	return rate, nil
}

// strip takes the status out of what a transfer brought, in its place. A packet too short for a status holds nothing.
func strip(b []byte, packet int) []byte {
	out := b[:0]
	for at := 0; at+statusBytes < len(b); at += packet {
		out = append(out, b[at+statusBytes:min(at+packet, len(b))]...)
	}
	return out
}
