package ftdi

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func bytesOf(all []character) (b []byte, errors byte) {
	for _, c := range all {
		b = append(b, c.b)
		errors |= c.errors
	}
	return b, errors
}

// TestCarryFits sends with matching settings: both implementations deliver the data.
func TestCarryFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := frame{
			rate: rapid.Float64Range(300, 12e6).Draw(t, "rate"), bits: rapid.IntRange(7, 8).Draw(t, "bits"),
			parity: parity(rapid.IntRange(int(noParity), int(spaceParity)).Draw(t, "parity")), stop: rapid.SampledFrom([]float64{1, 1.5, 2}).Draw(t, "stop"),
		}
		to := f
		to.rate *= rapid.Float64Range(1-tolerance, 1+tolerance).Draw(t, "off")
		sent := rapid.SliceOf(rapid.Byte()).Draw(t, "sent")
		want := make([]byte, len(sent))
		for i, b := range sent {
			want[i] = b & (1<<f.bits - 1)
		}
		var w wave
		for _, b := range sent {
			w.send(f, b)
		}
		for name, all := range map[string][]character{"short cut": carry(f, to, nil, sent), "wave": w.receive(to, f.rate/to.rate)} {
			if have, errors := bytesOf(all); string(have) != string(want) || errors != 0 {
				t.Errorf("%s: % x with %#x, sent % x", name, have, errors, sent)
			}
		}
	})
}

// TestCarryWrong sends with settings that differ; the expected data follows from waveforms drawn by hand.
func TestCarryWrong(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to frame
		sent     string
		want     string
		errors   byte
	}{
		// Sent 0 00000111 1, of which two at a time are a bit: 0 0 0 1 1 1 1...
		{"twice too fast", eightN1(2), eightN1(1), "\xE0", "\xFC", 0},
		// Sent 0 10101010 1, each of which is two bits: 0 01100110 0, with no stop bit; 11; 0 01100111 1.
		{"twice too slow", eightN1(1), eightN1(2), "\x55", "\x66\xE6", errFraming},
		{"far too slow", eightN1(1), eightN1(12), "\x01", "\x00\x00", errFraming | errBreak},
		{"parity for none", frame{1, 8, evenParity, 1}, eightN1(1), "\x00", "\x00", errFraming | errBreak}, // the parity bit is taken for the stop bit
		{"other parity", frame{1, 8, evenParity, 1}, frame{1, 8, oddParity, 1}, "\x01\x03", "\x01\x03", errParity},
		{"seven for eight", frame{1, 7, noParity, 1}, eightN1(1), "\x41", "\xC1", 0},
	} {
		if have, errors := bytesOf(carry(c.from, c.to, nil, []byte(c.sent))); string(have) != c.want || errors != c.errors {
			t.Errorf("%s: % x with %#x, want % x with %#x", c.name, have, errors, c.want, c.errors)
		}
	}
}

// TestNoise counts inverted bits and the bytes that they damage.
func TestNoise(t *testing.T) {
	n := &noise{chance: 0.01, random: rand.New(rand.NewPCG(1, 1))}
	sent := make([]byte, 10000)
	for i := range sent {
		sent[i] = 0x55
	}
	have, errors := bytesOf(carry(eightN1(1), eightN1(1), n, sent))
	if n.turned < 800 || n.turned > 1200 || errors&errFraming == 0 {
		t.Errorf("%d bits of 100000 turned over, errors %#x", n.turned, errors)
	}
	good := 0
	for _, b := range have {
		if b == 0x55 {
			good++
		}
	}
	if good < 8500 || good > 9500 {
		t.Errorf("%d bytes of 10000 are good", good)
	}
}
