package usb

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

// TestDivider compares with what FTDI publishes: AN232B-05 for chips of 3 Mbaud, AN_120 for the others.
func TestDivider(t *testing.T) {
	slow, fast := chips[0x0600], chips[0x0700]
	for _, c := range []struct {
		chip chip
		baud int
		want uint32
	}{
		{slow, 9600, 0x4138}, {slow, 19200, 0x809C}, {slow, 38400, 0xC04E}, {slow, 57600, 0xC034}, {slow, 115200, 0x001A},
		{slow, 230400, 0x000D}, {slow, 460800, 0x4006}, {slow, 921600, 0x8003},
		{slow, 3_000_000, 0}, {slow, 2_000_000, 1}, {slow, 1_500_000, 2}, {slow, 1_000_000, 3},
		{fast, 12_000_000, 0x20000}, {fast, 8_000_000, 0x20001}, {fast, 6_000_000, 0x20002}, {fast, 3_000_000, 0x20004}, {fast, 9600, 0x204E2},
	} {
		have, rate := c.chip.divider(c.baud)
		if have != c.want || math.Abs(rate/float64(c.baud)-1) > 0.003 {
			t.Errorf("%s, %d: %#x, which is %.0f, want %#x", c.chip.name, c.baud, have, rate, c.want)
		}
	}
}

// TestDividerIsTheNearest takes every encoding of a divider apart as the chips do.
func TestDividerIsTheNearest(t *testing.T) {
	decode := func(encoded uint32) float64 {
		switch whole := encoded & maxDivider; {
		case encoded&^fastDivider == 0:
			return 1
		case encoded&^fastDivider == 1:
			return 1.5
		default:
			return float64(whole) + float64(slices.Index(eighths[:], encoded>>eighthsShift&7))/8
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := chips[rapid.SampledFrom([]uint16{0x0600, 0x0900}).Draw(t, "release")]
		baud := rapid.IntRange(MinBaud, c.clock).Draw(t, "baud")
		encoded, rate := c.divider(baud)
		divider := decode(encoded)
		if have := float64(c.clock) / divider; math.Abs(have-rate) > 1e-6*rate {
			t.Fatalf("%d: %#x is %.1f and not %.1f", baud, encoded, have, rate)
		}
		tolerance := 1.0 / 16
		if divider <= 2 {
			tolerance += 1.0 / 4 // nothing between 1, 1.5 and 2
		}
		if ideal := float64(c.clock) / float64(baud); math.Abs(divider-ideal) > tolerance+1e-9 {
			t.Fatalf("%d: divided by %v, ideally by %v", baud, divider, ideal)
		}
		if fast := encoded&fastDivider != 0; fast != (c.clock > 3_000_000) {
			t.Fatalf("%#x for a clock of %d", encoded, c.clock)
		}
	})
}

func TestSetUp(t *testing.T) {
	for _, c := range []struct {
		release       uint16
		channel, baud int
		value, index  uint16 // of the rate
	}{
		{0x0700, 1, 115200, 0xC068, 0x0202},
		{0x0800, 3, 12_000_000, 0, 0x0204},
		{0x0500, 0, 3_000_000, 0, 0x0001},
		{0x0600, 0, 960_000, 0xC003, 0}, // 3.125, nearest
		{0x1000, 0, 1_043_478, 0xC002, 1},
	} {
		d, board := plug(c.release, "1-1")
		board.Close()
		kind := chips[c.release]
		check.Must(kind.setUp(d, c.channel, c.baud))(t)
		port := uint16(c.channel + 1)
		want := []request{
			{requestReset, resetAll, port}, {requestBitMode, 0, port}, {requestBaud, c.value, c.index}, {requestData, 8, port},
			{requestFlow, 0, port}, {requestLatency, 1, port}, {requestReset, purgeOut, port}, {requestReset, purgeIn, port},
		}
		if diff := cmp.Diff(want, d.requests, cmp.AllowUnexported(request{})); diff != "" {
			t.Errorf("%s: %s", kind.name, diff)
		}
	}
	d, _ := plug(0x0600, "1-1")
	for _, baud := range []int{12_000_000, 2_500_000} {
		if _, err := chips[0x0600].setUp(d, 0, baud); !errors.Is(err, ErrBaud) || len(d.requests) > 0 {
			t.Errorf("%d: %v", baud, err)
		}
	}
}

func TestStrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(statusBytes+1, 70).Draw(t, "packet")
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		if have := strip(pack(data, size), size); !bytes.Equal(have, data) {
			t.Fatalf("%x, want %x", have, data)
		}
	})
}

// FuzzStrip holds that what no chip sends is taken for what it is by position alone.
func FuzzStrip(f *testing.F) {
	f.Add([]byte{}, 64)
	f.Add([]byte{1}, 64)
	f.Add([]byte{1, 0x60, 'x'}, 3)
	f.Fuzz(func(t *testing.T, b []byte, packet int) {
		if packet <= statusBytes || packet > 1024 {
			return
		}
		var want []byte
		for i, v := range b {
			if i%packet >= statusBytes {
				want = append(want, v)
			}
		}
		check.Equal(t, "stripped", strip(bytes.Clone(b), packet), want)
	})
}
