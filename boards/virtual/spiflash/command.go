package spiflash

import (
	"slices"
	"time"
)

// command is a command of a part.
type command struct {
	head int // bytes of address and of waiting that follow the command
	// read makes the i-th byte that goes out.
	read func(f *Flash, i int) byte
	// run is called at the end of a command that was of the right length: with data if it takes any, and none if not.
	run      func(f *Flash)
	min, max int  // bytes that run takes after head
	busy     bool // works while the part is busy
}

// unlimited is for commands that take as much data as comes.
const unlimited = 1 << 30

// Commands that change how others work.
const (
	opWakeup      = 0xAB
	opEnableReset = 0x66
	opReset       = 0x99
)

// listens reports whether the part accepts a command now.
func (f *Flash) listens(op byte) bool {
	resetting := f.resetting
	f.resetting = false
	switch {
	case f.asleep:
		return op == opWakeup
	case op == opReset:
		return resetting
	}
	return f.work == nil || f.command.busy
}

// execute ends a command.
func (f *Flash) execute() {
	c := f.command
	f.command = command{}
	if c.run == nil || len(f.received) == 0 {
		return
	}
	bytes := f.bits/8 - 1 - c.head
	if f.bits%8 != 0 || bytes < c.min || bytes > c.max {
		if c.min > 0 || c.head > 0 {
			f.counts.Refused++
		}
		return
	}
	c.run(f)
}

func (f *Flash) address() int {
	return (int(f.received[1])<<16 | int(f.received[2])<<8 | int(f.received[3])) % len(f.content)
}

// common are the commands that all parts have.
func (p Part) common() map[byte]command {
	read := func(f *Flash, i int) byte {
		if i == 0 {
			f.counts.Reads++
		}
		return f.content[(f.address()+i)%len(f.content)]
	}
	return map[byte]command{
		0x03: {head: 3, read: read},
		0x0B: {head: 4, read: read},
		0x9F: {read: func(f *Flash, i int) byte { return at(f.part.id(), i) }},
		0x5A: {head: 4, read: func(f *Flash, i int) byte { return at(f.part.sfdp(), (f.address()+i)%256) }},
		0x05: {busy: true, read: (*Flash).readStatus},
		0x06: {run: func(f *Flash) { f.writeEnabled = true }},
		0x04: {run: func(f *Flash) { f.writeEnabled = false }},
		0x01: {min: 1, max: p.statusBytes, run: func(f *Flash) { f.writeStatus(0) }},
		0x02: {head: 3, min: 1, max: unlimited, run: (*Flash).program},
		0x20: {head: 3, run: func(f *Flash) { f.erase(4<<10, f.part.eraseSmall) }},
		0xD8: {head: 3, run: func(f *Flash) { f.erase(64<<10, f.part.eraseLarge) }},
		0xC7: {run: (*Flash).eraseAll},

		opEnableReset: {busy: true, run: func(f *Flash) { f.resetting = true }},
		opReset:       {busy: true, run: (*Flash).PowerCycle},
	}
}

// at returns 0 beyond the end.
func at(b []byte, i int) byte {
	if i >= len(b) {
		return 0
	}
	return b[i]
}

// readStatus is the first register, which shows what happens while it is read.
func (f *Flash) readStatus(int) byte {
	s := f.status[0]
	if f.work != nil {
		s |= statusBusy
	}
	if f.writeEnabled {
		s |= statusWrite
	}
	return s
}

// mayWrite reports whether a command that writes may run.
func (f *Flash) mayWrite() bool {
	if !f.writeEnabled {
		f.counts.Refused++
	}
	return f.writeEnabled
}

// writeStatus writes registers from the given one on.
func (f *Flash) writeStatus(register int) {
	if f.volatile {
		f.volatile = false
		f.setStatus(register, f.data)
		return
	}
	if !f.mayWrite() {
		return
	}
	data := slices.Clone(f.data)
	f.start(f.part.writeStatus, func(done float64) {
		if done >= 1 {
			f.setStatus(register, data)
			f.stored = f.status
		}
	})
}

func (f *Flash) setStatus(register int, data []byte) {
	for i, b := range data {
		f.status[register+i] = b & f.part.statusMasks[register+i]
	}
}

// protected is the part of the content that cannot be written.
func (f *Flash) protected() (from, to int) {
	s, size := f.status[0], len(f.content)
	blocks := int(s&statusProtect) >> 2
	var n int
	switch {
	case blocks == 0:
	case blocks == 7:
		n = size
	case f.part.statusMasks[0]&statusSectors != 0 && s&statusSectors != 0:
		n = min(4<<10<<(blocks-1), 32<<10)
	default:
		n = size / 64 << (blocks - 1)
	}
	from, to = size-n, size
	if s&statusBottom != 0 {
		from, to = 0, n
	}
	if f.status[1]&statusInvert != 0 {
		if from == 0 {
			return to, size
		}
		return 0, from
	}
	return from, to
}

// forbidden reports whether a write from an address on must be refused.
func (f *Flash) forbidden(from, n int, failure byte) bool {
	if !f.mayWrite() {
		return true
	}
	if low, high := f.protected(); low < high && from < high && from+n > low {
		f.counts.Refused++
		f.failed |= failure | failedProtection
		return true
	}
	return false
}

// program turns ones into zeros in a page. What goes beyond the page's end goes to its beginning.
func (f *Flash) program() {
	to := f.address()
	page := to - to%Page
	if f.forbidden(page, Page, failedProgram) {
		return
	}
	f.counts.Programs++
	data := slices.Clone(f.data)
	f.start(f.part.program, func(done float64) {
		n := int(done * float64(len(data)))
		for i, b := range data[:n] {
			f.content[page+(to+i)%Page] &= b
		}
		if n < len(data) {
			f.content[page+(to+n)%Page] &= data[n] | byte(f.random.Uint32())
		}
	})
}

func (f *Flash) erase(size int, long time.Duration) {
	from := f.address() &^ (size - 1)
	if !f.forbidden(from, size, failedErase) {
		f.clear(from, size, long)
	}
}

// eraseAll works only if nothing is protected.
func (f *Flash) eraseAll() {
	if !f.forbidden(0, len(f.content), failedErase) {
		f.clear(0, len(f.content), f.part.eraseAll)
	}
}

func (f *Flash) clear(from, size int, long time.Duration) {
	f.counts.Erases++
	f.start(long, func(done float64) {
		n := int(done * float64(size))
		for i := range n {
			f.content[from+i] = erased
		}
		for i := n; i < min(n+Page, size); i++ {
			f.content[from+i] |= byte(f.random.Uint32())
		}
	})
}
