package linkproto_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestVLState(t *testing.T) {
	for b := range 256 {
		s, ok := linkproto.DecodeVLState(byte(b))
		if want := b&0x1E == 0 && b>>6 != 3 && b != 0x81 && b != 0xA1; ok != want {
			t.Errorf("0x%02X: %v, want %v", b, ok, want)
		}
		if ok {
			check.Equal(t, "state", s.Byte(), byte(b))
		}
	}
	check.Equal(t, "text", linkproto.VLState{Kind: linkproto.KindLost, Stop: true}.String(), "LOST STOP")
}

// TestVLInit compares with the table of doc/protocol.md.
func TestVLInit(t *testing.T) {
	w := linkproto.VLInit{Number: 0x0201, Life: 0x06050403, Heard: 0x0A090807, Page: 0x0B, Channel: 0x0D0C}
	b := w.Append(nil)
	check.Equal(t, "bytes", string(b), "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D")
	got, ok := linkproto.DecodeVLInit(b)
	check.Equal(t, "decoded", got, w)
	check.Equal(t, "good", ok, true)
	check.Equal(t, "text", w.String(), "number 513, channel 3340, life 06050403, heard 0a090807")
	for name, bad := range map[string][]byte{
		"short": b[:12], "long": append(b, 0), "no number": linkproto.VLInit{Life: 1}.Append(nil), "no life": linkproto.VLInit{Number: 1}.Append(nil), "nobody": linkproto.VLInit{}.Append(nil),
		"page": linkproto.VLInit{Number: 1, Life: 1, Page: 16}.Append(nil),
	} {
		if _, ok := linkproto.DecodeVLInit(bad); ok {
			t.Errorf("%s: taken", name)
		}
	}
	none, ok := linkproto.DecodeVLInit(linkproto.VLInit{Heard: 9, Channel: 300}.Append(nil))
	check.Equal(t, "refuses", ok && none.Refuses() && !w.Refuses(), true)
}

// Numbers within half of what the low bits tell are found again, and how far apart they are.
func TestVLNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near, ahead := rapid.Uint32Range(0, linkproto.VLSeqMask).Draw(t, "near"), rapid.IntRange(-128, 127).Draw(t, "ahead")
		n := (near + uint32(ahead)) & linkproto.VLSeqMask
		check.Equal(t, "number", linkproto.VLNumber(near, uint8(n)), n)
		check.Equal(t, "distance", linkproto.VLDistance(near, n), ahead)
	})
}

// The key tells numbers apart that have the same low bits.
func TestKeyAt(t *testing.T) {
	seen := map[linkproto.Key]bool{}
	for seq := uint32(0); seq < 1<<24; seq += 0x10700 {
		for next := uint32(0); next < 1<<24; next += 0x10900 {
			k := linkproto.Key(0x12345678).At(seq, next)
			if seen[k] {
				t.Fatalf("the key of %#x, %#x is another's", seq, next)
			}
			seen[k] = true
		}
	}
	check.Equal(t, "first", linkproto.Key(9).At(255, 255), 9)
}
