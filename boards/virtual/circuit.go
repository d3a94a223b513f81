package virtual

import (
	"time"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/boards/virtual/ice40"
	"github.com/stafflink/lmmc/boards/virtual/spiflash"
)

// Pins of the bridge's first channel, the same on all boards that iceprog supports.
const (
	pinClock = 0
	pinOut   = 1
	pinIn    = 2
	pinCS    = 4
	pinDone  = 6
	pinReset = 7
)

// circuit connects the bridge, the flash and the FPGA: select goes to both, and so does data from the bridge, as with the jumpers set for both ways
// to configure. Undriven lines are pulled up. The lock of the bridge's device protects it.
type circuit struct {
	flash *spiflash.Flash
	fpga  *ice40.Port
}

func newCircuit(k kind, chip *ftdi.Chip, seed uint64, set func(content)) *circuit {
	c := &circuit{flash: spiflash.New(k.flash, seed)}
	c.fpga = ice40.New(ice40.Config{
		Device: k.device, Flash: c.flash,
		Changed: func(image *ice40.Image) { set(content{image: image}) },
		Failed:  func(err error) { set(content{err: err}) },
		After:   func(wait time.Duration) { time.AfterFunc(wait, func() { chip.Device().Do(c.fpga.Tick) }) },
	})
	return c
}

// Drive implements ftdi.Pins.
func (c *circuit) Drive(value, driven uint16) (levels uint16) {
	levels = value | ^driven
	level := func(pin int) bool { return levels>>pin&1 != 0 }
	held, selected, clock, out := !level(pinReset), !level(pinCS), level(pinClock), level(pinOut)
	high, drives := c.flash.Pins(selected, clock, out)
	c.fpga.Pins(held, selected, clock, out)
	if drives && !high {
		levels &^= 1 << pinIn
	}
	if !c.fpga.Done() {
		levels &^= 1 << pinDone
	}
	return levels
}

// Shift implements ftdi.Shifter.
func (c *circuit) Shift(value, driven uint16, out byte) (in byte) {
	in = 0xFF
	if selected := (value|^driven)>>pinCS&1 == 0; selected {
		in = c.flash.Byte(out)
		c.fpga.Byte(out)
	}
	return in
}

// reset pulls the FPGA's reset low for a moment, as its button does; the bridge drives nothing meanwhile.
func (c *circuit) reset() {
	c.fpga.Pins(true, false, false, false)
	c.fpga.Pins(false, false, false, false)
}

// powerCycle cuts the power for a moment.
func (c *circuit) powerCycle() {
	c.flash.PowerCycle()
	c.fpga.Pins(true, false, false, false)
	c.Drive(0, 0)
}
