// Package pluggedtest makes folders that look like /sys and /dev of a machine with USB devices.
package pluggedtest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stafflink/lmmc/boards/plugged"
)

// New makes a machine below a folder, with a root hub and a hub, which are devices that nobody looks for.
func New(dir string) (plugged.System, error) {
	s := plugged.System{Sys: filepath.Join(dir, "sys"), Dev: filepath.Join(dir, "dev")}
	for _, hub := range []struct {
		name    string
		address int
	}{{"usb1", 1}, {"1-1", 2}} {
		if err := attributes(s, hub.name, map[string]string{
			"bDeviceClass": "09", "busnum": "1", "devnum": fmt.Sprint(hub.address), "idVendor": "1d6b", "idProduct": "0002", "serial": "hub",
		}); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Plug plugs a device in.
func Plug(s plugged.System, d plugged.Device) error {
	texts := map[string]string{
		"bDeviceClass": "00", "busnum": fmt.Sprint(d.Bus), "devnum": fmt.Sprint(d.Address),
		"idVendor": fmt.Sprintf("%04x", d.Vendor), "idProduct": fmt.Sprintf("%04x", d.Product),
	}
	for name, text := range map[string]string{"serial": d.Serial, "manufacturer": d.Maker, "product": d.Name} {
		if text != "" {
			texts[name] = text
		}
	}
	if err := attributes(s, d.Port, texts); err != nil {
		return err
	}
	for i, c := range d.Channels {
		name := fmt.Sprintf("%s:1.%d", d.Port, i)
		if err := attributes(s, name, map[string]string{"bInterfaceNumber": fmt.Sprintf("%02d", i)}); err != nil {
			return err
		}
		dir := filepath.Join(devices(s), name)
		if c.Driver != "" {
			if err := os.Symlink(filepath.Join("..", "..", "drivers", c.Driver), filepath.Join(dir, "driver")); err != nil {
				return err
			}
		}
		if c.Port != "" {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Base(c.Port), "tty", filepath.Base(c.Port)), 0o755); err != nil {
				return err
			}
		}
	}
	node := Node(s, d)
	if err := os.MkdirAll(filepath.Dir(node), 0o755); err != nil {
		return err
	}
	return os.WriteFile(node, nil, 0o660)
}

// Unplug takes a device out.
func Unplug(s plugged.System, d plugged.Device) error {
	gone, err := filepath.Glob(filepath.Join(devices(s), d.Port+"*"))
	for _, dir := range gone {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return os.Remove(Node(s, d))
}

// Node is the file by which programs speak to a device.
func Node(s plugged.System, d plugged.Device) string {
	return filepath.Join(s.Dev, "bus", "usb", fmt.Sprintf("%03d", d.Bus), fmt.Sprintf("%03d", d.Address))
}

func devices(s plugged.System) string { return filepath.Join(s.Sys, "bus", "usb", "devices") }

func attributes(s plugged.System, name string, texts map[string]string) error {
	dir := filepath.Join(devices(s), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for file, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
