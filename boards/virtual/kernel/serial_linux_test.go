package kernel_test

import (
	"testing"

	_ "github.com/stafflink/lmmc/hostdrv/transport/serial"
)

// rate is low so that the suite does not do as much as it would on a fast board.
const rate = "baud=460800"

const serialTarget = "serial:/dev/ttyUSB1?" + rate

// TestSerial runs the conformance suite over ftdi_sio's port for the chip's second channel.
func TestSerial(t *testing.T) {
	conform(t, serialTarget)
}

func TestReplugSerial(t *testing.T) { replug(t, serialTarget) }
