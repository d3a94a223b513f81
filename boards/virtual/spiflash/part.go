package spiflash

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// Part is a type of flash.
type Part struct {
	Name string
	Size int // bytes

	jedec       [3]byte // maker, type, capacity
	extended    []byte  // what follows it
	half        bool    // erases 32 KiB too
	winbond     bool
	statusBytes int     // that the command to write the status takes
	statusMasks [3]byte // bits of the status registers that can be written

	// Typical times, of which the data sheets have maxima too.
	program, writeStatus, eraseSmall, eraseHalf, eraseLarge, eraseAll time.Duration
}

// Parts are the types on the boards.
var (
	// N25Q032A is Micron's, on the iCE40-HX8K breakout board (data sheet n25q_32mb_3v_65nm). It has no power-down. The bytes that follow its identity
	// are those of one such part.
	N25Q032A = Part{
		Name: "N25Q032A", Size: 4 << 20,
		jedec:       [3]byte{0x20, 0xBA, 0x16},
		extended:    []byte{0x10, 0x00, 0x00, 0x23, 0x81, 0x28, 0x24, 0x07, 0x00, 0x30, 0x00, 0x38, 0x07, 0x10, 0x14, 0x13, 0xD5},
		statusBytes: 1, statusMasks: [3]byte{0xBC},
		program: 500 * time.Microsecond, writeStatus: 1300 * time.Microsecond,
		eraseSmall: 250 * time.Millisecond, eraseLarge: 700 * time.Millisecond, eraseAll: 30 * time.Second,
	}
	// W25Q128JV is Winbond's, on the iCEBreaker (data sheet W25Q128JV, revision F).
	W25Q128JV = Part{
		Name: "W25Q128JV", Size: 16 << 20,
		jedec: [3]byte{0xEF, 0x40, 0x18}, half: true, winbond: true,
		statusBytes: 2, statusMasks: [3]byte{0xFC, 0x42, 0x60},
		program: 700 * time.Microsecond, writeStatus: 10 * time.Millisecond,
		eraseSmall: 45 * time.Millisecond, eraseHalf: 120 * time.Millisecond, eraseLarge: 150 * time.Millisecond, eraseAll: 40 * time.Second,
	}
)

func (p Part) id() []byte { return append(p.jedec[:], p.extended...) }

// commands returns the part's command set.
func (p Part) commands() map[byte]command {
	c := p.common()
	if p.winbond {
		p.addWinbond(c)
	} else {
		p.addMicron(c)
	}
	return c
}

// addWinbond adds the other status registers, power-down, and the older commands for the identity.
func (p Part) addWinbond(c map[byte]command) {
	device := p.jedec[2] - 1
	register := func(i int) func(*Flash, int) byte { return func(f *Flash, _ int) byte { return f.status[i] } }
	c[0x35] = command{busy: true, read: register(1)}
	c[0x15] = command{busy: true, read: register(2)}
	c[0x31] = command{min: 1, max: 1, run: func(f *Flash) { f.writeStatus(1) }}
	c[0x11] = command{min: 1, max: 1, run: func(f *Flash) { f.writeStatus(2) }}
	c[0x50] = command{run: func(f *Flash) { f.volatile = true }}
	c[0x60] = c[0xC7]
	c[0x52] = command{head: 3, run: func(f *Flash) { f.erase(32<<10, f.part.eraseHalf) }}
	c[0xB9] = command{run: func(f *Flash) { f.asleep = true }}
	c[opWakeup] = command{head: 3, min: -3, max: unlimited, read: func(*Flash, int) byte { return device }, run: func(f *Flash) { f.asleep = false }}
	c[0x90] = command{head: 3, read: func(f *Flash, i int) byte { return [2]byte{f.part.jedec[0], device}[(int(f.received[3])+i)&1] }}
	c[0x4B] = command{head: 4, read: func(f *Flash, i int) byte { return at(f.unique[:], i) }}
}

// Bits of Micron's flag status register.
const (
	failedProtection = 1 << 1
	failedProgram    = 1 << 4
	failedErase      = 1 << 5
	flagReady        = 1 << 7
)

// addMicron adds the flag status register, and the identity under a second command.
func (p Part) addMicron(c map[byte]command) {
	c[0x9E] = c[0x9F]
	c[0x70] = command{busy: true, read: func(f *Flash, _ int) byte {
		if f.work == nil {
			return f.failed | flagReady
		}
		return f.failed
	}}
	c[0x50] = command{run: func(f *Flash) { f.failed = 0 }}
}

// sfdp is the part's parameter table by JESD216: a header, and the basic parameters in revision 1.0, of nine words.
func (p Part) sfdp() []byte {
	const table = 0x30
	b := make([]byte, table+9*4)
	copy(b, "SFDP")
	copy(b[4:], []byte{0, 1, 0, 0xFF})                 // revision 1.0, one table
	copy(b[8:], []byte{0, 0, 1, 9, table, 0, 0, 0xFF}) // JEDEC's, revision 1.0, nine words
	for i := 16; i < table; i++ {
		b[i] = 0xFF
	}
	word := func(i int, v uint32) { binary.LittleEndian.PutUint32(b[table+4*i:], v) }
	word(0, 0xFF80_00E5|0x20<<8) // erases 4 KiB by 20, programs 64 bytes and more at a time, three bytes of address, one line
	word(1, uint32(p.Size)*8-1)
	word(4, 0xFFFF_FFEE) // neither 2-2-2 nor 4-4-4
	word(5, 0xFFFF)
	word(6, 0xFFFF)
	erase := func(size int, op uint32) uint32 { return uint32(bits.TrailingZeros(uint(size))) | op<<8 }
	small, half, large := erase(4<<10, 0x20), erase(32<<10, 0x52), erase(64<<10, 0xD8)
	if p.half {
		word(7, small|half<<16)
		word(8, large|0xFF00<<16)
	} else {
		word(7, small|large<<16)
		word(8, 0xFF00|0xFF00<<16)
	}
	return b
}
