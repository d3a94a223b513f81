package kernel_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// tools are the programmers, the tools that make images, and those that are not for FPGAs. A guest has those installed on the machine.
func tools() (have []string) {
	for _, name := range []string{"iceprog", "openFPGALoader", "icepack", "iceunpack", "flashrom", "ftdi_eeprom"} {
		if path, err := exec.LookPath(name); err == nil {
			have = append(have, path)
		}
	}
	return have
}

// uses runs a tool in a folder, and returns its output.
func uses(t *testing.T, dir, tool string, args ...string) string {
	t.Helper()
	needs(t, tool)
	cmd := exec.CommandContext(t.Context(), tool, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", tool, args, err, text)
	}
	t.Logf("%s %q:\n%s", tool, args, text)
	return string(text)
}

// TestFlashrom detects the flash by flashrom, and writes, verifies and reads a part of it.
func TestFlashrom(t *testing.T) {
	const size, from, to = 4 << 20, 0x100000, 0x100FFF
	pluggedIn(t)
	dir := t.TempDir()
	// The flash is selected by ADBUS4, and ADBUS7 low keeps the FPGA from it.
	board := []string{"-p", "ft2232_spi:type=2232H,port=A,gpiol0=C,gpiol3=L"}
	if text := uses(t, dir, "flashrom", append(board, "--flash-size")...); !strings.Contains(text, fmt.Sprint(size)) {
		t.Errorf("the flash is not recognized: %s", text)
	}
	image := make([]byte, size)
	for i, rng := from, rand.New(rand.NewPCG(1, 10)); i <= to; i++ {
		image[i] = byte(rng.Uint32())
	}
	for name, data := range map[string][]byte{"image": image, "layout": fmt.Appendf(nil, "%08x:%08x part\n", from, to)} {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	part := append(board, "-c", "N25Q032..3E", "-l", "layout", "-i", "part", "-N")
	if text := uses(t, dir, "flashrom", append(part, "-w", "image")...); !strings.Contains(text, "VERIFIED") {
		t.Errorf("not verified: %s", text)
	}
	uses(t, dir, "flashrom", append(part, "-r", "read")...)
	if have, err := os.ReadFile(filepath.Join(dir, "read")); err != nil || len(have) != size || !bytes.Equal(have[from:to+1], image[from:to+1]) {
		t.Errorf("it reads other bytes than it has written: %v", err)
	}
}

// TestFTDIEEPROM reads the bridge's EEPROM, and writes a name and a serial number, which show after replugging.
func TestFTDIEEPROM(t *testing.T) {
	b := pluggedIn(t)
	dir := t.TempDir()
	config := `filename="eeprom"
vendor_id=0x0403
product_id=0x6010
max_power=500
self_powered=false
remote_wakeup=false
manufacturer="somebody"
product="something"
serial="S-42"
use_serial=true
cha_type=FIFO
`
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600))
	reads := func(product, serial string) {
		t.Helper()
		text := uses(t, dir, "ftdi_eeprom", "--verbose", "--read-eeprom", "config")
		check.Contains(t, "EEPROM", text, product, serial, "Bus Powered: 500 mA")
	}
	reads("Lattice FTUSB Interface Cable", "V1")
	uses(t, dir, "ftdi_eeprom", "--flash-eeprom", "config")
	b.unplug()
	b.plug()
	if text, err := lmmc(t, "boards"); err != nil || !strings.Contains(text, "S-42") {
		t.Errorf("lmmc boards: %v, want serial number S-42:\n%s", err, text)
	}
	reads("something", "S-42")
}
