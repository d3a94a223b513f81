package ftdi

import (
	"encoding/binary"
	"time"
)

// Commands of the engine (AN_108). Those below 0x80 shift data, by the bits in shift.go. 0x9E, to drive pins only when they are 0, is for an FT232H.
const (
	setLow         = 0x80
	getLow         = 0x81
	setHigh        = 0x82
	getHigh        = 0x83
	loopbackOn     = 0x84
	loopbackOff    = 0x85
	setDivider     = 0x86
	sendNow        = 0x87
	waitHigh       = 0x88
	waitLow        = 0x89
	divideBy5Off   = 0x8A
	divideBy5On    = 0x8B
	threePhaseOn   = 0x8C
	threePhaseOff  = 0x8D
	clockBits      = 0x8E
	clockBytes     = 0x8F
	clockUntilHigh = 0x94
	clockUntilLow  = 0x95
	adaptiveOn     = 0x96
	adaptiveOff    = 0x97
	clockBytesHigh = 0x9C
	clockBytesLow  = 0x9D
	badCommand     = 0xFA // the answer to one that there is not, which follows it
)

const (
	pinWait   uint16 = 1 << 5
	pinReturn uint16 = 1 << 7 // the clock as it comes back, for adaptive clocking
)

// look is the polling interval of pins that a command waits for.
const look = time.Millisecond

// mpsse is the multi-protocol synchronous serial engine: it carries out commands from the host at the pins. It takes no time for that,
// except where it waits for a pin.
type mpsse struct {
	channel *channel
	loopback, threePhase,
	adaptive, slow bool
	divider uint16
	stopped bool // the clock has not come back, and never will

	shift *shift // that is going on
	// Clocks without data, and waiting.
	clocks int
	until  byte // a command that ends when a pin has a level, 0 for none
	alarm  alarm
}

func newMPSSE(c *channel) *mpsse {
	return &mpsse{channel: c, slow: true, alarm: alarm{ring: c.work}}
}

// operands is how many bytes follow a command, without data.
func operands(op byte) int {
	switch {
	case isShift(op):
		return shiftOperands(op)
	case op == setLow, op == setHigh, op == setDivider, op == clockBytes, op == clockBytesHigh, op == clockBytesLow:
		return 2
	case op == clockBits:
		return 1
	}
	return 0
}

// work carries out what it can.
func (m *mpsse) work() {
	for !m.stopped && m.step() {
	}
}

// step does a part of a command. False means that it has to wait: for bytes, for room, or for a pin.
func (m *mpsse) step() bool {
	c := m.channel
	switch {
	case m.shift != nil:
		return m.shiftOn()
	case m.clocks > 0 || m.until != 0:
		return m.clockOn()
	case len(c.fromHost) == 0 || len(c.fromHost) < 1+operands(c.fromHost[0]) || len(c.toHost)+2 > buffer:
		return false
	}
	op := c.fromHost[0]
	rest := c.fromHost[1:]
	c.fromHost = rest[operands(op):]
	m.command(op, rest)
	return true
}

// command begins a command, or carries it out.
func (m *mpsse) command(op byte, operand []byte) {
	c, p := m.channel, &m.channel.pins
	number := func() int { return int(binary.LittleEndian.Uint16(operand)) }
	switch op {
	case setLow:
		p.value, p.direction = p.value&0xFF00|uint16(operand[0]), p.direction&0xFF00|uint16(operand[1])
		p.drive()
	case setHigh:
		p.value, p.direction = p.value&0xFF|uint16(operand[0])<<8, p.direction&0xFF|uint16(operand[1])<<8
		p.drive()
	case getLow:
		c.toHost = append(c.toHost, byte(p.drive()))
	case getHigh:
		c.toHost = append(c.toHost, byte(p.drive()>>8))
	case loopbackOn, loopbackOff:
		m.loopback = op == loopbackOn
	case setDivider:
		m.divider = uint16(number())
	case divideBy5On, divideBy5Off:
		m.slow = op == divideBy5On
	case threePhaseOn, threePhaseOff:
		m.threePhase = op == threePhaseOn
	case adaptiveOn, adaptiveOff:
		m.adaptive = op == adaptiveOn
	case sendNow:
		c.flush = true
	case waitHigh, waitLow, clockUntilHigh, clockUntilLow:
		m.until = op
	case clockBits:
		m.clocks = int(operand[0]&7) + 1
	case clockBytes:
		m.clocks = 8 * (number() + 1)
	case clockBytesHigh, clockBytesLow:
		m.clocks, m.until = 8*(number()+1), op
	default:
		if isShift(op) {
			m.shift = newShift(op, operand)
			return
		}
		c.toHost = append(c.toHost, badCommand, op)
		c.flush = true
	}
}

// clockOn goes on with clocks without data, and with waiting for a pin.
func (m *mpsse) clockOn() bool {
	const burst = 8 * 64 // clocks between two samples of the pin, for endless commands
	p := &m.channel.pins
	reached := func() bool {
		high := p.drive()&pinWait != 0
		switch m.until {
		case waitHigh, clockUntilHigh, clockBytesHigh:
			return high
		case waitLow, clockUntilLow, clockBytesLow:
			return !high
		}
		return false
	}
	left := m.clocks
	if m.until == clockUntilHigh || m.until == clockUntilLow {
		left = burst
	}
	for left > 0 && !reached() {
		m.edge()
		m.edge()
		left--
	}
	if m.clocks > 0 || reached() {
		m.clocks, m.until = 0, 0
		return true
	}
	m.alarm.in(m.channel.device, look)
	return false
}

// edge turns the clock over.
func (m *mpsse) edge() {
	p := &m.channel.pins
	p.value ^= pinClock
	levels := p.drive()
	if m.adaptive && (levels&pinReturn != 0) != (p.value&pinClock != 0) {
		m.stopped = true
	}
}

// clock is what the engine's clock would be in Hz: 60 MHz or a fifth of it, divided.
func (m *mpsse) clock() float64 {
	base := 60e6
	if m.slow {
		base /= 5
	}
	return base / (2 * (1 + float64(m.divider)))
}
