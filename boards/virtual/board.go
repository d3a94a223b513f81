// Package virtual is a virtual development board: a USB bridge chip (package ftdi), a serial flash (spiflash), and an FPGA
// that the flash or the bridge configures (ice40). The bridge's second channel is the UART of the network interface in the FPGA.
// Package usbip exports the board to other programs and machines, which use it as they use a real one.
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

// kind describes a type of board.
type kind struct {
	usb    usbdev.Identity
	device bitstream.Device
	flash  spiflash.Part
	leds   func(hostdrv.StatusProbe) []LED // as its top.v wires them
}

var kinds = map[string]kind{
	"hx8k": {
		usb:    usbdev.Identity{Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 500, Strings: [3]string{"Lattice", "Lattice FTUSB Interface Cable"}},
		device: bitstream.Die("hx8k"), flash: spiflash.N25Q032A,
		leds: func(l hostdrv.StatusProbe) []LED {
			return []LED{{"LED0, alive", l.Alive}, {"LED1, host", l.Host}, {"LED2, links", l.Link}}
		},
	},
	"icebreaker": {
		usb:    usbdev.Identity{Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 500, Strings: [3]string{"1BitSquared", "iCEBreaker V1.0e"}},
		device: bitstream.Die("up5k"), flash: spiflash.W25Q128JV,
		leds: func(l hostdrv.StatusProbe) []LED {
			return []LED{{"green, alive", l.Alive}, {"red, traffic", l.Host || l.Link}}
		},
	},
}

// Kinds lists the names of all virtual boards.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// IsKind reports whether a virtual board has that name.
func IsKind(name string) bool {
	_, known := kinds[name]
	return known
}

// Config describes a board.
type Config struct {
	Kind   string // one of Kinds
	Serial string // number, which tells boards of a kind apart; "" for none
	Seed   uint64 // of all random choices, such as the flash's content after a loss of power
	// Flash is the content of the flash, from its beginning.
	Flash []byte
	// FPGA is the target in the FPGA until the FPGA is reset, as if it were configured already. nil: the flash configures the FPGA. The
	// board closes it.
	FPGA hostdrv.Transport
	// Baud is the rate of FPGA's UART in bits a second; 0: the rate that the host sets. An image has a rate of its own.
	Baud float64
	// BitErrors is the bit error rate of the UART's line.
	BitErrors float64
	// Overrun is how long the bridge's buffer may be full before the bridge drops what the FPGA sends. 0: the FPGA waits until the host reads.
	Overrun time.Duration
	// Design opens the design that an image configures; the board closes it. With nil or an error nothing answers on the serial line.
	Design func(context.Context, *ice40.Image) (hostdrv.Transport, error)
	Log    *slog.Logger // nil: none
}

// Board is a board. Its FPGA works while Run runs.
type Board struct {
	config  Config
	chip    *ftdi.Chip
	circuit *circuit

	mu      sync.Mutex
	content content
	loads   int                // how often content has changed
	watched hostdrv.Observable // the design in the FPGA; nil if it has no status probe
	changed chan struct{}
	writing chan struct{} // closed when the flash next begins to write
}

// content is the design in the FPGA: none if all are nil, or if the FPGA refused the last image.
type content struct {
	image  *ice40.Image
	target hostdrv.Transport
	uart   *ftdi.UART // of target
	err    error
}

// baud is the rate of the design's UART; 0: unknown.
func (b *Board) baud(c content) float64 {
	if c.image == nil {
		return b.config.Baud
	}
	if c.image.Info == nil {
		return 0
	}
	rate, err := strconv.ParseFloat(c.image.Info.Params["baud"], 64)
	if err != nil || !(rate > 0 && rate <= fastest) {
		return 0
	}
	return rate
}

// fastest is more than any UART of an FPGA does, in bits a second. A receiver of a rate without end would never be done.
const fastest = 1e9

// New returns a board that is plugged in.
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
		b.content.uart = b.chip.UART(ftdi.B, c.Baud)
	}
	b.chip.Wire(ftdi.A, b.circuit)
	b.SetBitErrors(c.BitErrors)
	b.chip.SetOverrun(ftdi.B, c.Overrun)
	return b, nil
}

// Device is the board's plug.
func (b *Board) Device() *usbdev.Device { return b.chip.Device() }

// Held returns how many bytes the bridge buffers between the host and the FPGA.
func (b *Board) Held() int { return b.chip.Held(ftdi.B) }

// SetBitErrors changes the bit error rate of the UART's line.
func (b *Board) SetBitErrors(chance float64) { b.chip.SetNoise(ftdi.B, chance, b.config.Seed) }

// PowerCycle unplugs the board and plugs it in again. A write to the flash that is in progress
// stops halfway, and the FPGA loads its image from the flash.
func (b *Board) PowerCycle() {
	b.Device().Unplug()
	b.Device().Do(b.circuit.powerCycle)
	b.Device().Plug()
}

// Reset resets the FPGA, which then loads its image from the flash. A design without an image is reset itself, if it is a hostdrv.Resetter.
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

// ErrNoReset means that the target in the FPGA cannot be reset.
var ErrNoReset = errors.New("virtual: the design in the FPGA has no reset")

// Status is the visible state of a board.
type Status struct {
	Kind, Serial string
	Plugged      bool // into USB, which powers the board
	Attached     bool // to a host

	Done  bool            // the FPGA is configured
	Image *bitstream.File // that configured it, if the board has read it
	Err   error           // what was wrong with the last image
	Baud  float64         // rate of the FPGA's UART; 0 if it is not known
	Flash spiflash.Counts
	Line  ftdi.LineCounts // of the UART
	USB   usbdev.Counts
	FPGA  *hostdrv.StatusProbe // nil if the FPGA is empty or its design has no status probe
	LEDs  []LED                // of the FPGA, likewise
}

// Status returns the board's state.
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
		s.FPGA, s.LEDs = &look, kinds[s.Kind].leds(look)
	}
	return s
}

// LED is an LED that the FPGA drives.
type LED struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// Flash returns a copy of the flash's content.
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

// set changes the FPGA's content.
func (b *Board) set(c content) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.content = c
	b.loads++
	signal(b.changed)
}

// loaded returns the FPGA's content, and how often it has changed.
func (b *Board) loaded() (content, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content, b.loads
}

// signal puts a value into a channel with room for one, unless it holds one.
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

// runLoaded runs the FPGA's content until ctx ends, the content ends or another one replaces it.
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
			if _, last := b.loaded(); last != load { // else the signal was for this content
				cancel()
				<-ended
				return nil
			}
		}
	}
}

// runContent runs the FPGA's content until ctx ends.
func (b *Board) runContent(ctx context.Context, c content) error {
	target, uart := c.target, c.uart
	if c.err != nil {
		b.config.Log.Warn("the FPGA is not configured", "why", c.err)
	}
	if c.image != nil {
		uart = b.chip.UART(ftdi.B, b.baud(c)) // what the host sends while the simulation is made would be lost
		var err error
		if target, err = b.design(ctx, c.image); err != nil && ctx.Err() == nil {
			b.config.Log.Warn("the FPGA is configured, but nothing answers on its serial line", "why", err)
		}
	}
	if target == nil {
		if uart != nil {
			uart.Close()
		}
		<-ctx.Done()
		return nil
	}
	if w, can := target.(hostdrv.Observable); can && w.Watch() == nil {
		b.watch(w)
		defer b.watch(nil)
	}
	return pipe.Bridge(ctx, uart, target)
}

func (b *Board) watch(w hostdrv.Observable) {
	b.mu.Lock()
	b.watched = w
	b.mu.Unlock()
}

func (b *Board) design(ctx context.Context, image *ice40.Image) (hostdrv.Transport, error) {
	if b.config.Design == nil {
		return nil, errors.New("this board has no way to simulate an image")
	}
	return b.config.Design(ctx, image)
}
