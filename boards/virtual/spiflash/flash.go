// Package spiflash models serial flash memories at their pins: select, clock, data in, data out. It models the parts on the
// boards (see Parts), by their makers' data sheets, on one data line; it lacks the modes with two and four, as its SFDP says.
//
// Programming and erasing take the typical times of the part's data sheet, in wall-clock time. The write protect pin is high, as
// on the boards, so the bit that would lock the status register by it has no effect.
package spiflash

import (
	"math/rand/v2"
	"time"
)

// Page is how many bytes can be programmed at a time.
const Page = 256

// Bits of the status register.
const (
	statusBusy    = 1 << 0
	statusWrite   = 1 << 1 // writing is enabled
	statusProtect = 7 << 2
	statusBottom  = 1 << 5 // the protected part is at the beginning
	statusSectors = 1 << 6 // Winbond: the protected part is counted in 4 KiB
	// statusInvert is in Winbond's second register: what is protected is not, and the other way round.
	statusInvert = 1 << 6
)

// erased is what a byte is after erasing.
const erased = 0xFF

// Flash is a part. It is not safe for use by several goroutines.
type Flash struct {
	Started func() // is called, if it is not nil, when writing or erasing begins

	part     Part
	commands map[byte]command
	content  []byte
	random   *rand.Rand
	unique   [8]byte

	status       [3]byte // registers, without the bits of what happens
	stored       [3]byte // what they are after power comes on
	writeEnabled bool
	volatile     bool // the next write of a register is not stored
	asleep       bool
	resetting    bool // a reset is allowed as the next command
	failed       byte // bits of Micron's flag status
	work         *work
	counts       Counts

	selected, clock bool
	bits            int // received since the part was selected
	in, out, next   byte
	received        []byte // command, and what is before data
	data            []byte
	command         command
	sending,
	driving bool
}

// work is what keeps the part busy.
type work struct {
	from, until time.Time
	do          func(done float64) // all of it at 1
}

// Counts is what a part has done.
type Counts struct {
	Reads, Programs, Erases uint64
	Refused                 uint64 // commands to write without write enable, into what is protected, or cut off
}

// New returns an erased part. The seed decides the content after a loss of power while writing, and the part's unique number.
func New(part Part, seed uint64) *Flash {
	f := &Flash{part: part, commands: part.commands(), random: rand.New(rand.NewPCG(seed, 0)), content: make([]byte, part.Size)}
	for i := range f.content {
		f.content[i] = erased
	}
	for i := range f.unique {
		f.unique[i] = byte(f.random.Uint32())
	}
	return f
}

// Part returns its type.
func (f *Flash) Part() Part { return f.part }

// Counts returns the counters.
func (f *Flash) Counts() Counts { return f.counts }

// Content is what is stored, which the caller may change.
func (f *Flash) Content() []byte {
	f.settle()
	return f.content
}

// PowerCycle cuts the power for a moment. A write in progress stops halfway; the page where it stopped is neither
// old nor new.
func (f *Flash) PowerCycle() {
	f.settle()
	if w := f.work; w != nil {
		f.work = nil
		w.do(float64(time.Since(w.from)) / float64(w.until.Sub(w.from)))
	}
	f.status, f.writeEnabled, f.volatile, f.asleep, f.resetting, f.failed = f.stored, false, false, false, false, 0
	f.selected, f.driving = false, false
}

// settle finishes work whose time has passed.
func (f *Flash) settle() {
	if w := f.work; w != nil && !time.Now().Before(w.until) {
		f.work = nil
		w.do(1)
		f.writeEnabled = false
	}
}

// start makes the part busy for a time.
func (f *Flash) start(long time.Duration, do func(done float64)) {
	now := time.Now()
	f.work = &work{from: now, until: now.Add(long), do: do}
	if f.Started != nil {
		f.Started()
	}
}

// Pins sets the part's inputs, at every change, and returns its output, and whether it drives that. The part takes data in with
// the rising edge of the clock and puts it out after the falling one (modes 0 and 3).
func (f *Flash) Pins(selected, clock, in bool) (out, driven bool) {
	switch {
	case selected && !f.selected:
		f.bits, f.received, f.data, f.sending = 0, f.received[:0], f.data[:0], false
	case !selected && f.selected:
		f.driving = false
		f.settle()
		f.execute()
	case selected && clock && !f.clock:
		f.in <<= 1
		if in {
			f.in |= 1
		}
		if f.bits++; f.bits%8 == 0 {
			f.take(f.in)
		}
	case selected && !clock && f.clock && f.bits%8 == 0:
		f.out, f.driving = f.next, f.sending
	case selected && !clock && f.clock:
		f.out <<= 1
	}
	f.selected, f.clock = selected, clock
	return f.out&0x80 != 0, f.driving
}

// Byte is what Pins is for eight pulses of the clock, which is low, with the part selected: the bits of in come before its rising edges, the most significant
// one first, and out is what the part puts out then, or ones while it does not drive that.
func (f *Flash) Byte(in byte) (out byte) {
	if f.bits%8 != 0 {
		return f.bitwise(in)
	}
	out = 0xFF
	if f.driving {
		out = f.out
	}
	f.in = in
	f.bits += 8
	f.take(in)
	f.out, f.driving = f.next, f.sending
	return out
}

// bitwise is Byte when the part is not at a byte boundary.
func (f *Flash) bitwise(in byte) (out byte) {
	for bit := 7; bit >= 0; bit-- {
		high := in>>bit&1 != 0
		out <<= 1
		if level, driven := f.Pins(true, false, high); level || !driven {
			out |= 1
		}
		f.Pins(true, true, high)
		f.Pins(true, false, high)
	}
	return out
}

// take takes a byte and makes the one that goes out next.
func (f *Flash) take(b byte) {
	f.settle()
	switch {
	case f.bits == 8:
		f.command = f.commands[b]
		if !f.listens(b) {
			f.command = command{}
		}
		f.received = append(f.received, b)
	case len(f.received) <= f.command.head:
		f.received = append(f.received, b)
	case len(f.data) < Page:
		f.data = append(f.data, b)
	default: // the last bytes of too many count
		f.data[(f.bits/8-1-len(f.received))%Page] = b
	}
	f.sending = f.command.read != nil && len(f.received) > f.command.head
	if f.sending {
		f.next = f.command.read(f, f.bits/8-1-f.command.head)
	}
}
