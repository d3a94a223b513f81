// Package bitstreamtest makes bitstreams for tests.
package bitstreamtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/internal/check"
)

// needTools skips without the programs of Project IceStorm, whose word counts here.
func needTools(t testing.TB) {
	t.Helper()
	for _, name := range []string{"icepack", "iceunpack"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed: apt-get install fpga-icestorm", name)
		}
	}
}

// Pack lets icepack make a bitstream with some configuration bits set, lines of an .asc file, by flags of its own. It skips the test where there is no icepack.
func Pack(t testing.TB, device bitstream.Device, comment []string, bits []string, flags ...string) []byte {
	t.Helper()
	needTools(t)
	var asc strings.Builder
	if comment != nil {
		fmt.Fprintf(&asc, ".comment made for a test\n.comment %s\n", strings.Join(append([]string{""}, comment...), "\n"))
	}
	fmt.Fprintf(&asc, ".device %s\n.sym 0 none\n%s\n", device, strings.Join(bits, "\n"))
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.asc"), filepath.Join(dir, "x.bin")
	check.Fatal(t, os.WriteFile(in, []byte(asc.String()), 0o600))
	if text, err := exec.Command("icepack", append(flags, in, out)...).CombinedOutput(); err != nil {
		t.Fatalf("icepack: %v\n%s", err, text)
	}
	return check.Must(os.ReadFile(out))(t)
}
