//go:build usb && cgo

package kernel_test

import (
	"testing"

	_ "github.com/stafflink/lmmc/hostdrv/transport/usb"
)

const usbTarget = "usb:0403:6010?serial=V1&" + rate

// TestUSB runs the conformance suite over libusb, which detaches ftdi_sio from the second channel and reattaches it.
func TestUSB(t *testing.T) {
	conform(t, usbTarget)
	until(t, "ftdi_sio has the channel again", func() bool { return ports() == 2 })
}

func TestReplugUSB(t *testing.T) { replug(t, usbTarget) }
