package ni

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

// UARTLine is the far end of a UART: bytes out and in over two pins of a model, 8 data bits, no parity, one stop bit, with clocks as
// exact as the model's. It is the byte pipe between a host and a board; whatever a bad line does can be driven too.
type UARTLine struct {
	divisor int // clocks a bit
	clock   *verilator.Clock
	source  *verilator.Source
	sink    *verilator.Sink
	runs    []run // that are to go out
	waiting int   // clocks of them
	lows    []uint64
	free    uint64 // the clock from which on a start bit is looked for
	next    uint64 // the clock from which on there may be one
	units   []unit
	err     error // the first fault of what has come
}

// run is a level that lasts some clocks.
type run struct {
	high   bool
	clocks int
}

// unit is a byte that has come, or something in its place.
type unit struct {
	b   byte
	bad bool // no stop bit, or a break
}

// NewUARTLine attaches to the pins rx (the model's input) and tx of a model with one clock, with divisor clocks a bit.
func NewUARTLine(m *verilator.Model, clock *verilator.Clock, rx, tx string, divisor int) (*UARTLine, error) {
	if divisor < 4 {
		return nil, fmt.Errorf("ni: a UART with %d clocks a bit: the receiver needs 4", divisor)
	}
	u := &UARTLine{divisor: divisor, clock: clock}
	high := uint64(1)
	var err error
	if u.source, err = m.Source(verilator.Channel{Data: rx, Idle: &high}); err != nil {
		return nil, err
	}
	if u.sink, err = m.Sink(verilator.Channel{Data: tx, Idle: &high}); err != nil {
		return nil, err
	}
	return u, nil
}

// Write queues bytes to be sent, without pauses. It takes all of them.
func (u *UARTLine) Write(data []byte) (int, error) {
	for _, b := range data {
		u.Drive(false, u.divisor)
		for i := range 8 {
			u.Drive(b>>i&1 != 0, u.divisor)
		}
		u.Drive(true, u.divisor)
	}
	return len(data), nil
}

// Drive queues a level for some clocks: a break, a pause, a byte without stop bit, noise.
func (u *UARTLine) Drive(high bool, clocks int) {
	u.runs = append(u.runs, run{high, clocks})
	u.waiting += clocks
}

// Pending is how many clocks it takes to send what has been queued.
func (u *UARTLine) Pending() int { return u.waiting + u.source.Pending() }

// Read moves bytes that have come to p and returns how many. A byte without stop bit, or a break, is left out.
func (u *UARTLine) Read(p []byte) (int, error) {
	u.receive()
	n, used := 0, 0
	for ; used < len(u.units) && n < len(p); used++ {
		if !u.units[used].bad {
			p[n] = u.units[used].b
			n++
		}
	}
	u.units = slices.Delete(u.units, 0, used)
	return n, nil
}

// Advance puts levels for the next n clocks on the pin, and the one that stays there behind them; it comes before they are run.
func (u *UARTLine) Advance(n int) {
	for i := u.source.Pending(); i <= n && len(u.runs) > 0; i++ {
		r := &u.runs[0]
		level := uint64(0)
		if r.high {
			level = 1
		}
		if !u.source.Put(level, false) {
			return
		}
		u.waiting--
		if r.clocks--; r.clocks <= 0 {
			u.runs = u.runs[1:]
		}
	}
}

// receive turns the clocks in which the pin was low, which is all that the sink keeps, into bytes.
func (u *UARTLine) receive() {
	for beat, ok := u.sink.Get(); ok; beat, ok = u.sink.Get() {
		if beat.Cycle >= u.free {
			u.lows = append(u.lows, beat.Cycle)
		}
	}
	low := func(at uint64) bool {
		_, found := slices.BinarySearch(u.lows, at)
		return found
	}
	now, bit := u.clock.Cycles(), uint64(u.divisor)
	for len(u.lows) > 0 {
		middle := u.lows[0] + bit/2
		stop := middle + 9*bit
		if stop > now {
			return
		}
		got := unit{bad: low(stop)}
		u.whole(low)
		for i := range 8 {
			if !low(middle + uint64(i+1)*bit) {
				got.b |= 1 << i
			}
		}
		for u.free = stop; low(u.free); u.free++ {
			if u.free == now {
				return // the line is still low: wait for its end
			}
		}
		u.units = append(u.units, got)
		next, _ := slices.BinarySearch(u.lows, u.free)
		u.lows = slices.Delete(u.lows, 0, next)
	}
}

// whole checks that the byte that begins with the first low has whole bits, and that its start bit comes behind a whole stop bit.
func (u *UARTLine) whole(low func(uint64) bool) {
	bit := uint64(u.divisor)
	start := u.lows[0]
	if u.err == nil && start < u.next {
		u.err = fmt.Errorf("ni: UART: a start bit in clock %d, %d clocks before the stop bit's end", start, u.next-start)
	}
	u.next = start + 10*bit
	for at := start; at < start+9*bit; at++ {
		if first := at - (at-start)%bit; u.err == nil && low(at) != low(first) {
			u.err = fmt.Errorf("ni: UART: an edge in clock %d, %d clocks behind the start bit's", at, at-start)
		}
	}
	if u.err == nil && low(start+9*bit) {
		u.err = fmt.Errorf("ni: UART: no stop bit in clock %d", start+9*bit)
	}
}

// discard forgets what has come.
func (u *UARTLine) discard() {
	u.sink.Discard()
	u.lows, u.units, u.free, u.next = nil, nil, u.clock.Cycles()+1, 0
}

// uartWire carries the symbols of a Port over a UARTLine.
type uartWire struct {
	*UARTLine
	back  linkproto.Unstuffer
	bytes []byte
	left  int // clocks that have not made a symbol time yet
}

func (w *uartWire) room(n int) int {
	symbol := 10 * w.divisor
	return max(n-w.Pending()+symbol-1, 0) / symbol
}

func (w *uartWire) put(symbols []linkproto.Symbol, n int) {
	w.bytes = linkproto.AppendStuffed(w.bytes[:0], symbols)
	_, _ = w.Write(w.bytes) // takes all
	w.Advance(n)
}

func (w *uartWire) get(dst []linkproto.Symbol) []linkproto.Symbol {
	w.receive()
	for _, u := range w.units {
		if u.bad {
			w.back = linkproto.Unstuffer{}
			dst = append(dst, linkproto.SymErr)
		} else {
			dst = w.back.Append(dst, []byte{u.b})
		}
	}
	if w.err == nil && slices.Contains(dst, linkproto.SymIdle) {
		w.err = errors.New("ni: UART: IDLE, which is never sent")
	}
	w.units = w.units[:0]
	return dst
}

func (w *uartWire) check() error { return w.err }

func (w *uartWire) discard() {
	w.UARTLine.discard()
	w.back = linkproto.Unstuffer{}
}

func (w *uartWire) rested(from uint64) error {
	for beat, ok := w.sink.Get(); ok; beat, ok = w.sink.Get() {
		if beat.Cycle > from {
			return fmt.Errorf("ni: clock %d: a UART's line is low in reset", beat.Cycle)
		}
	}
	return nil
}

func (w *uartWire) ticks(n int) int {
	w.left += n
	symbols := w.left / (10 * w.divisor)
	w.left -= symbols * 10 * w.divisor
	return symbols
}
