package conformance_test

import (
	"testing"

	_ "github.com/stafflink/lmmc/hostdrv/transport/serial"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/serialtest"
)

// TestSerial has the RTL behind its UART pins on a pseudo-terminal: one board, which remembers what the cases before have left.
func TestSerial(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute or two")
	}
	_, target := serialtest.Plug(t)
	conform(t, target, 7) // it cannot be reset, and its time does not stand still
}

// TestCompareSerial compares that board, whose time is wall-clock time, with the model.
func TestCompareSerial(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	_, target := serialtest.Plug(t)
	agree(t, target, "model:?links=2&frames=8&page=256", conformance.CompareOptions{Steps: 120})
}
