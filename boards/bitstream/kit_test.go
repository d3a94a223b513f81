package bitstream_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
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
	binary.BigEndian.PutUint16(data[at:], linkproto.CRC16(data[from:at]))
	return data
}
