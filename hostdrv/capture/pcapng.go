package capture

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
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
