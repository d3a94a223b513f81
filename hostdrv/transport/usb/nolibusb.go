//go:build !usb || !cgo

package usb

func openBus() (bus, error) { return nil, ErrNotBuilt }
