package boards

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// The ports that every wrapper has.
const (
	portClock  = "clk"
	portHostRx = "host_rx"
	portHostTx = "host_tx"
	portLinkTx = "link_tx"
	portLinkRx = "link_rx"
)

// Programmers are the values of Board.Programmer.
var Programmers = []string{"iceprog", "openFPGALoader"}

// chips lists the devices: block memories, and the bits of one.
var chips = map[string]struct{ memories, bits int }{
	"ice40/hx1k": {16, 4096}, "ice40/hx4k": {32, 4096}, "ice40/hx8k": {32, 4096},
	"ice40/lp1k": {16, 4096}, "ice40/lp4k": {32, 4096}, "ice40/lp8k": {32, 4096}, "ice40/up5k": {30, 4096},
	"ecp5/25k": {56, 18432}, "ecp5/45k": {108, 18432}, "ecp5/85k": {208, 18432},
}

// check returns why a board cannot be built.
func (b *Board) check() error {
	chip := b.FPGA.Family + "/" + b.FPGA.Device
	switch {
	case b.Title == "":
		return errors.New("title is missing: want the board's name")
	case chips[chip].bits == 0:
		return fmt.Errorf("fpga is %q: want family and device of one of %v", chip, slices.Sorted(maps.Keys(chips)))
	case b.FPGA.Package == "":
		return errors.New("fpga.package is missing: want nextpnr's name of the package, such as \"ct256\"")
	case !slices.Contains(Programmers, b.Programmer):
		return fmt.Errorf("programmer is %q: want one of %q", b.Programmer, Programmers)
	case b.USB.Vendor == 0 || b.USB.Product == 0:
		return errors.New("usb.vendor or usb.product is missing: want the IDs that lsusb shows, such as 0x0403 and 0x6010")
	case b.Clock.MHz <= 0:
		return errors.New("clock.mhz is missing: want the frequency of the oscillator")
	case b.verilog["boards/"+b.Name+"/top.v"] == nil: // a project's is there too
		return errors.New("there is no top.v beside it")
	case b.Config[b.Default] == nil:
		return fmt.Errorf("default is %q: want one of %v", b.Default, slices.Sorted(maps.Keys(b.Config)))
	}
	if err := b.checkPins(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(b.Config)) {
		if err := b.Config[name].check(); err != nil {
			return fmt.Errorf("config.%s: %w", name, err)
		}
	}
	return nil
}

func (b *Board) checkPins() error {
	for _, port := range []string{portClock, portHostRx, portHostTx} {
		if len(b.Pins[port]) != 1 {
			return fmt.Errorf("pins.%s is %q: want one pin", port, b.Pins[port])
		}
	}
	users := map[string]string{}
	for _, port := range slices.Sorted(maps.Keys(b.Pins)) {
		for i, ball := range b.Pins[port] {
			user := fmt.Sprintf("%s[%d]", port, i)
			if other, used := users[ball]; used {
				return fmt.Errorf("pin %s is used twice, by %s and %s", ball, other, user)
			}
			users[ball] = user
		}
	}
	return nil
}

func (c *Config) check() error {
	if c.MHz <= 0 || c.Baud <= 0 {
		return errors.New("mhz or baud is missing: want the clock of the network interface and the rate of the host's UART")
	}
	if c.Board.Design != nil {
		return c.checkOwn()
	}
	for _, of := range []struct {
		name               string
		value, least, most int
		power              bool
	}{
		{"links", c.Links, 1, linkproto.MaxVia, false},
		{"frames", c.Frames, 1, 256, false},
		{"page", c.Page, linkproto.MinPageBytes, linkproto.MaxPageBytes, true},
		{"replay", c.Replay, c.Params().MaxPacket(), 1 << 15, true},
		{"rx", c.Rx, c.Params().MaxPacket() + c.Params().Headroom + 16, 1 << 16, true},
	} {
		if of.value < of.least || of.value > of.most || of.power && of.value&(of.value-1) != 0 {
			kind := ""
			if of.power {
				kind = "a power of two from "
			}
			return fmt.Errorf("%s = %d: want %s%d to %d", of.name, of.value, kind, of.least, of.most)
		}
	}
	if c.Oversample != 0 && (c.Oversample < 3 || c.Oversample > 16) {
		return fmt.Errorf("oversample = %d: want 3 to 16 clocks a bit", c.Oversample)
	}
	for _, port := range []string{portLinkTx, portLinkRx} {
		if have := len(c.Board.Pins[port]); have < c.Links {
			return fmt.Errorf("pins.%s has %d pins: %d links need %[3]d", port, have, c.Links)
		}
	}
	if err := c.checkBaud(); err != nil {
		return err
	}
	if _, err := c.Board.pll(c.MHz); err != nil {
		return err
	}
	needed := 0
	for _, m := range c.Memories() {
		needed += m.Blocks
	}
	if have := chips[c.Board.FPGA.Family+"/"+c.Board.FPGA.Device].memories; needed > have {
		return fmt.Errorf("its memories need %d blocks and a %s has %d; the largest are%s", needed, c.Board.FPGA.Device, have, c.largest())
	}
	return nil
}

func (c *Config) checkBaud() error {
	divisor := c.Divisor()
	if divisor < 4 || divisor > 0xFFFF {
		return fmt.Errorf("baud = %d at %g MHz: want 4 to %d clocks a bit", c.Baud, c.MHz, 0xFFFF)
	}
	tolerance := 0.015 // the far end may be off by as much, and uart_rx bears 3.3 %,
	if divisor == 4 {
		tolerance = 0.01 // or 2 %
	}
	if got := c.MHz * 1e6 / float64(divisor); math.Abs(got/float64(c.Baud)-1) > tolerance {
		return fmt.Errorf("baud = %d is not possible at %g MHz: %d clocks a bit give %.0f, more than %g %% off", c.Baud, c.MHz, divisor, got, 100*tolerance)
	}
	return nil
}
