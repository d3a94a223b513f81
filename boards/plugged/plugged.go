// Package plugged tells which USB devices are plugged in, and which of them a board may be, from what Linux shows in
// sysfs. It opens no device and no port, so it disturbs nobody who uses one.
package plugged

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/udev"
)

// Errors of looking at what is plugged in.
var (
	ErrNoUSB      = errors.New("no USB found")
	ErrPermission = errors.New("no permission to use the board")
)

// Device is a USB device. A device that is plugged in again has another Address.
type Device struct {
	Port     string    `json:"port"` // where it is plugged in, as the kernel has it: bus, "-", and the hubs' ports with dots between
	Bus      int       `json:"bus"`
	Address  int       `json:"address"` // on its bus
	Vendor   uint16    `json:"vendor"`
	Product  uint16    `json:"product"`
	Serial   string    `json:"serial,omitempty"`
	Maker    string    `json:"maker,omitempty"` // as the device says
	Name     string    `json:"name,omitempty"`
	Channels []Channel `json:"channels"` // its interfaces, in order
}

// Channel is an interface of a device.
type Channel struct {
	Name string `json:"name"` // "A" for the first
	// Driver is the kernel's: "" for none, and Taken for an interface that a program has to itself.
	Driver string `json:"driver,omitempty"`
	Port   string `json:"port,omitempty"` // the serial port that it is, for example "/dev/ttyUSB1"
}

// Taken is the driver of an interface that a program has claimed.
const Taken = "usbfs"

func (d Device) String() string {
	text := fmt.Sprintf("%04x:%04x at port %s", d.Vendor, d.Product, d.Port)
	if name := strings.TrimSpace(d.Maker + " " + d.Name); name != "" {
		text = name + ", " + text
	}
	if d.Serial != "" {
		text += ", serial number " + d.Serial
	}
	return text
}

// Kind is what boards of one make look like on USB.
type Kind struct {
	Board   string `json:"board"`
	Vendor  uint16 `json:"vendor"`
	Product uint16 `json:"product"`
	// Name is part of what the device calls itself. Boards whose makers left the bridge chip's own name there have "".
	Name string `json:"name,omitempty"`
}

// Boards returns the names of the boards that a device may be. A device that calls itself by the name of a board is no other one.
func Boards(d Device, kinds []Kind) []string {
	var named, unnamed []string
	for _, k := range kinds {
		switch {
		case k.Vendor != d.Vendor || k.Product != d.Product:
		case k.Name == "":
			unnamed = append(unnamed, k.Board)
		case strings.Contains(strings.ToLower(d.Name), strings.ToLower(k.Name)):
			named = append(named, k.Board)
		}
	}
	if named != nil {
		return named
	}
	return unnamed
}

// System is where to look. The zero value is this machine.
type System struct {
	Sys string // "" for /sys
	Dev string // "" for /dev
}

// hubClass is the class of hubs, which are devices as well.
const hubClass = "09"

// Devices lists what is plugged in, by port. It is ErrNoUSB where the kernel shows no USB at all.
func (s System) Devices() ([]Device, error) {
	dir := filepath.Join(cmp.Or(s.Sys, "/sys"), "bus", "usb", "devices")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (no %s)", ErrNoUSB, dir)
	}
	if err != nil {
		return nil, err
	}
	var all []Device
	for _, e := range entries {
		if name := e.Name(); strings.Contains(name, "-") && !strings.Contains(name, ":") {
			// One that cannot be read is being unplugged.
			if d, ok := s.device(dir, name); ok {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b Device) int { return naturally(a.Port, b.Port) })
	return all, nil
}

func (s System) device(devices, name string) (d Device, ok bool) {
	dir := filepath.Join(devices, name)
	ok = attribute(dir, "bDeviceClass") != hubClass
	d = Device{Port: name, Serial: attribute(dir, "serial"), Maker: attribute(dir, "manufacturer"), Name: attribute(dir, "product")}
	number := func(file string, base int) int {
		n, err := strconv.ParseUint(attribute(dir, file), base, 16)
		ok = ok && err == nil
		return int(n)
	}
	d.Bus, d.Address = number("busnum", 10), number("devnum", 10)
	d.Vendor, d.Product = uint16(number("idVendor", 16)), uint16(number("idProduct", 16))
	interfaces, err := filepath.Glob(filepath.Join(devices, name+":*"))
	slices.Sort(interfaces)
	for i, dir := range interfaces {
		c := Channel{Name: string(rune('A' + i))}
		if driver, err := os.Readlink(filepath.Join(dir, "driver")); err == nil {
			c.Driver = filepath.Base(driver)
		}
		// Converters have the port below them, modems below their folder tty.
		for _, pattern := range []string{"ttyUSB*", "tty/tty*"} {
			if ports, err := filepath.Glob(filepath.Join(dir, pattern)); err == nil && len(ports) > 0 {
				c.Port = filepath.Join(cmp.Or(s.Dev, "/dev"), filepath.Base(ports[0]))
			}
		}
		d.Channels = append(d.Channels, c)
	}
	return d, ok && err == nil
}

// Permission says whether this process may speak to a device: nil, ErrPermission with what helps, or that it has gone.
func (s System) Permission(d Device) error {
	node := filepath.Join(cmp.Or(s.Dev, "/dev"), "bus", "usb", fmt.Sprintf("%03d", d.Bus), fmt.Sprintf("%03d", d.Address))
	err := unix.Access(node, unix.R_OK|unix.W_OK)
	if errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w (%v): %s", ErrPermission, d, udev.Advice(d.Vendor))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", node, err)
	}
	return nil
}

func attribute(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// naturally compares ports so that 1-10 comes after 1-2.
func naturally(a, b string) int {
	numbers := func(s string) (all []int) {
		for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '-' || r == '.' }) {
			n, _ := strconv.Atoi(word)
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(numbers(a), numbers(b))
}
