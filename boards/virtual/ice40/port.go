// Package ice40 models the configuration port of an iCE40 FPGA: as master it reads a serial flash when its reset is released; as slave
// it takes the image from a host that holds select low at that time. It follows Lattice's technical note FPGA-TN-02001 (TN1248), "iCE40
// Programming and Configuration". It has no NVCM and no warm boot.
package ice40

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
)

const (
	// clearing is how long the FPGA clears its memory after reset, before it takes an image.
	clearing = 1200 * time.Microsecond
	// masterClock is what it reads a flash with, unless the image asks for more.
	masterClock = 7.5e6
	// longest bounds the bytes that are read: the largest image has half of them, and a comment may come first.
	longest = 256 << 10
)

// Errors of an image.
var (
	ErrDevice = errors.New("ice40: the image is for another device")
	ErrNone   = errors.New("ice40: no image found")
)

// Flash is the flash that the FPGA reads, at its pins.
type Flash interface {
	Pins(selected, clock, in bool) (out, driven bool)
	// Byte is eight pulses of the clock while the flash is selected.
	Byte(in byte) (out byte)
}

// Image is a configuration of an FPGA.
type Image struct {
	*bitstream.File
	Data []byte
}

// Config describes the environment of a port.
type Config struct {
	Device bitstream.Device
	Flash  Flash
	// Changed is called when an image has configured the FPGA, and with nil when that ends.
	Changed func(*Image)
	// Failed is called when the FPGA refuses an image; may be nil.
	Failed func(error)
	// After schedules a call of Tick.
	After func(time.Duration)
}

// Port is the port of one FPGA. It is not safe for use by several goroutines.
type Port struct {
	Config
	state state
	since time.Time // of the release of reset
	due   time.Time // when it is configured from the flash
	clock bool

	ready    bool     // memory is clear
	received incoming // as slave
	bits     int
	last     byte
	next     *Image // comes at due
	err      error
}

type state int

const (
	reset state = iota
	slave
	master
	failed
	done
)

// New returns a port in reset.
func New(c Config) *Port { return &Port{Config: c} }

// Done is the pin CDONE: the FPGA is configured.
func (p *Port) Done() bool {
	p.Tick()
	return p.state == done
}

// Err is the error of the last refused image, until the next reset.
func (p *Port) Err() error { return p.err }

// Preset marks the FPGA as configured without an image.
func (p *Port) Preset() { p.state = done }

// Pins sets the input pins, at every change: reset and selected are true when low.
func (p *Port) Pins(held, selected, clock, in bool) {
	switch {
	case held:
		if p.state == done {
			p.Changed(nil)
		}
		p.state, p.next, p.err = reset, nil, nil
	case p.state == reset && selected:
		p.state, p.since, p.ready, p.received, p.bits = slave, time.Now(), false, incoming{}, 0
	case p.state == reset:
		p.state, p.since = master, time.Now()
		p.load()
	case p.state == slave && selected && clock && !p.clock:
		p.take(in)
	}
	p.clock = clock
}

// Byte is what Pins is for eight pulses of the clock, which is low, while the FPGA is selected: the bits come before its rising edges, the most significant
// one first.
func (p *Port) Byte(in byte) {
	for bit := 7; bit >= 0 && p.state == slave; bit-- {
		p.take(in>>bit&1 != 0)
	}
}

// Tick advances to the current time.
func (p *Port) Tick() {
	if p.state == master && p.next != nil && !time.Now().Before(p.due) {
		next := p.next
		p.state, p.next = done, nil
		p.Changed(next)
	}
}

// take takes a bit as slave. What comes while the memory is being cleared is lost.
func (p *Port) take(in bool) {
	if !p.ready && time.Since(p.since) < clearing {
		return
	}
	p.ready = true
	p.last <<= 1
	if in {
		p.last |= 1
	}
	if p.bits++; p.bits%8 != 0 {
		return
	}
	image, err := p.received.add(p.last, p.Device)
	switch {
	case image != nil:
		p.state = done
		p.Changed(image)
	case err != nil:
		p.fail(err)
	}
}

func (p *Port) fail(err error) {
	p.state, p.err, p.received = failed, err, incoming{}
	if p.Failed != nil {
		p.Failed(err)
	}
}

// Every image begins with a preamble, after a comment, and ends with the command that wakes the device.
var (
	preamble = []byte{0x7E, 0xAA, 0x99, 0x7E}
	wakeup   = []byte{0x01, 0x06}
)

// incoming is what has come so far.
type incoming struct {
	data  []byte
	begin int // of the preamble; 0 for none yet
}

// add adds a byte. If that was the last one it returns the image, or says what is wrong with it.
func (in *incoming) add(b byte, device bitstream.Device) (*Image, error) {
	in.data = append(in.data, b)
	switch {
	case len(in.data) > longest:
		return nil, fmt.Errorf("%w in the first %d bytes", ErrNone, longest)
	case in.begin == 0 && bytes.HasSuffix(in.data, preamble):
		in.begin = len(in.data)
	case in.begin > 0 && bytes.HasSuffix(in.data, wakeup):
		return in.end(device)
	}
	return nil, nil
}

// end checks whether this is the image's end; the same two bytes occur elsewhere as well. The FPGA ignores everything before the preamble.
func (in *incoming) end(device bitstream.Device) (*Image, error) {
	file, err := bitstream.Read(in.data[in.begin-len(preamble):])
	switch {
	case errors.Is(err, bitstream.ErrTruncated):
		return nil, nil
	case err != nil:
		return nil, err
	case file.Device != device:
		return nil, fmt.Errorf("%w: a %s, and this is a %s", ErrDevice, file.Device, device)
	}
	if whole, err := bitstream.Read(in.data); err == nil {
		file = whole
	}
	return &Image{File: file, Data: in.data}, nil
}

// load reads the flash as master: it wakes it up, reads from the beginning and, unless the image says otherwise, puts it to sleep.
func (p *Port) load() {
	p.command(0xAB)
	p.deselect()
	p.command(0x0B, 0, 0, 0, 0)
	var read incoming
	var image *Image
	var err error
	for image == nil && err == nil {
		image, err = read.add(p.Flash.Byte(0), p.Device)
	}
	p.deselect()
	if err != nil {
		p.fail(err)
		return
	}
	if !image.Awake {
		p.command(0xB9)
		p.deselect()
	}
	wait := clearing + time.Duration(float64(8*len(read.data))/masterClock*float64(time.Second))
	p.next, p.due = image, p.since.Add(wait)
	p.After(wait)
}

func (p *Port) command(bytes ...byte) {
	p.Flash.Pins(true, false, false)
	for _, b := range bytes {
		p.Flash.Byte(b)
	}
}

func (p *Port) deselect() { p.Flash.Pins(false, false, false) }
