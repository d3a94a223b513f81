package capture

import (
	"bytes"
	"math"
	"time"

	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/linkproto"
)

// The direction bytes of a cable's records.
const (
	sent     = 0
	received = 1
)

// Cable is what goes over a host's cable.
type Cable struct {
	w       *Writer
	port    uint32
	header  record.Header
	all     bool
	now     uint64 // ticks since header.Time
	line    uint64 // when the line to the NI is free
	out, in direction
	tracer  tracer
}

// Cable makes the interface of a cable, which began at h.Time. Unless all is set two kinds of records are left out, which come by the thousand:
// link state words that repeat the one before in their direction, and requests to the trace buffer with their answers and acknowledgements.
func (w *Writer) Cable(h record.Header, all bool) *Cable { return w.cable("cable", h.Target, h, all) }

// Between makes the interface of a cable between two ends in a simulated network, of which the first sends what is taken for the host's. Its time is clocks, as
// nanoseconds since 1970.
func (w *Writer) Between(a, b string, all bool) *Cable {
	c := w.cable(a+" - "+b, "cable of a network, a clock for each nanosecond", record.Header{Time: time.Unix(0, 0), TicksPerSecond: 1e9}, all)
	c.join()
	return c
}

func (w *Writer) cable(name, description string, h record.Header, all bool) *Cable {
	c := &Cable{w: w, port: w.port(name, description, linkTypeCable), header: h, all: all}
	c.out.write = func(symbols []byte, at uint64) { c.record(&c.out, sent, flagOut, symbols, at) }
	c.in.write = func(symbols []byte, at uint64) { c.record(&c.in, received, flagIn, symbols, at) }
	return c
}

// join lets the capture begin with the next frame or word, in the middle of something.
func (c *Cable) join() { c.out.deaf, c.in.deaf = true, true }

// Exchange adds what was sent and received in some ticks, stuffed or not: that is, with IDLEs or without.
func (c *Cable) Exchange(out, in []linkproto.Symbol, ticks uint64) {
	c.line = max(c.line, c.now)
	for _, s := range out {
		c.out.symbol(s, c.line)
		c.line++
	}
	c.now += ticks
	for _, s := range in {
		c.in.symbol(s, c.now)
	}
	c.out.pause(c.line)
	c.in.pause(c.now)
}

// Symbol adds a symbol that an end has sent, in a clock after those that came before.
func (c *Cable) Symbol(second bool, s linkproto.Symbol, clock uint64) {
	if second {
		c.in.symbol(s, clock)
	} else {
		c.out.symbol(s, clock)
	}
}

// Session adds a recorded session, with an interface of its own.
func (w *Writer) Session(s *record.Session, all bool) {
	c := w.Cable(s.Header, all)
	for _, x := range s.Exchanges {
		var out, in linkproto.Unstuffer
		c.Exchange(out.Append(nil, x.Out), in.Append(nil, x.In), x.Ticks)
	}
	c.out.flush(c.line)
	c.in.flush(c.now)
}

func (c *Cable) record(d *direction, way, flags byte, symbols []byte, tick uint64) {
	if d.alone && !c.all {
		if bytes.Equal(symbols, d.said) {
			return
		}
		d.said = append(d.said[:0], symbols...)
	}
	if !c.all && c.tracer.hides(way, symbols) {
		return
	}
	d.data = append(append(d.data[:0], way), symbols...)
	at := c.header.Time.Add(time.Duration(math.Round(float64(tick) * (float64(time.Second) / c.header.TicksPerSecond))))
	c.w.record(c.port, at, d.data, flags, "")
}

// direction cuts the symbols of one direction into records.
type direction struct {
	write func(symbols []byte, at uint64)
	deaf  bool // until the next frame or word begins

	symbols []byte // of the record in progress, stuffed
	frame   bool   // it is a frame
	word    int    // symbols that the word in progress still wants
	begun   bool   // the first of them, which says how many there are, has come
	alone   bool   // it is a word outside a frame

	said []byte // by the last word outside a frame
	data []byte
}

// longest is how many bytes a record may have before it is cut: more than the longest frame with words inside, and less than what Wireshark takes.
const longest = 8 * linkproto.MaxPageBytes

func (d *direction) symbol(s linkproto.Symbol, at uint64) {
	begins := s == linkproto.SymSOP || s == linkproto.SymLSW
	d.deaf = d.deaf && !begins
	if d.deaf || s == linkproto.SymIdle {
		return
	}
	if s == linkproto.SymSOP || begins && !d.frame || len(d.symbols) > longest {
		d.flush(at)
	}
	d.symbols = linkproto.AppendStuffed(d.symbols, []linkproto.Symbol{s})
	switch {
	case s == linkproto.SymSOP:
		d.frame, d.word = true, 0
	case s == linkproto.SymLSW:
		d.alone, d.begun, d.word = !d.frame, false, linkproto.WordSymbols-1
	case s.IsData() && d.word > 0:
		if d.word == linkproto.WordSymbols-1 && !d.begun && linkproto.Kind(s>>linkproto.WordKindShift) == linkproto.KindInit {
			d.word = linkproto.InitSymbols - 1
		}
		d.begun = true
		if d.word--; d.word == 0 && d.alone {
			d.flush(at)
		}
	case !s.IsData(): // an EOP or an ABORT, or it ends all there is
		d.alone = false
		d.flush(at)
	}
}

// pause ends a record that is neither a frame nor a word.
func (d *direction) pause(at uint64) {
	if !d.frame && d.word == 0 {
		d.flush(at)
	}
}

func (d *direction) flush(at uint64) {
	if len(d.symbols) > 0 {
		d.alone = d.alone && d.word == 0
		d.write(d.symbols, at)
	}
	d.symbols, d.frame, d.word, d.alone = d.symbols[:0], false, 0, false
}
