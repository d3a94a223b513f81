package bitstream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
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

// pack lets icepack make a bitstream with some configuration bits set.
func pack(t testing.TB, device bitstream.Device, comment []string, bits []string) []byte {
	t.Helper()
	needTools(t)
	var asc strings.Builder
	if comment != nil {
		fmt.Fprintf(&asc, ".comment made for a test\n.comment %s\n", strings.Join(append([]string{""}, comment...), "\n"))
	}
	fmt.Fprintf(&asc, ".device %s\n.sym 0 none\n%s\n", device, strings.Join(bits, "\n"))
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.asc"), filepath.Join(dir, "x.bin")
	if err := os.WriteFile(in, []byte(asc.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("icepack", in, out).CombinedOutput(); err != nil {
		t.Fatalf("icepack: %v\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// somewhere sets random bits of the configuration.
func somewhere(r *rand.Rand, n int) []string {
	var lines []string
	for range n {
		lines = append(lines, fmt.Sprintf(".extra_bit %d %d %d", r.IntN(4), r.IntN(182), r.IntN(80)))
	}
	return lines
}

// unpacks says whether iceunpack takes a file.
func unpacks(t testing.TB, data []byte) bool {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.bin")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.Command("iceunpack", name, os.DevNull).Run() == nil
}

var example = bitstream.Info{
	Board: "hx8k", Config: "one-link", Device: "hx8k", Hash: 0x0123456789abcdef,
	Params: map[string]string{"links": "1", "frames": "4", "note": "two words = 100%\n"},
}

// reseal puts the right CRC into data after a change, if the commands around it are still there.
func reseal(data []byte) []byte {
	at := bytes.LastIndex(data, []byte{0x01, 0x06}) - 2
	from := bytes.Index(data, []byte{0x01, 0x05}) + 2
	if at < from {
		return data
	}
	crc := uint16(0xffff)
	for _, b := range data[from:at] {
		for bit := 7; bit >= 0; bit-- {
			top := crc>>15 ^ uint16(b>>bit&1)
			crc = crc<<1 ^ top*0x1021
		}
	}
	data[at], data[at+1] = byte(crc>>8), byte(crc)
	return data
}
