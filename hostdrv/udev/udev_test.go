package udev_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/udev"
	"github.com/stafflink/lmmc/internal/check"
)

func TestRules(t *testing.T) {
	rules := udev.Rules(0x1d50)
	for _, vendor := range []string{"0403", "1d50"} {
		for _, key := range []string{`SUBSYSTEM=="tty", ATTRS{idVendor}=="`, `SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="`} {
			check.Contains(t, "rules", rules, "\n"+key+vendor+`", `)
		}
	}
	if strings.Contains(udev.Advice(udev.FTDI), "--vendor") || !strings.Contains(udev.Advice(0x1d50), "lmmc udev --vendor 1d50 ") {
		t.Errorf("%s; %s", udev.Advice(udev.FTDI), udev.Advice(0x1d50))
	}
}

// TestUdevTakesTheRules lets udev itself look at them, where it is there and can.
func TestUdevTakesTheRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "70-lmmc.rules")
	check.Fatal(t, os.WriteFile(file, []byte(udev.Rules(0x1d50)), 0o600))
	out, err := exec.Command("udevadm", "verify", file).CombinedOutput()
	if err != nil && !strings.Contains(string(out), file) {
		t.Skipf("no udevadm that verifies rules: %v", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
