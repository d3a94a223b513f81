package ftdi

// Commands of the bus host (AN_108, those for the CPU mode). Besides it has sendNow, waitHigh, waitLow, and those for the clock, which have no effect.
const (
	readShort     = 0x90
	readExtended  = 0x91
	writeShort    = 0x92
	writeExtended = 0x93
)

// Pins of channel B that go with the bus (data sheet, MCU host bus emulation).
const (
	busSelect uint16 = 1 << 0 // CS#, low during a cycle
	busLatch  uint16 = 1 << 1 // ALE, falls while the address is valid
	busRead   uint16 = 1 << 2 // RD#
	busWrite  uint16 = 1 << 3 // WR#
	busWait   uint16 = 1 << 7 // I/O1, which can be waited for

	busOutputs = busSelect | busLatch | busRead | busWrite
	busIdle    = busSelect | busRead | busWrite
)

// busHost makes the pins of both channels the bus of an 8051: ADBUS has the address and then the data, ACBUS the upper half of an extended address, and BDBUS
// the strobes. A cycle takes no time, so IORDY cannot extend it. Channel B's serial line does not show the strobes.
type busHost struct {
	channel *channel
	strobes *pins
	levels  uint16 // of them
	until   byte   // waitHigh or waitLow; 0 for none
	alarm   alarm
}

func newBusHost(c *channel) *busHost {
	h := &busHost{channel: c, strobes: &c.other.pins, alarm: alarm{ring: c.work}}
	h.set(busOutputs, busIdle)
	return h
}

// work carries out what it can.
func (h *busHost) work() {
	c := h.channel
	for {
		if h.until != 0 {
			if (h.strobes.drive()&busWait != 0) != (h.until == waitHigh) {
				h.alarm.in(c.device, look)
				return
			}
			h.until = 0
		}
		if len(c.fromHost) == 0 || len(c.toHost)+2 > buffer {
			return
		}
		op, operands := c.fromHost[0], 0
		if op >= readShort && op <= writeExtended {
			operands = [4]int{1, 2, 2, 3}[op-readShort]
		}
		if len(c.fromHost) < 1+operands {
			return
		}
		operand := c.fromHost[1 : 1+operands]
		c.fromHost = c.fromHost[1+operands:]
		h.command(op, operand)
	}
}

func (h *busHost) command(op byte, operand []byte) {
	c := h.channel
	switch op {
	case readShort, readExtended, writeShort, writeExtended:
		if op == readExtended || op == writeExtended {
			c.pins.value, c.pins.direction = uint16(operand[0])<<8, 0xFF00
			operand = operand[1:]
		}
		if b, reads := h.cycle(operand); reads {
			c.toHost = append(c.toHost, b)
		}
	case sendNow:
		c.flush = true
	case waitHigh, waitLow:
		h.until = op
	case setDivider, divideBy5Off, divideBy5On:
	default:
		c.toHost = append(c.toHost, badCommand, op)
		c.flush = true
	}
}

// cycle runs a bus cycle: operand is the lower half of the address and the byte to write; without that byte it reads.
func (h *busHost) cycle(operand []byte) (b byte, reads bool) {
	bus := &h.channel.pins
	h.set(busSelect|busLatch, busLatch)
	h.drive(operand[0])
	h.set(busLatch, 0)
	if reads = len(operand) == 1; reads {
		bus.direction &^= 0xFF
		h.set(busRead, 0)
		b = byte(bus.drive())
		h.set(busRead, busRead)
	} else {
		h.drive(operand[1])
		h.set(busWrite, 0)
		h.set(busWrite, busWrite)
		bus.direction &^= 0xFF
		bus.drive()
	}
	h.set(busSelect, busSelect)
	return b, reads
}

// drive puts a byte on the bus.
func (h *busHost) drive(b byte) {
	bus := &h.channel.pins
	bus.value, bus.direction = bus.value&0xFF00|uint16(b), bus.direction|0xFF
	bus.drive()
}

// set changes some of the strobes.
func (h *busHost) set(which, high uint16) {
	h.levels = h.levels&^which | high
	h.strobes.value, h.strobes.direction = h.levels, busOutputs
	h.strobes.drive()
}
