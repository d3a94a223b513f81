package ni

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/verilator"
)

// SerialLine is the far end of a serial link: symbols out and in as 8b/10b over two pins of a model. Its clock and its edges may be off, and bits
// that are no code groups can be sent.
type SerialLine struct {
	// PPM is by how many parts per million its bits are shorter than the model's, Jitter by how much of a bit each edge may be early or late.
	PPM, Jitter float64
	// Sent, unless nil, is told each bit that goes out.
	Sent func(bit bool)

	bit    int // clocks, of the model's
	rng    *testbench.Rand
	source *verilator.Source
	sink   *verilator.Sink

	bits             []bool // that are to go out
	rd               bool   // behind them
	now, ideal, edge float64
	level            bool

	in   serialReader
	left int // clocks that have not made a symbol time yet
}

// NewSerialLine attaches to the pins rx (the model's input) and tx of a model with one clock, with so many clocks a bit.
func NewSerialLine(m *verilator.Model, rx, tx string, bit int, seed uint64) (*SerialLine, error) {
	l := &SerialLine{bit: bit, rng: testbench.NewRand(seed), in: serialReader{bit: bit}}
	var err error
	if l.source, err = m.Source(verilator.Channel{Data: rx}); err != nil {
		return nil, err
	}
	l.sink, err = m.Sink(verilator.Channel{Data: tx})
	return l, err
}

// Drive queues bits, which need be no code groups.
func (l *SerialLine) Drive(bits ...bool) { l.bits = append(l.bits, bits...) }

// Code queues a code group, right or wrong.
func (l *SerialLine) Code(code uint) {
	for i := 9; i >= 0; i-- {
		l.bits = append(l.bits, code>>i&1 != 0)
	}
	l.rd = code8b10b.After(code, l.rd)
}

// Send queues symbols, any of the code.
func (l *SerialLine) Send(symbols ...linkproto.Symbol) {
	for _, s := range symbols {
		rd := l.rd
		l.Code(code8b10b.Encode(s, &rd))
	}
}

// Disparity is the running disparity behind what has been queued.
func (l *SerialLine) Disparity() bool { return l.rd }

// Pending is how many bits have been queued and have not gone out yet.
func (l *SerialLine) Pending() int { return len(l.bits) }

func (l *SerialLine) room(n int) int {
	symbol := 10 * l.bit
	return max(n-len(l.bits)*l.bit+symbol-1, 0) / symbol
}

// put puts levels for the next n clocks on the pin, IDLE when there is nothing else.
func (l *SerialLine) put(symbols []linkproto.Symbol, n int) {
	l.Send(symbols...)
	period := float64(l.bit) / (1 + l.PPM*1e-6)
	for range n {
		for l.now++; l.now >= l.edge; {
			if len(l.bits) == 0 {
				l.Send(linkproto.SymIdle)
			}
			l.level, l.bits = l.bits[0], l.bits[1:]
			if l.Sent != nil {
				l.Sent(l.level)
			}
			l.ideal += period
			l.edge = l.ideal + l.Jitter*period*(2*l.rng.Float64()-1)
		}
		v := uint64(0)
		if l.level {
			v = 1
		}
		l.source.Put(v, false)
	}
}

func (l *SerialLine) get(dst []linkproto.Symbol) []linkproto.Symbol {
	for beat, ok := l.sink.Get(); ok; beat, ok = l.sink.Get() {
		dst = l.in.sample(beat.Data != 0, dst)
	}
	return dst
}

func (l *SerialLine) ticks(n int) int {
	l.left += n
	symbols := l.left / (10 * l.bit)
	l.left -= symbols * 10 * l.bit
	return symbols
}

func (l *SerialLine) discard() {
	l.sink.Discard()
	l.in = serialReader{bit: l.bit}
}

func (l *SerialLine) check() error { return l.in.err }

func (l *SerialLine) rested(from uint64) error {
	for beat, ok := l.sink.Get(); ok; beat, ok = l.sink.Get() {
		if beat.Cycle > from && beat.Data != 0 {
			return fmt.Errorf("ni: clock %d: a serial line is high in reset", beat.Cycle)
		}
	}
	return nil
}
