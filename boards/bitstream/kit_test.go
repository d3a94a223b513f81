package bitstream_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/internal/check"
)

var pack = bitstreamtest.Pack

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
	check.Fatal(t, os.WriteFile(name, data, 0o600))
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
