package flash_test

import (
	"context"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/flash/flashtest"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
	"github.com/stafflink/lmmc/internal/check"
)

// TestInterruptedErase stops a write while the flash is busy: until that is over it does not even say who it is.
func TestInterruptedErase(t *testing.T) {
	onEach(t, func(d *desk) {
		d.breaks(flashtest.Hangs, flashtest.Absent)
		_, err := flash.Write(d.untilHanging(), d.job)
		d.fails(err, context.Canceled, "the old contents of the flash are restored")
		d.holds(d.old, "what it held before")
	})
}

// TestUnchangedAsleep has the bitstream in the flash already, and the FPGA does not start from it.
func TestUnchangedAsleep(t *testing.T) {
	onEach(t, func(d *desk) {
		d.job.Data = d.old
		d.breaks(flashtest.Dozes)
		_, err := flash.Write(d.Context(), d.job)
		d.fails(err, flash.ErrNotStarted, "though the flash holds the bitstream", "jumpers")
	})
}

// TestShorter writes a bitstream over one that has more blocks, and is interrupted.
func TestShorter(t *testing.T) {
	const block = 64 << 10
	short := bitstreamtest.Pack(t, "8k", bitstream.Info{Board: "hx8k", Params: spoken("3")}.Comment(), nil, "-n") // without block RAMs
	onEach(t, func(d *desk) {
		d.job.Data = short
		if (len(d.job.Data)+block-1)/block >= (len(d.old)+block-1)/block {
			d.Fatalf("%d bytes are as many blocks as %d", len(d.job.Data), len(d.old))
		}
		d.breaks(flashtest.Hangs)
		_, err := flash.Write(d.untilHanging(), d.job)
		d.fails(err, context.Canceled, "the old contents of the flash are restored")
		d.holds(d.old, "what it held before")
	})
}

// TestUnpluggedTwice: the second attempt finds a flash that is half written, and is interrupted. What the first one found is restored.
func TestUnpluggedTwice(t *testing.T) {
	onEach(t, func(d *desk) {
		d.breaks(flashtest.Unplugs)
		_, err := flash.Write(d.Context(), d.job)
		d.fails(err, flash.ErrUnplugged)
		check.Fatal(d, pluggedtest.Plug(d.Machine(), onDesk))
		d.breaks(flashtest.Hangs)
		_, err = flash.Write(d.untilHanging(), d.job)
		d.fails(err, context.Canceled, "the old contents of the flash are restored")
		d.holds(d.old, "what it held before the first attempt")
		check.Must(flash.Write(d.Context(), d.job))(d)
		if kept := d.keptFiles(); kept != nil {
			d.Errorf("left behind: %v", kept)
		}
	})
}
