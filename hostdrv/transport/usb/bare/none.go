//go:build !usb || !cgo

package bare

import (
	"time"

	"github.com/stafflink/lmmc/hostdrv/transport/usb"
)

// Built says whether the program has libusb in it.
const Built = false

// Run cannot.
func (Loop) Run() (time.Duration, error) { return 0, usb.ErrNotBuilt }
