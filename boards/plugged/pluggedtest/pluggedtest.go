// Package pluggedtest makes folders that look like /sys and /dev of a machine with USB devices.
package pluggedtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/internal/try"
)

// New makes a machine below a folder, with a root hub and a hub, which are devices that nobody looks for.
func New(dir string) (plugged.System, error) {
	s := plugged.System{Sys: filepath.Join(dir, "sys"), Dev: filepath.Join(dir, "dev")}
	return s, try.Run(func() {
		for i, hub := range []string{"usb1", "1-1"} {
			attributes(s, hub, map[string]string{
				"bDeviceClass": "09", "busnum": "1", "devnum": fmt.Sprint(i + 1), "idVendor": "1d6b", "idProduct": "0002", "serial": "hub",
			})
		}
	})
}

// Plug plugs a device in.
func Plug(s plugged.System, d plugged.Device) error { return try.Run(func() { plug(s, d) }) }

func plug(s plugged.System, d plugged.Device) {
	texts := map[string]string{
		"bDeviceClass": "00", "busnum": fmt.Sprint(d.Bus), "devnum": fmt.Sprint(d.Address),
		"idVendor": fmt.Sprintf("%04x", d.Vendor), "idProduct": fmt.Sprintf("%04x", d.Product),
	}
	for name, text := range map[string]string{"serial": d.Serial, "manufacturer": d.Maker, "product": d.Name} {
		if text != "" {
			texts[name] = text
		}
	}
	attributes(s, d.Port, texts)
	for i, c := range d.Channels {
		name := fmt.Sprintf("%s:1.%d", d.Port, i)
		attributes(s, name, map[string]string{"bInterfaceNumber": fmt.Sprintf("%02d", i)})
		dir := filepath.Join(devices(s), name)
		if c.Driver != "" {
			try.OK(os.Symlink(filepath.Join("..", "..", "drivers", c.Driver), filepath.Join(dir, "driver")))
		}
		if c.Port != "" {
			try.OK(os.MkdirAll(filepath.Join(dir, filepath.Base(c.Port), "tty", filepath.Base(c.Port)), 0o755))
		}
	}
	node := Node(s, d)
	try.OK(os.MkdirAll(filepath.Dir(node), 0o755), os.WriteFile(node, nil, 0o660))
}

// Unplug takes a device out.
func Unplug(s plugged.System, d plugged.Device) error {
	gone, err := filepath.Glob(filepath.Join(devices(s), d.Port+"*"))
	for _, dir := range gone {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return errors.Join(err, os.Remove(Node(s, d)))
}

// Node is the file by which programs speak to a device.
func Node(s plugged.System, d plugged.Device) string {
	return filepath.Join(s.Dev, "bus", "usb", fmt.Sprintf("%03d", d.Bus), fmt.Sprintf("%03d", d.Address))
}

func devices(s plugged.System) string { return filepath.Join(s.Sys, "bus", "usb", "devices") }

func attributes(s plugged.System, name string, texts map[string]string) {
	dir := filepath.Join(devices(s), name)
	try.OK(os.MkdirAll(dir, 0o755))
	for file, text := range texts {
		try.OK(os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644))
	}
}
