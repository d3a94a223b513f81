package vhci_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/boards/virtual/vhci"
	"github.com/stafflink/lmmc/internal/check"
)

// status is the kernel's status file with a device at port 0.
const status = `hub port sta spd dev      sockfd local_busid
hs  0000 006 003 00010002 000003 1-1
hs  0001 004 000 00000000 000000 0-0
hs  0002 004 000 00000000 000000 0-0
ss  0008 004 000 00000000 000000 0-0
`

func TestAttach(t *testing.T) {
	dir := t.TempDir()
	check.Fails(t, "without a kernel", check.Err(vhci.Attach(dir, 5, 1)), vhci.ErrNoKernel)
	write := func(name, text string) {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("status", status)
	write("attach", "")
	check.Equal(t, "free ports", check.Must(vhci.Free(dir))(t), []int{1, 2})
	check.Equal(t, "port", check.Must(vhci.Attach(dir, 5, 0x10002))(t), 1)
	if text, _ := os.ReadFile(filepath.Join(dir, "attach")); string(text) != "1 5 65538 3" {
		t.Errorf("%q", text)
	}
	write("status", "hub port sta spd dev sockfd local_busid\nhs 0000 006 003 00010002 000003 1-1\n")
	check.Fails(t, "all ports are taken", check.Err(vhci.Attach(dir, 5, 1)), vhci.ErrFull)
	write("status", "hs zero 004\n")
	check.Fails(t, "a port that is not a number", check.Err(vhci.Attach(dir, 5, 1)), nil)
}
