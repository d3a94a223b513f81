package kernel_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// needs skips a test without a tool.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("not installed: run scripts/deps test")
		}
	}
}

// TestIceprog erases, writes, verifies and reads part of the flash, behind the bitstream.
func TestIceprog(t *testing.T) {
	needs(t, "iceprog")
	pluggedIn(t)
	iceprog := func(args ...string) string {
		t.Helper()
		text, err := exec.CommandContext(t.Context(), "iceprog", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("iceprog %q: %v\n%s", args, err, text)
		}
		return string(text)
	}
	if text := iceprog("-t"); !strings.Contains(text, "flash ID: 0x20 0xBA 0x16") {
		t.Errorf("the flash is not recognized: %s", text)
	}
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	data := make([]byte, 2000)
	for i, rng := 0, rand.New(rand.NewPCG(1, 9)); i < len(data); i++ {
		data[i] = byte(rng.Uint32())
	}
	check.Fatal(t, os.WriteFile(in, data, 0o600))
	if text := iceprog("-o", "1M", in); !strings.Contains(text, "VERIFY OK") {
		t.Errorf("not verified: %s", text)
	}
	iceprog("-o", "1M", "-R", "2000", out)
	check.Equal(t, "flash read back", check.Must(os.ReadFile(out))(t), data)
	data[len(data)/2] ^= 1
	check.Fatal(t, os.WriteFile(in, data, 0o600))
	if text, err := exec.CommandContext(t.Context(), "iceprog", "-o", "1M", "-c", in).CombinedOutput(); err == nil {
		t.Errorf("it verifies what is not there: %s", text)
	}
}

// lmmc runs the command line.
func lmmc(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), os.Getenv(programVariable), args...).CombinedOutput()
	return string(text), err
}

// does expects a command to succeed with a text in its output.
func does(t *testing.T, says string, args ...string) {
	t.Helper()
	if text, err := lmmc(t, args...); err != nil || !strings.Contains(text, says) {
		t.Fatalf("lmmc %s: %v, want %q:\n%s", strings.Join(args, " "), err, says, text)
	}
}

// refuses expects a command to fail.
func refuses(t *testing.T, says []string, args ...string) {
	t.Helper()
	text, err := lmmc(t, args...)
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("lmmc %s: %v, want exit code 1:\n%s", strings.Join(args, " "), err, text)
	}
	check.Contains(t, "lmmc "+strings.Join(args, " "), text, says...)
}

// TestFlashSRAM configures the FPGA by lmmc flash through unmodified tools: afterwards the image's network interface
// conforms.
func TestFlashSRAM(t *testing.T) {
	for _, tool := range []string{"iceprog", "openFPGALoader"} {
		t.Run(tool, func(t *testing.T) {
			needs(t, tool)
			ours, theirs := bitstreams(t)
			pluggedIn(t)
			refuses(t, []string{theirs, "built for"}, "flash", "hx8k", theirs, "--sram", "--with", tool)
			isUnflashed(t)
			does(t, "loaded into the FPGA", "flash", "hx8k", ours, "--sram", "--with", tool, "--serial", "V1")
			conforms(t, "identity/fields", "buffer/range")
		})
	}
}

// TestFlash writes the flash by lmmc flash, from where the FPGA gets an image whose network interface conforms. The first time power is lost while it is written:
// lmmc reports the state and the next command, which works.
func TestFlash(t *testing.T) {
	needs(t, "openFPGALoader")
	ours, theirs := bitstreams(t)
	b := pluggedIn(t)
	flash := []string{"flash", "hx8k", ours, "--with", "openFPGALoader"}
	refuses(t, []string{theirs, "built for"}, "flash", "hx8k", theirs, "--with", "openFPGALoader")
	isUnflashed(t)
	b.order(orderCut)
	refuses(t, []string{"unplugged", "lmmc flash hx8k"}, flash...)
	b.unplugged()
	b.plug()
	does(t, "verified", flash...)
	conforms(t, "identity/fields", "identity/read-only", "identity/mismatch", "identity/cables", "registers/control", "registers/frame-table",
		"registers/counters", "registers/not-trapped", "buffer/own", "buffer/range", "protection/closed", "notify/off", "ports/refuse", "ports/misuse")
	does(t, "already in flash", flash...)
}

// TestFlashIceprog writes the flash by lmmc flash through the other tool.
func TestFlashIceprog(t *testing.T) {
	needs(t, "iceprog")
	ours, _ := bitstreams(t)
	pluggedIn(t)
	does(t, "verified", "flash", "hx8k", ours, "--with", "iceprog")
	conforms(t, "identity/fields")
	does(t, "already in flash", "flash", "hx8k", ours, "--with", "iceprog")
}
