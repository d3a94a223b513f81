package flash

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/boards/plugged"
)

// Find returns the one board of a kind that is plugged in, or the one with a serial number, if it can be written to now.
func Find(s plugged.System, b Board, kinds []plugged.Kind, serial string) (plugged.Device, error) {
	all, err := s.Devices()
	if err != nil {
		return plugged.Device{}, fmt.Errorf("%w: %w", ErrNoBoard, err)
	}
	var fits, others []plugged.Device
	for _, d := range all {
		switch names := plugged.Boards(d, kinds); {
		case slices.Contains(names, b.Name) && (serial == "" || d.Serial == serial):
			fits = append(fits, d)
		case len(names) > 0:
			others = append(others, d)
		}
	}
	switch {
	case len(fits) > 1 && serial == "":
		return plugged.Device{}, fmt.Errorf("%w that may be %s: choose one with --serial%s", ErrSeveral, b.Name, list(fits))
	case len(fits) > 1:
		return plugged.Device{}, fmt.Errorf("%w with serial number %s: unplug all but one%s", ErrSeveral, serial, list(fits))
	case len(fits) == 0:
		what := b.Name
		if serial != "" {
			what += " with serial number " + serial
		}
		return plugged.Device{}, fmt.Errorf("%w: no %s (%04x:%04x)%s", ErrNoBoard, what, b.USB.Vendor, b.USB.Product, list(others))
	}
	d := fits[0]
	if len(d.Channels) > 0 && d.Channels[0].Driver == plugged.Taken { // both boards' flashes are at channel A
		return d, fmt.Errorf("%w: channel A of %v is open: end the program that uses it, such as one with usb: interface A", ErrBusy, d)
	}
	return d, s.Permission(d)
}

func list(devices []plugged.Device) string {
	if len(devices) == 0 {
		return ""
	}
	var b strings.Builder
	for _, d := range devices {
		fmt.Fprintf(&b, "\n  %v", d)
	}
	return "; plugged in:" + b.String()
}
