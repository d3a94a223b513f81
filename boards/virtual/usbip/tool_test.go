package usbip_test

import (
	"net"
	"os/exec"
	"testing"

	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/internal/check"
)

// TestUsbipLists has the system's own program list what a server exports.
func TestUsbipLists(t *testing.T) {
	tool, err := exec.LookPath("usbip")
	if err != nil {
		t.Skip("there is no usbip; scripts/deps test installs it")
	}
	l := serve(t, usbip.Export{BusID: "1-1", Device: newEcho().device}, usbip.Export{BusID: "1-2", Device: newEcho().device})
	_, port, err := net.SplitHostPort(l.String())
	check.Fatal(t, err)
	out, err := exec.CommandContext(t.Context(), tool, "--tcp-port", port, "list", "-r", "127.0.0.1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	check.Contains(t, "usbip list", string(out), "1-1: ", "(1209:0001)", "1-2:", "/sys/devices/lmmc/1-2", "0 - Vendor Specific Class")
}
