package rtlsim

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// line is the host's end of an NI's host port.
type line interface {
	put(symbols []linkproto.Symbol)                // queues what is to be sent
	pending() int                                  // clocks that it takes to send what is queued
	advance(clocks int)                            // comes before so many clocks are run, at most chunk
	get(dst []linkproto.Symbol) []linkproto.Symbol // appends what has come
}

// chunk is how many clocks are run at most between two looks at the lines.
const chunk = 4096

// newLine attaches to the host port of an NI with parameters p.
func newLine(p rtl.Params, m *verilator.Model, clock *verilator.Clock) line {
	rx, tx := p.Lines(0)
	if p.HostPHY == rtl.UART {
		return &uartLine{UARTLine: try.Get(ni.NewUARTLine(m, clock, rx, tx, p.HostDivisor)), bytes: make([]byte, 256)}
	}
	idle := uint64(linkproto.SymIdle)
	return &directLine{
		source: try.Get(m.Source(verilator.Channel{Data: rx, Idle: &idle, Depth: 2 * quantum})),
		sink:   try.Get(m.Sink(verilator.Channel{Data: tx, Idle: &idle, Depth: 2 * resetClocks})),
	}
}

// directLine carries a symbol a clock.
type directLine struct {
	source *verilator.Source
	sink   *verilator.Sink
	beats  []verilator.Beat
}

func (l *directLine) pending() int { return l.source.Pending() }
func (l *directLine) advance(int)  {}

func (l *directLine) put(symbols []linkproto.Symbol) {
	for _, s := range symbols {
		l.source.Put(uint64(s), false)
	}
}

func (l *directLine) get(dst []linkproto.Symbol) []linkproto.Symbol {
	waiting := l.sink.Len()
	if len(l.beats) < waiting {
		l.beats = make([]verilator.Beat, 2*waiting)
	}
	for _, b := range l.beats[:l.sink.Read(l.beats[:waiting])] {
		dst = append(dst, linkproto.Symbol(b.Data))
	}
	return dst
}

// uartLine carries escape-stuffed bytes over the pins of a UART.
type uartLine struct {
	*ni.UARTLine
	back  linkproto.Unstuffer
	bytes []byte
}

func (l *uartLine) pending() int       { return l.Pending() }
func (l *uartLine) advance(clocks int) { l.Advance(clocks) }

func (l *uartLine) put(symbols []linkproto.Symbol) {
	_, _ = l.Write(linkproto.AppendStuffed(nil, symbols)) // takes all
}

func (l *uartLine) get(dst []linkproto.Symbol) []linkproto.Symbol {
	for {
		n, _ := l.Read(l.bytes) // does not fail
		if n == 0 {
			return dst
		}
		dst = l.back.Append(dst, l.bytes[:n])
	}
}
