// Package cpu tests a small RISC-V core: a memory that is a task in Go, programs assembled in Go, and random programs whose every store is
// compared with an interpreter in Go.
package cpu

// The instructions of the core, assembled. Registers are numbers, immediates and distances are signed.

func lui(rd int, imm uint32) uint32    { return imm<<12 | uint32(rd)<<7 | 0x37 }
func imm(k, rd, rs, imm int) uint32    { return uint32(imm)<<20 | uint32(rs<<15|k<<12|rd<<7|0x13) }
func op(f, k, rd, rs, rt int) uint32   { return uint32(f<<25 | rt<<20 | rs<<15 | k<<12 | rd<<7 | 0x33) }
func addi(rd, rs, value int) uint32    { return imm(0, rd, rs, value) }
func add(rd, rs, rt int) uint32        { return op(0, 0, rd, rs, rt) }
func lw(rd, rs, distance int) uint32   { return uint32(distance)<<20 | uint32(rs<<15|2<<12|rd<<7|0x03) }
func jalr(rd, rs, distance int) uint32 { return uint32(distance)<<20 | uint32(rs<<15|rd<<7|0x67) }

func sw(rs, rt, distance int) uint32 {
	d := uint32(distance)
	return d>>5<<25 | uint32(rt<<20|rs<<15|2<<12) | d&31<<7 | 0x23
}

// branch is BEQ with k 0, and BNE with 1.
func branch(k, rs, rt, distance int) uint32 {
	d := uint32(distance)
	return d>>12<<31 | d>>5&63<<25 | uint32(rt<<20|rs<<15|k<<12) | d>>1&15<<8 | d>>11&1<<7 | 0x63
}

func jal(rd, distance int) uint32 {
	d := uint32(distance)
	return d>>20<<31 | d>>1&0x3FF<<21 | d>>11&1<<20 | d>>12&0xFF<<12 | uint32(rd)<<7 | 0x6F
}

const ebreak = 0x00100073

// store is a write to memory.
type store struct{ addr, value uint32 }

// machine is the reference: it carries out instructions one after the other.
type machine struct {
	pc     uint32
	x      [32]uint32
	memory map[uint32]uint32 // by word address in bytes
	stores []store
}

// step carries out an instruction, and reports whether there was one that the core knows.
func (m *machine) step() bool {
	i := m.memory[m.pc]
	k, f, rd, next := i>>12&7, i>>25, i>>7&31, m.pc+4
	a, b, signed := m.x[i>>15&31], m.x[i>>20&31], uint32(int32(i)>>20)
	set := func(v uint32) {
		if rd != 0 {
			m.x[rd] = v
		}
	}
	switch i & 0x7F {
	case 0x37:
		set(i >> 12 << 12)
	case 0x13, 0x33:
		second, minus := signed, false
		if i&0x7F == 0x33 {
			second, minus = b, f == 0x20
			if f != 0 && (!minus || k != 0) {
				return false
			}
		}
		switch k {
		case 0:
			if minus {
				second = -second
			}
			set(a + second)
		case 4:
			set(a ^ second)
		case 6:
			set(a | second)
		case 7:
			set(a & second)
		default:
			return false
		}
	case 0x03:
		if k != 2 {
			return false
		}
		set(m.memory[a+signed])
	case 0x23:
		if k != 2 {
			return false
		}
		s := store{a + (signed&^31 | i>>7&31), b}
		m.memory[s.addr] = s.value
		m.stores = append(m.stores, s)
	case 0x63:
		if k > 1 {
			return false
		}
		if (a == b) == (k == 0) {
			next = m.pc + (uint32(int32(i)>>31)<<12 | i>>7&1<<11 | i>>25&63<<5 | i>>8&15<<1)
		}
	case 0x6F:
		set(next)
		next = m.pc + (uint32(int32(i)>>31)<<20 | i>>12&0xFF<<12 | i>>20&1<<11 | i>>21&0x3FF<<1)
	case 0x67:
		if k != 0 {
			return false
		}
		set(next)
		next = (a + signed) &^ 1
	default:
		return false
	}
	m.pc = next
	return true
}
