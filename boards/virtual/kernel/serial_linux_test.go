package kernel_test

import (
	"testing"

	_ "github.com/stafflink/lmmc/hostdrv/transport/serial"
)

// rate is low so that the suite does not do as much as it would on a fast board.
const rate = "baud=460800"

const serialTarget = "serial:/dev/ttyUSB1?" + rate

// TestSerial runs the cases that depend on ftdi_sio, over its port for the chip's second channel. TestUSB runs all cases through the same chip, and
// TestSerial of package conformance runs them all through the same transport.
func TestSerial(t *testing.T) {
	conform(t, serialTarget, "^(identity|buffer|flow|ports|performance|restart|unplug)/")
}

func TestReplugSerial(t *testing.T) { replug(t, serialTarget) }
