package conformance_test

import (
	"testing"

	_ "github.com/stafflink/lmmc/hostdrv/serial"
	"github.com/stafflink/lmmc/hostdrv/serial/serialtest"
)

// TestSerial has the RTL behind its UART pins on a pseudo-terminal: one board, which remembers what the cases before have left.
func TestSerial(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute or two")
	}
	_, target := serialtest.Plug(t)
	conform(t, target, 2) // it cannot be reset, and its time does not stand still
}
