// Package udev has the rules by which Linux lets users have the boards that are plugged in.
package udev

import (
	"fmt"
	"strings"
)

// File is where the rules go. The rule that heeds the tag uaccess has the number 73, so those that set it must come before.
const File = "/etc/udev/rules.d/70-lmmc.rules"

// FTDI is the vendor number of the usual bridge chips.
const FTDI = 0x0403

// Rules gives boards with a chip of FTDI, or of further vendors, to the user at the machine's seat and to the group that has serial ports:
// their serial ports, and the chip itself for programs that speak to it. Serial ports of FTDI pass on what has come after 1 ms, not 16.
func Rules(further ...uint16) string {
	var b strings.Builder
	b.WriteString("# Boards for their users. Written by lmmc udev.\n")
	for _, vendor := range append([]uint16{FTDI}, further...) {
		fmt.Fprintf(&b, `SUBSYSTEM=="tty", ATTRS{idVendor}=="%04x", GROUP="dialout", MODE="0660", TAG+="uaccess"`+"\n", vendor)
		fmt.Fprintf(&b, `SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="%04x", GROUP="dialout", MODE="0660", TAG+="uaccess"`+"\n", vendor)
	}
	b.WriteString(`SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"` + "\n")
	return b.String()
}

// Advice tells a user who has no permission to use a board of a vendor what helps.
func Advice(vendor uint16) string {
	flag := ""
	if vendor != FTDI {
		flag = fmt.Sprintf(" --vendor %04x", vendor)
	}
	return "sudo lmmc udev" + flag + " gives access to the logged-in user and to the group dialout"
}
