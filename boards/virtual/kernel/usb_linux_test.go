//go:build usb && cgo

package kernel_test

import (
	"testing"

	_ "github.com/stafflink/lmmc/hostdrv/transport/usb"
)

const usbTarget = "usb:0403:6010?serial=V1&" + rate

// TestUSB conforms over libusb, which takes the second channel from ftdi_sio, and gives it back.
func TestUSB(t *testing.T) {
	conform(t, usbTarget)
	until(t, "ftdi_sio has the channel again", func() bool { return ports() == 2 })
}

func TestReplugUSB(t *testing.T) { replug(t, usbTarget) }
