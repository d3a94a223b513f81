package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// Link types of a capture's interfaces: those for private use that linkproto's dissector takes.
const (
	linkTypeCable  = 147 // USER0
	linkTypeEvents = 148 // USER1
)

// Blocks, and options of them.
const (
	blockSection   = 0x0A0D0D0A
	blockInterface = 1
	blockPacket    = 6

	optionEnd              = 0
	optionComment          = 1
	optionProgram          = 4 // of a section
	optionName             = 2 // of an interface
	optionDescription      = 3
	optionResolution       = 9
	optionFlags            = 2 // of a packet
	optionDropped          = 4
	byteOrder              = 0x1A2B3C4D
	nanoseconds            = 9 // as resolution: 10^-9 s
	flagIn, flagOut   byte = 1, 2
)

// ErrFull is what the io.Writer of a Writer may return for a record that it has no room for: the record is left out, and the next one that is
// not says how many were.
var ErrFull = errors.New("capture: no room for a record")

// Writer writes a capture, each block by one Write. It is for one goroutine at a time.
type Writer struct {
	w          io.Writer
	block      []byte
	interfaces uint32
	dropped    uint64 // records since the last one that was written
	err        error
}

// NewWriter begins a capture.
func NewWriter(w io.Writer) *Writer {
	c := &Writer{w: w}
	c.begin(blockSection)
	c.words(byteOrder, 1, 0xFFFFFFFF, 0xFFFFFFFF) // version 1.0, of unknown length
	c.option(optionProgram, []byte("lmmc"))
	c.end()
	return c
}

// Continue goes on with a capture that another Writer has begun, which has made as many interfaces.
func Continue(w io.Writer, interfaces int) *Writer {
	return &Writer{w: w, interfaces: uint32(interfaces)}
}

// Err is the first error of writing.
func (c *Writer) Err() error { return c.err }

// port makes an interface and returns its number.
func (c *Writer) port(name, description string, linkType uint32) uint32 {
	c.begin(blockInterface)
	c.words(linkType, 0)
	c.option(optionName, []byte(name))
	if description != "" {
		c.option(optionDescription, []byte(description))
	}
	c.option(optionResolution, []byte{nanoseconds})
	c.end()
	c.interfaces++
	return c.interfaces - 1
}

// record writes a record of an interface; flags and comment may be 0 and "".
func (c *Writer) record(port uint32, at time.Time, data []byte, flags byte, comment string) {
	ns := uint64(at.UnixNano())
	c.begin(blockPacket)
	c.words(port, uint32(ns>>32), uint32(ns), uint32(len(data)), uint32(len(data)))
	c.bytes(data)
	if flags != 0 {
		c.option(optionFlags, []byte{flags, 0, 0, 0})
	}
	if c.dropped > 0 {
		c.option(optionDropped, binary.LittleEndian.AppendUint64(nil, c.dropped))
	}
	if comment != "" {
		c.option(optionComment, []byte(comment))
	}
	c.end()
}

func (c *Writer) begin(kind uint32) {
	c.block = c.block[:0]
	c.words(kind, 0)
}

func (c *Writer) words(words ...uint32) {
	for _, w := range words {
		c.block = binary.LittleEndian.AppendUint32(c.block, w)
	}
}

// bytes appends bytes, and as many zeros as make whole words of them.
func (c *Writer) bytes(b []byte) {
	c.block = append(append(c.block, b...), make([]byte, -len(b)&3)...)
}

func (c *Writer) option(number uint16, value []byte) {
	c.block = binary.LittleEndian.AppendUint16(c.block, number)
	c.block = binary.LittleEndian.AppendUint16(c.block, uint16(len(value)))
	c.bytes(value)
}

// end ends a block, which has its length at both ends, and writes it.
func (c *Writer) end() {
	c.option(optionEnd, nil)
	c.words(uint32(len(c.block) + 4))
	binary.LittleEndian.PutUint32(c.block[4:], uint32(len(c.block)))
	if c.err != nil {
		return
	}
	if c.w == nil {
		c.err = errors.New("capture: a zero Writer; make it with NewWriter")
		return
	}
	switch _, err := c.w.Write(c.block); {
	case errors.Is(err, ErrFull):
		c.dropped++
	case err != nil:
		c.err = err
	default:
		c.dropped = 0
	}
}

// Clock relates the clock of an NI to the target's time, by looking at both now and then.
type Clock struct {
	first, last moment
	seen        bool
}

// moment is a clock, counted in full since some multiple of 2^32, and the time at which it was.
type moment struct {
	clock uint64
	at    time.Duration
}

// Add adds what NI.TraceState has said. Less than 2^32 clocks may lie between two of them.
func (c *Clock) Add(s hostdrv.TraceState) {
	if !c.seen {
		c.first, c.seen = moment{uint64(s.Clock), s.Now}, true
		c.last = c.first
		return
	}
	c.last = moment{c.last.clock + uint64(s.Clock-uint32(c.last.clock)), s.Now}
}

// at is when it was so many clocks before the last moment.
func (c *Clock) at(before int64) time.Duration {
	if c.last.clock == c.first.clock {
		return c.last.at
	}
	period := float64(c.last.at-c.first.at) / float64(c.last.clock-c.first.clock)
	return c.last.at - time.Duration(float64(before)*period)
}

// Trace adds what a trace buffer has recorded, with an interface for each port at which something happened. The target's time counts from began,
// and the last record is less than 2^31 clocks from the last moment of the clock. What triggered has the comment "trigger".
func (w *Writer) Trace(t linkproto.Trace, c *Clock, began time.Time) {
	ports := map[int]uint32{}
	for _, e := range t.Entries {
		ports[e.Port] = 0
	}
	for _, p := range slices.Sorted(maps.Keys(ports)) {
		name := "host port"
		if p > 0 {
			name = fmt.Sprint("link ", p)
		}
		ports[p] = w.port(name, "trace buffer", linkTypeEvents)
	}
	if len(t.Entries) == 0 {
		return
	}
	last := t.Entries[len(t.Entries)-1].Time
	age := int64(int32(uint32(c.last.clock) - uint32(last)))
	for _, e := range t.Entries {
		words := e.Record().Words()
		data := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, words[0]), words[1])
		comment := ""
		if e.Trigger {
			comment = "trigger"
		}
		w.record(ports[e.Port], began.Add(c.at(age+int64(last-e.Time))), data, 0, comment)
	}
}
