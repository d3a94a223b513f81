package bitstream_test

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/internal/check"
)

// TestAgreesWithIceunpack damages bitstreams at random, with the CRC made right again in half of them: what iceunpack
// refuses Read refuses. Read also refuses what iceunpack takes, such as a bank that is missing.
func TestAgreesWithIceunpack(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	good := pack(t, "384", nil, somewhere(r, 50))
	refused := 0
	for n := range 300 {
		data := bytes.Clone(good)
		for range 1 + r.IntN(2) {
			at := r.IntN(len(data))
			if r.IntN(2) == 0 {
				at = min(len(data)-1, r.IntN(30)) // where the commands are
			}
			data[at] = byte(r.Uint32())
		}
		if r.IntN(2) == 0 {
			data = reseal(data)
		}
		if r.IntN(4) == 0 {
			data = data[:r.IntN(len(data))]
		}
		_, err := bitstream.Read(data)
		if err != nil {
			refused++
		} else if !unpacks(t, data) {
			t.Fatalf("seed %d, file %d: iceunpack refuses it, Read does not: %x", seed, n, data)
		}
	}
	if refused == 0 || refused == 300 {
		t.Errorf("%d of 300 files were refused", refused)
	}
}

// FuzzRead looks for panics, and holds that what Read takes ends within the data and keeps its meaning without the rest.
// With seal the CRC is made right, so that more than the CRC is wrong.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\xff\x00lmmc board=x hash=1\x00\x00\xff\x7e\xaa\x99\x7e\x51\x00\x01\x05\x62\x00\x07\x72\x00\x01\x82\x00\x00\x11\x00\x01\x01\xaa\x00\x00"), false)
	if _, err := exec.LookPath("icepack"); err == nil {
		f.Add(pack(f, "384", example.Comment(), nil), true)
		f.Add(pack(f, "384", nil, nil), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = reseal(bytes.Clone(data))
		}
		file, err := bitstream.Read(data)
		if err != nil {
			return
		}
		if file.Size > len(data) {
			t.Fatalf("%d of %d bytes", file.Size, len(data))
		}
		again, err := bitstream.Read(data[:file.Size])
		if diff := cmp.Diff(file, again); err != nil || diff != "" {
			t.Errorf("without what follows: %v\n%s", err, diff)
		}
	})
}

// FuzzInfo holds that any Info comes back from a bitstream.
func FuzzInfo(f *testing.F) {
	body := pack(f, "384", nil, nil)
	f.Add("hx8k", "one-link", uint64(1), "links", "1")
	f.Add("a b", "=", uint64(1<<63), "%", "\x00\xff\n\t +")
	f.Fuzz(func(t *testing.T, board, config string, hash uint64, key, value string) {
		switch key {
		case "board", "config", "device", "hash":
			t.Skip()
		}
		if board == "" {
			t.Skip()
		}
		want := &bitstream.Info{Board: board, Config: config, Hash: hash, Params: map[string]string{key: value}}
		data := []byte{0xff, 0x00}
		for _, line := range want.Comment() {
			data = append(append(data, line...), 0)
		}
		data = append(append(data, 0x00, 0xff), body...)
		got := check.Must(bitstream.Read(data))(t)
		if diff := cmp.Diff(want, got.Info); diff != "" {
			t.Error(diff)
		}
	})
}
