package bitstream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/internal/check"
)

// TestReadWhatIcepackWrites takes every device that icepack knows, with random bits set.
func TestReadWhatIcepackWrites(t *testing.T) {
	for i, device := range []bitstream.Device{"384", "1k", "8k", "5k", "u4k", "lm4k"} {
		t.Run(string(device), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			info := example
			info.Device = map[bitstream.Device]string{"384": "lp384", "1k": "hx1k", "8k": "lp4k", "5k": "up5k", "u4k": "u4k"}[device]
			data := pack(t, device, info.Comment(), somewhere(r, 200))
			for _, padding := range []int{0, 1000} {
				f := check.Must(bitstream.Read(append(slices.Clone(data), bytes.Repeat([]byte{0xff}, padding)...)))(t)
				want := &bitstream.File{
					Comment: info.Comment(), Info: &info, Device: device, Size: len(data) - 1, // icepack pads with one byte
					CRC: uint16(data[len(data)-5])<<8 | uint16(data[len(data)-4]), Memories: device != "384",
				}
				if diff := cmp.Diff(want, f); diff != "" {
					t.Errorf("with %d bytes more:\n%s", padding, diff)
				}
			}
		})
	}
}

// TestJSON keeps all 64 bits of a hash.
func TestJSON(t *testing.T) {
	text, err := json.Marshal(&bitstream.Info{Board: "b", Hash: 1<<63 + 1, Params: map[string]string{"links": "1"}})
	if want := `{"board":"b","params":{"links":"1"},"hash":"8000000000000001"}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}

func TestCommentOfOthers(t *testing.T) {
	for _, comment := range [][]string{nil, {""}, {"from nextpnr", "lmmcboard=x"}} {
		f := check.Must(bitstream.Read(pack(t, "384", comment, nil)))(t)
		if f.Info != nil || strings.Join(f.Comment, "\n") != strings.Join(comment, "\n") {
			t.Errorf("of %q came %q and %v", comment, f.Comment, f.Info)
		}
	}
}

// TestEveryFlipIsFound flips each bit of a bitstream once, from the preamble to the command that wakes the device.
// The byte before the CRC's start sets the frequency at which the device reads its flash: nothing guards it.
func TestEveryFlipIsFound(t *testing.T) {
	data := pack(t, "384", nil, somewhere(rand.New(rand.NewPCG(2, 0)), 100))
	guarded := bytes.Index(data, []byte{0x01, 0x05})
	f := check.Must(bitstream.Read(data))(t)
	for bit := range 8 * f.Size {
		data[bit/8] ^= 1 << (bit % 8)
		if _, err := bitstream.Read(data); err == nil && bit/8 >= guarded {
			t.Errorf("nothing is wrong with byte %d after its bit %d turned", bit/8, bit%8)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
}

func TestEveryCutIsFound(t *testing.T) {
	info := example
	info.Device = ""
	data := pack(t, "384", info.Comment(), nil)
	f := check.Must(bitstream.Read(data))(t)
	for n := range f.Size {
		_, err := bitstream.Read(data[:n])
		if n > 1 && !errors.Is(err, bitstream.ErrTruncated) || err == nil {
			t.Fatalf("after %d of %d bytes: %v", n, f.Size, err)
		}
	}
}

func TestErrors(t *testing.T) {
	good := pack(t, "1k", nil, nil)
	edit := func(find, put string) []byte {
		if !bytes.Contains(good, []byte(find)) {
			t.Fatalf("no %x in the bitstream", find)
		}
		return reseal(bytes.Replace(slices.Clone(good), []byte(find), []byte(put), 1))
	}
	flipped := slices.Clone(good)
	flipped[1000] ^= 4
	other := example
	other.Device = "up5k"
	for _, test := range []struct {
		name string
		data []byte
		is   error
		says string
	}{
		{"empty", nil, bitstream.ErrTruncated, "empty"},
		{"erased", bytes.Repeat([]byte{0xff}, 5000), bitstream.ErrForeign, "erased flash"},
		{"text form", []byte(".comment x\n.device 8k\n"), bitstream.ErrForeign, "icepack"},
		{"ECP5", []byte("\xff\x00Part: LFE5U-85F\x00\xff\xff\xff\xbd\xb3\xff\xff"), bitstream.ErrForeign, "an ECP5's"},
		{"Xilinx", []byte("\x00\x09\x0f\xf0abc\xff\xff\xaa\x99\x55\x66"), bitstream.ErrForeign, "a Xilinx FPGA's"},
		{"program", []byte("\x7fELF\x02"), bitstream.ErrForeign, "a program"},
		{"noise", []byte("hello"), bitstream.ErrForeign, "its 5 bytes"},
		{"before", append([]byte("hello"), good...), bitstream.ErrForeign, "begins with 68656c6c"},
		{"cut", good[:20000], bitstream.ErrTruncated, "ends at byte 20000, in the data of CRAM bank 3, "},
		{"one bit", flipped, bitstream.ErrCRC, "from bytes 8 to "},
		{"bank 4", edit("\x11\x03\x01\x01", "\x11\x04\x01\x01"), bitstream.ErrDamaged, "unknown command 11 04 at byte"},
		{"bank twice", edit("\x11\x03\x01\x01", "\x11\x02\x01\x01"), bitstream.ErrDamaged, "CRAM bank 2 goes on with row 0 of 332 bits at byte"},
		{"BRAM for CRAM", edit("\x11\x03\x01\x01", "\x11\x03\x01\x03"), bitstream.ErrDamaged, "BRAM bank 3 goes on with row 0 of 64 bits"},
		{"no end", edit("\x00\x00\x11\x01\x01\x01", "\x00\x01\x11\x01\x01\x01"), bitstream.ErrDamaged, "after the data of CRAM bank 0, should be 0000"},
		{"no such device", edit("\x62\x01\x4b\x72\x00\x90", "\x62\x00\xa5\x72\x01\x20"), bitstream.ErrForeign, "first CRAM bank of 288 rows of 166 bits"},
		{"no CRC", edit("\x01\x05\x92\x00", "\x51\x00\x92\x00"), bitstream.ErrDamaged, "covers nothing"},
		{"several images", []byte("\x7e\xaa\x99\x7e\x92\x00\x00\x44\x03\x00\x00\xa0\x82\x00\x00\x01\x08"), bitstream.ErrForeign, "icemulti"},
		{"wakes at once", []byte("\x7e\xaa\x99\x7e\x01\x06"), bitstream.ErrDamaged, "no CRC checked"},
		{"other device", pack(t, "1k", other.Comment(), nil), bitstream.ErrInfo, "says device=up5k, and the banks are those of a 1k"},
		{"info twice", pack(t, "1k", slices.Repeat(other.Comment(), 2), nil), bitstream.ErrInfo, "two lines"},
		{"no hash", pack(t, "1k", []string{"lmmc board=x"}, nil), bitstream.ErrInfo, "hash="},
		{"no number", pack(t, "1k", []string{"lmmc board=x hash=xyz"}, nil), bitstream.ErrInfo, "hash=xyz is not a hexadecimal number"},
		{"no value", pack(t, "1k", []string{"lmmc board=x hash=1 frames"}, nil), bitstream.ErrInfo, `"frames" is not of the form key=value`},
		{"key twice", pack(t, "1k", []string{"lmmc board=x hash=1 board=y"}, nil), bitstream.ErrInfo, "board= twice"},
	} {
		_, err := bitstream.Read(test.data)
		check.Fails(t, test.name, err, test.is, test.says)
	}
}

func TestDie(t *testing.T) {
	for name, want := range map[string]bitstream.Device{"hx8k": "8k", "HX4K": "8k", "up5k": "5k", "ecp5": ""} {
		check.Equal(t, "die of "+name, bitstream.Die(name), want)
	}
}
