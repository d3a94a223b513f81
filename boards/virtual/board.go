// Package virtual is a development board that exists only as a program: a USB bridge chip (package ftdi), a serial flash (spiflash), and an FPGA
// that is configured from there or by the bridge (ice40). The network interface in the FPGA is behind the serial line of the bridge's second channel.
// Package usbip exports the board to other programs and machines, which cannot tell it from one on the desk.
package virtual

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/spiflash"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	"github.com/stafflink/lmmc/internal/nearest"
)

// kind is what boards of a kind have.
type kind struct {
	usb    usbdev.Identity
	device bitstream.Device
	flash  spiflash.Part
	lamps  func(hostdrv.StatusProbe) []Lamp // as its top.v wires them
}

var kinds = map[string]kind{
	"hx8k": {
		usb:    usbdev.Identity{Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 500, Strings: [3]string{"Lattice", "Lattice FTUSB Interface Cable"}},
		device: bitstream.Die("hx8k"), flash: spiflash.N25Q032A,
		lamps: func(l hostdrv.StatusProbe) []Lamp {
			return []Lamp{{"LED0, alive", l.Alive}, {"LED1, host", l.Host}, {"LED2, links", l.Link}}
		},
	},
	"icebreaker": {
		usb:    usbdev.Identity{Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 500, Strings: [3]string{"1BitSquared", "iCEBreaker V1.0e"}},
		device: bitstream.Die("up5k"), flash: spiflash.W25Q128JV,
		lamps: func(l hostdrv.StatusProbe) []Lamp {
			return []Lamp{{"green, alive", l.Alive}, {"red, traffic", l.Host || l.Link}}
		},
	},
}

// Kinds lists the boards that there are.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// IsKind reports whether there is a board of that name.
func IsKind(name string) bool {
	_, known := kinds[name]
	return known
}

// Config says what a board is.
type Config struct {
	Kind   string // one of Kinds
	Serial string // number, which tells boards of a kind apart; "" for none
	Seed   uint64 // of what chance decides, such as what is left in the flash when power is lost
	// Flash is what is in the flash, from its beginning.
	Flash []byte
	// FPGA is a target that is in the FPGA until that is reset, as if the FPGA had been configured by somebody before. nil leaves it to the flash. The
	// board closes it.
	FPGA hostdrv.Transport
	// Baud is the rate of FPGA's UART in bits a second; 0 is whatever the host sets. An image says its own.
	Baud float64
	// BitErrors is the chance of a bit on the UART's line to be turned over.
	BitErrors float64
	// Overrun is how long the bridge may have no room for what the FPGA sends before it loses that. 0: the FPGA waits, as long as the host does not read.
	Overrun time.Duration
	// Design makes what an image makes of the FPGA: what is behind its serial line until the board closes it. nil, or an error, leaves nobody there.
	Design func(context.Context, *ice40.Image) (hostdrv.Transport, error)
	Log    *slog.Logger // nil: none
}

// Board is a board. Run has to be called for its FPGA to do anything.
type Board struct {
	config  Config
	chip    *ftdi.Chip
	circuit *circuit

	mu      sync.Mutex
	content content
	loads   int                // how often content has changed
	watched hostdrv.Observable // what runs in the FPGA; nil if it cannot be looked at
	changed chan struct{}
	writing chan struct{} // is closed when the flash next begins to write
}

// content is what is in the FPGA: nothing if all are nil, or if the last image was not taken.
type content struct {
	image  *ice40.Image
	target hostdrv.Transport
	err    error
}

// baud is the rate of the UART in there; 0 if nobody knows.
func (b *Board) baud(c content) float64 {
	if c.image == nil {
		return b.config.Baud
	}
	if c.image.Info == nil {
		return 0
	}
	rate, err := strconv.ParseFloat(c.image.Info.Params["baud"], 64)
	if err != nil || !(rate > 0) {
		return 0
	}
	return rate
}

// New makes a board that is plugged in.
func New(c Config) (*Board, error) {
	k, known := kinds[c.Kind]
	if !known {
		return nil, fmt.Errorf("virtual: no board %q%s; there are %s", c.Kind, nearest.Hint(c.Kind, Kinds()), strings.Join(Kinds(), ", "))
	}
	if len(c.Flash) > k.flash.Size {
		return nil, fmt.Errorf("virtual: %d bytes do not fit the flash of %s, which has %d", len(c.Flash), c.Kind, k.flash.Size)
	}
	k.usb.Strings[2] = c.Serial
	eeprom, err := ftdi.NewEEPROM(k.usb)
	if err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	b := &Board{config: c, chip: ftdi.New(eeprom), content: content{target: c.FPGA}, changed: make(chan struct{}, 1), writing: make(chan struct{})}
	b.circuit = newCircuit(k, b.chip, c.Seed, b.set)
	b.circuit.flash.Started = b.wrote
	copy(b.circuit.flash.Content(), c.Flash)
	if c.FPGA != nil {
		b.circuit.fpga.Preset()
	}
	b.chip.Wire(ftdi.A, b.circuit)
	b.SetBitErrors(c.BitErrors)
	b.chip.SetOverrun(ftdi.B, c.Overrun)
	return b, nil
}

// Device is the board's plug.
func (b *Board) Device() *usbdev.Device { return b.chip.Device() }

// Held is how many bytes of the UART's line the bridge holds, which the host has not read or the FPGA not received.
func (b *Board) Held() int { return b.chip.Held(ftdi.B) }

// SetBitErrors changes the chance of a bit on the UART's line to be turned over.
func (b *Board) SetBitErrors(chance float64) { b.chip.SetNoise(ftdi.B, chance, b.config.Seed) }

// PowerCycle takes the board from its host and gives it back, as who pulls the plug and puts it in again. What was being written to the flash
// is written in part, and the FPGA gets its image from there.
func (b *Board) PowerCycle() {
	b.Device().Unplug()
	b.Device().Do(b.circuit.powerCycle)
	b.Device().Plug()
}

// Reset resets the FPGA, which loads its image from the flash then. What was in it without an image is reset as a whole, if it can be (hostdrv.Resetter).
func (b *Board) Reset() error {
	b.mu.Lock()
	target := b.content.target
	b.mu.Unlock()
	if target != nil {
		if r, can := target.(hostdrv.Resetter); can {
			return r.Reset()
		}
		return ErrNoReset
	}
	b.Device().Do(b.circuit.reset)
	return nil
}

// ErrNoReset is of a target in the FPGA that cannot be reset.
var ErrNoReset = errors.New("virtual: the design in the FPGA has no reset")

// Status is what a board shows.
type Status struct {
	Kind, Serial string
	Plugged      bool // into USB, from where the power comes
	Attached     bool // to a host

	Done  bool            // the FPGA is configured
	Image *bitstream.File // what with, if the board has seen that
	Err   error           // what was wrong with the last image
	Baud  float64         // rate of the FPGA's UART; 0 if it is not known
	Flash spiflash.Counts
	Line  ftdi.LineCounts // of the UART
	USB   usbdev.Counts
	FPGA  *hostdrv.StatusProbe // nil if nothing runs there, or it cannot be looked at
	Lamps []Lamp               // of the FPGA, likewise
}

// Status returns it.
func (b *Board) Status() (s Status) {
	b.Device().Do(func() {
		s = Status{Done: b.circuit.fpga.Done(), Err: b.circuit.fpga.Err(), Flash: b.circuit.flash.Counts()}
	})
	s.Kind, s.Serial, s.Plugged, s.Attached = b.config.Kind, b.config.Serial, b.Device().Plugged(), b.Device().Attached()
	s.Line, s.USB = b.chip.LineCounts(ftdi.B), b.Device().Counts()
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Baud = b.baud(b.content)
	if b.content.image != nil {
		s.Image = b.content.image.File
	}
	if b.watched != nil {
		look := b.watched.Probe()
		s.FPGA, s.Lamps = &look, kinds[s.Kind].lamps(look)
	}
	return s
}

// Lamp is one that the FPGA drives.
type Lamp struct {
	Name string
	On   bool
}

// Flash returns a copy of what is in the flash.
func (b *Board) Flash() (content []byte) {
	b.Device().Do(func() { content = slices.Clone(b.circuit.flash.Content()) })
	return content
}

// wrote is called when the flash begins to write.
func (b *Board) wrote() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.writing)
	b.writing = make(chan struct{})
}

// nextWrite is closed when the flash next begins to write.
func (b *Board) nextWrite() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.writing
}

// set changes what is in the FPGA.
func (b *Board) set(c content) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.content = c
	b.loads++
	signal(b.changed)
}

// loaded is what is in the FPGA, and its number.
func (b *Board) loaded() (content, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content, b.loads
}

// signal leaves one in a channel that has room for one.
func signal(what chan struct{}) {
	select {
	case what <- struct{}{}:
	default:
	}
}

// Run runs the FPGA until ctx ends, which is no error. It may be called once.
func (b *Board) Run(ctx context.Context) error {
	if b.config.FPGA != nil {
		defer b.config.FPGA.Close() // for the second time, unless the FPGA has been configured before this
	}
	for ctx.Err() == nil {
		if err := b.runLoaded(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// runLoaded runs what is in the FPGA now until ctx ends or it has ended or something else is there.
func (b *Board) runLoaded(ctx context.Context) error {
	now, load := b.loaded()
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.runContent(running, now) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-b.changed:
			if _, last := b.loaded(); last != load { // else the signal is of what runs
				cancel()
				<-ended
				return nil
			}
		}
	}
}

// runContent runs what is in the FPGA until ctx ends.
func (b *Board) runContent(ctx context.Context, c content) error {
	target := c.target
	if c.err != nil {
		b.config.Log.Warn("the FPGA is not configured", "why", c.err)
	}
	if c.image != nil {
		var err error
		if target, err = b.design(ctx, c.image); err != nil && ctx.Err() == nil {
			b.config.Log.Warn("the FPGA is configured, and nobody is at its serial line", "why", err)
		}
	}
	if target == nil {
		<-ctx.Done()
		return nil
	}
	if w, can := target.(hostdrv.Observable); can && w.Watch() == nil {
		b.watch(w)
		defer b.watch(nil)
	}
	return pipe.Bridge(ctx, b.chip.UART(ftdi.B, b.baud(c)), target)
}

func (b *Board) watch(w hostdrv.Observable) {
	b.mu.Lock()
	b.watched = w
	b.mu.Unlock()
}

func (b *Board) design(ctx context.Context, image *ice40.Image) (hostdrv.Transport, error) {
	if b.config.Design == nil {
		return nil, errors.New("this board does not know any design")
	}
	return b.config.Design(ctx, image)
}
