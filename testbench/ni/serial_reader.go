package ni

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
)

// serialReader reads what phy_serial sends, and knows what it may send.
type serialReader struct {
	bit int   // clocks
	err error // the first fault

	level   bool
	clocks  int // since the last edge
	window  uint
	bits    int // of the code group in progress
	aligned bool
	rd      bool
	busy    int // symbols since the last IDLE
	inFrame bool
}

// commaEvery is COMMA_EVERY of phy_serial.
const commaEvery = 1024

func (r *serialReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("ni: serial line: "+format, args...)
	}
}

// sample takes the level of the next clock.
func (r *serialReader) sample(level bool, dst []linkproto.Symbol) []linkproto.Symbol {
	if level == r.level {
		r.clocks++
		return dst
	}
	if r.aligned && r.clocks%r.bit != 0 {
		r.fail("a level of %d clocks, where a bit has %d", r.clocks, r.bit)
	}
	for range r.clocks / r.bit {
		dst = r.take(r.level, dst)
	}
	r.level, r.clocks = level, 1
	return dst
}

func (r *serialReader) take(bit bool, dst []linkproto.Symbol) []linkproto.Symbol {
	r.window = r.window << 1 & (code8b10b.Groups - 1)
	if bit {
		r.window |= 1
	}
	r.bits++
	if !r.aligned {
		for _, rd := range []bool{false, true} {
			if s, ok := code8b10b.Decode(r.window, rd); ok && s == linkproto.SymIdle {
				r.aligned, r.rd, r.bits = true, rd, 10
			}
		}
	}
	if !r.aligned || r.bits < 10 {
		return dst
	}
	r.bits = 0
	s, ok := code8b10b.Decode(r.window, r.rd)
	if !ok {
		r.fail("code group %010b at a running disparity that is positive: %t", r.window, r.rd)
	}
	r.rd = code8b10b.After(r.window, r.rd)
	r.symbol(s)
	return append(dst, s)
}

// symbol checks when there is an IDLE. A frame goes out without a pause: what stands in it is one that the PHY has sent by itself.
func (r *serialReader) symbol(s linkproto.Symbol) {
	switch {
	case s == linkproto.SymErr:
		r.fail("ERR, which is never sent")
	case s == linkproto.SymIdle && r.inFrame && r.busy != commaEvery-1:
		r.fail("an IDLE within a frame, %d symbols behind the last", r.busy)
	}
	switch s {
	case linkproto.SymIdle:
		r.busy = 0
		return
	case linkproto.SymSOP:
		r.inFrame = true
	case linkproto.SymEOP, linkproto.SymAbort:
		r.inFrame = false
	}
	if r.busy++; r.busy >= commaEvery {
		r.fail("%d symbols without IDLE", r.busy)
	}
}
