package ftdi

import "encoding/binary"

// Bits of a command to shift (AN_108, 3.2).
const (
	writeFalling = 1 << 0 // data goes out with the falling edge of the clock
	countBits    = 1 << 1 // up to eight, instead of bytes
	readFalling  = 1 << 2
	leastFirst   = 1 << 3
	writeData    = 1 << 4
	readData     = 1 << 5
	writeMode    = 1 << 6 // to TMS; data is what bit 7 says
)

// Pins that the engine uses.
const (
	pinClock   uint16 = 1 << 0
	pinDataOut uint16 = 1 << 1
	pinDataIn  uint16 = 1 << 2
	pinMode    uint16 = 1 << 3
)

// shift is a command to shift that is being carried out.
type shift struct {
	op   byte
	left int // bytes
	bits int // of each
}

// isShift says whether there is such a command. Those to TMS are always by bits, the least significant one first.
func isShift(op byte) bool {
	if op >= 0x80 {
		return false
	}
	if op&writeMode != 0 {
		return op&(countBits|leastFirst|writeData) == countBits|leastFirst
	}
	return op&(writeData|readData) != 0
}

func shiftOperands(op byte) int {
	if op&countBits != 0 {
		return 1
	}
	return 2
}

func newShift(op byte, operand []byte) *shift {
	if op&countBits != 0 {
		return &shift{op: op, left: 1, bits: int(operand[0]&7) + 1}
	}
	return &shift{op: op, left: int(binary.LittleEndian.Uint16(operand)) + 1, bits: 8}
}

// shiftOn shifts the next byte.
func (m *mpsse) shiftOn() bool {
	c, s := m.channel, m.shift
	if s.left == 0 {
		m.shift = nil
		return true
	}
	var out byte
	if s.op&(writeData|writeMode) != 0 {
		if len(c.fromHost) == 0 {
			return false
		}
		out = c.fromHost[0]
	}
	if s.op&readData != 0 && len(c.toHost) == buffer {
		return false
	}
	if s.op&(writeData|writeMode) != 0 {
		c.fromHost = c.fromHost[1:]
	}
	in := m.shiftByte(s, out)
	if m.stopped {
		return false
	}
	s.left--
	if s.op&readData != 0 {
		c.toHost = append(c.toHost, in)
	}
	return true
}

// shiftByte shifts the bits of a byte and returns those that came: at the bottom, or at the top if the least significant one comes first.
func (m *mpsse) shiftByte(s *shift, out byte) (in byte) {
	if in, ok := m.shiftAtOnce(s, out); ok {
		return in
	}
	p := &m.channel.pins
	pin := pinDataOut
	if s.op&writeMode != 0 {
		pin = pinMode
		p.set(pinDataOut, out&0x80 != 0)
	}
	for i := range s.bits {
		bit := out >> (7 - i) & 1
		if s.op&leastFirst != 0 {
			bit = out >> i & 1
		}
		b := m.shiftBit(s.op, pin, bit != 0)
		switch {
		case m.stopped:
			return 0
		case s.op&leastFirst != 0:
			in = in>>1 | b<<7
		default:
			in = in<<1 | b
		}
	}
	return in
}

// shiftAtOnce shifts a whole byte as flashes take it, if it is to be shifted so and what the pins are wired to can.
func (m *mpsse) shiftAtOnce(s *shift, out byte) (in byte, ok bool) {
	p := &m.channel.pins
	w, able := p.wired.(Shifter)
	writes := s.op&writeData != 0
	switch {
	case !able, s.bits != 8, s.op&(countBits|leastFirst|readFalling|writeMode) != 0, writes && s.op&writeFalling == 0:
		return 0, false
	case m.loopback, m.threePhase, m.adaptive, p.value&pinClock != 0, p.direction&(pinClock|pinDataOut|pinDataIn) != pinClock|pinDataOut:
		return 0, false
	}
	if !writes {
		out = 0
		if p.value&pinDataOut != 0 {
			out = 0xFF
		}
	}
	in = w.Shift(p.value, p.direction, out)
	p.value &^= pinDataOut
	if out&1 != 0 {
		p.value |= pinDataOut
	}
	return in, true
}

// shiftBit is one clock: two edges. Data is taken just before its edge. It is put out just after its own, or before the clock begins if
// that edge has been the last one.
func (m *mpsse) shiftBit(op byte, pin uint16, out bool) (in byte) {
	p := &m.channel.pins
	firstFalls := p.value&pinClock != 0
	writes := op&(writeData|writeMode) != 0
	put := func() {
		if writes {
			p.set(pin, out)
		}
	}
	writeFirst := (op&writeFalling != 0) == firstFalls && !m.threePhase
	readFirst := (op&readFalling != 0) == firstFalls
	if !writeFirst {
		put()
	}
	if readFirst {
		in = m.sample()
	}
	m.edge()
	if writeFirst {
		put()
	}
	if !readFirst {
		in = m.sample()
	}
	m.edge()
	return in
}

func (m *mpsse) sample() byte {
	p := &m.channel.pins
	levels, pin := p.drive(), pinDataIn
	if m.loopback {
		levels, pin = p.value, pinDataOut
	}
	if levels&pin != 0 {
		return 1
	}
	return 0
}

func (p *pins) set(pin uint16, high bool) {
	if high != (p.value&pin != 0) {
		p.value ^= pin
		p.drive()
	}
}
