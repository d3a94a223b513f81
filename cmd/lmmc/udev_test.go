package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestHeedRules holds what udev is told, and that it is said when udev cannot be told.
func TestHeedRules(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	check.Fails(t, "reload without udevadm", reloadRules(t.Context()), nil, "plug them in again")
	script := "#!/bin/sh\necho \"$@\" >>" + filepath.Join(dir, "told") + "\n"
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "udevadm"), []byte(script), 0o755))
	check.Fatal(t, reloadRules(t.Context()))
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if want := "control --reload\ntrigger --subsystem-match=tty --subsystem-match=usb --subsystem-match=usb-serial\n"; string(told) != want || err != nil {
		t.Errorf("udev was told %q, %v", told, err)
	}
}
