package common_test

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type crcPorts struct {
	Init, En, Shift, Ok *bool  `port:"*"`
	Data                *uint8 `port:"*"`
}

// combined returns data with its first four bytes combined with a key by exclusive or.
func combined(data []byte, key uint64) []byte {
	data = slices.Clone(data)
	for i := range min(4, len(data)) {
		data[i] ^= byte(key >> (8 * i))
	}
	return data
}

// crc16 is the definition of CRC-16/IBM-3740, a bit at a time.
func crc16(data []byte) uint64 {
	crc := uint16(0xFFFF)
	for _, b := range data {
		for bit := 7; bit >= 0; bit-- {
			high := crc>>15 ^ uint16(b>>bit)&1
			crc = crc<<1 ^ high*0x1021
		}
	}
	return uint64(crc)
}

func crc32c(data []byte) uint64 {
	return uint64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// sentAfter returns the bytes of the CRC of data, in the order in which they are sent.
func sentAfter(of func([]byte) uint64, data []byte, bytes int, lowFirst bool) (sent []byte) {
	crc := of(data)
	for i := range bytes {
		shift := 8 * i
		if !lowFirst {
			shift = 8 * (bytes - 1 - i)
		}
		sent = append(sent, byte(crc>>shift))
	}
	return sent
}

// ending16 and ending32 return what has to be added to the bytes of a CRC so that the register differs from that of a good packet in one bit: that bit
// divided backwards.
func ending16(bit int) []byte {
	x := uint16(1) << bit
	for range 16 {
		if x&1 != 0 {
			x = (x^0x1021)>>1 | 0x8000
		} else {
			x >>= 1
		}
	}
	return binary.BigEndian.AppendUint16(nil, x)
}

func ending32(bit int) []byte {
	x := uint32(1) << bit
	for range 32 {
		if x&(1<<31) != 0 {
			x = (x^0x82F63B78)<<1 | 1
		} else {
			x <<= 1
		}
	}
	return binary.LittleEndian.AppendUint32(nil, x)
}

func TestCRC(t *testing.T) {
	var p crcPorts
	for _, c := range []struct {
		top         string
		bytes       int
		check       uint64
		of          func([]byte) uint64
		sent        int // first bit of the byte of the CRC that is sent next
		initNeedsEn bool
		ending      func(bit int) []byte
	}{
		{"crc32c_byte", 4, 0xE3069283, crc32c, 0, true, ending32},
		{"crc16_3740_byte", 2, 0x29B1, crc16, 8, false, ending16},
	} {
		t.Run(c.top, func(t *testing.T) {
			b := moduletest.New(t, c.top, nil, &p)
			crc := check.Must(b.Signal("crc"))(t)
			r := b.Rand("data")
			key := uint64(0)
			setKey := func(uint64) {}
			if c.initNeedsEn {
				port := check.Must(b.Signal("key"))(t)
				setKey = func(k uint64) { key = k; port.Set(k) }
			}
			setKey(0)
			take := func(bytes []byte, shift bool) (sent []byte) {
				for _, next := range bytes {
					for r.Chance(0.2) { // a pause changes nothing, whatever the data
						*p.En, *p.Init, *p.Data = false, c.initNeedsEn && r.Chance(0.5), byte(r.Uint32())
						b.Step(1)
					}
					sent = append(sent, byte(crc.Get()>>c.sent))
					*p.En, *p.Init, *p.Shift, *p.Data = true, false, shift, next
					b.Step(1)
				}
				*p.En, *p.Shift = false, false
				return sent
			}
			begin := func() {
				*p.Init, *p.En, *p.Data = true, c.initNeedsEn || r.Chance(0.5), byte(r.Uint32()) // init wins over data
				b.Step(1)
				*p.Init, *p.En = false, false
			}
			begin()
			take([]byte("123456789"), false)
			if got := crc.Get(); got != c.check {
				t.Fatalf("check value %X, want %X", got, c.check)
			}
			// Every bit of the remainder counts: bytes behind the data that leave just one of its bits wrong.
			for bit := range 8 * c.bytes {
				begin()
				wrong := c.ending(bit)
				for i, b := range sentAfter(c.of, []byte("data"), c.bytes, c.initNeedsEn) {
					wrong[i] ^= b
				}
				take(append([]byte("data"), wrong...), false)
				if *p.Ok {
					t.Fatalf("ok with bit %d of the remainder wrong", bit)
				}
			}
			for range 300 {
				data := r.Bytes(1 + r.IntN(40))
				if setKey(0); len(data) >= 4 {
					setKey(testbench.Pick(r, 0, 1<<r.IntN(32), uint64(r.Uint32())))
				}
				begin()
				take(data, false)
				if got, want := crc.Get(), c.of(combined(data, key)); got != want {
					t.Fatalf("% x with key %x: crc %X, want %X", data, key, got, want)
				}
				sent := take(r.Bytes(c.bytes), true) // data is ignored while the CRC is shifted out
				frame := append(data, sent...)
				flip := -1
				if r.Chance(0.5) {
					flip = r.IntN(8 * len(frame))
					frame[flip/8] ^= 1 << (flip % 8)
				}
				begin()
				take(frame, false)
				if *p.Ok != (flip < 0) {
					t.Fatalf("% x: ok %v with bit %d flipped", frame, *p.Ok, flip)
				}
				if flip < 0 && c.initNeedsEn {
					setKey(key ^ testbench.Pick(r, 1<<r.IntN(32), uint64(r.Uint32()|1)))
					begin()
					take(frame, false)
					if *p.Ok {
						t.Fatalf("% x: ok with another key, %x", frame, key)
					}
				}
			}
		})
	}
}
