// Package virtual is a development board that exists only as a program: a USB bridge chip (package ftdi) and, behind the serial line of its
// second channel, a network interface. Package usbip exports it to other programs and machines, which cannot tell it from one on the desk.
package virtual

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/pipe"
)

// kinds says how the boards that there are describe themselves on USB.
var kinds = map[string]usbdev.Identity{
	"hx8k":       {Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 500, Strings: [3]string{"Lattice", "Lattice FTUSB Interface Cable"}},
	"icebreaker": {Vendor: ftdi.Vendor, Product: ftdi.Product, MilliAmps: 500, Strings: [3]string{"1BitSquared", "iCEBreaker V1.0e"}},
}

// Kinds lists the boards that there are.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Config says what a board is.
type Config struct {
	Kind   string // one of Kinds
	Serial string // number, which tells boards of a kind apart; "" for none
	// FPGA is the target that is behind the serial line.
	FPGA hostdrv.Transport
}

// Board is a board. Run has to be called for it to do anything but describe itself.
type Board struct {
	chip *ftdi.Chip
	fpga hostdrv.Transport
}

// New makes a board that is plugged in. The board closes the target when it ends.
func New(c Config) (*Board, error) {
	id, known := kinds[c.Kind]
	if !known {
		return nil, fmt.Errorf("virtual: no board %q; there are %s", c.Kind, strings.Join(Kinds(), ", "))
	}
	id.Strings[2] = c.Serial
	eeprom, err := ftdi.NewEEPROM(id)
	if err != nil {
		return nil, err
	}
	return &Board{chip: ftdi.New(eeprom), fpga: c.FPGA}, nil
}

// Device is the board's plug.
func (b *Board) Device() *usbdev.Device { return b.chip.Device() }

// Run runs the FPGA until ctx ends, which is no error. It may be called once.
func (b *Board) Run(ctx context.Context) error {
	err := pipe.Bridge(ctx, b.chip.UART(ftdi.B), b.fpga)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
