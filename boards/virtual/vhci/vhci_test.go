package vhci_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/boards/virtual/vhci"
	"github.com/stafflink/lmmc/internal/check"
)

// status is what the kernel's file says when something is plugged in at port 0.
const status = `hub port sta spd dev      sockfd local_busid
hs  0000 006 003 00010002 000003 1-1
hs  0001 004 000 00000000 000000 0-0
hs  0002 004 000 00000000 000000 0-0
ss  0008 004 000 00000000 000000 0-0
`

func TestAttach(t *testing.T) {
	dir := t.TempDir()
	if _, err := vhci.Attach(dir, 5, 1); !errors.Is(err, vhci.ErrNoKernel) {
		t.Errorf("without a kernel: %v", err)
	}
	write := func(name, text string) {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("status", status)
	write("attach", "")
	write("detach", "")
	if ports, err := vhci.Free(dir); err != nil || !slices.Equal(ports, []int{1, 2}) {
		t.Errorf("%v %v", ports, err)
	}
	port, err := vhci.Attach(dir, 5, 0x10002)
	if err != nil || port != 1 {
		t.Errorf("port %d, %v", port, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "attach")); string(text) != "1 5 65538 3" {
		t.Errorf("%q", text)
	}
	check.Error(t, vhci.Detach(dir, 1))
	if text, _ := os.ReadFile(filepath.Join(dir, "detach")); string(text) != "1" {
		t.Errorf("%q", text)
	}
	write("status", "hub port sta spd dev sockfd local_busid\nhs 0000 006 003 00010002 000003 1-1\n")
	if _, err := vhci.Attach(dir, 5, 1); !errors.Is(err, vhci.ErrFull) {
		t.Errorf("all ports are taken: %v", err)
	}
	write("status", "hs zero 004\n")
	if _, err := vhci.Attach(dir, 5, 1); err == nil {
		t.Error("a port that is no number")
	}
}
