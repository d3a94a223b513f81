package common_test

import (
	"hash/crc32"
	"testing"
)

type crcPorts struct {
	Init, En, Shift, Ok *bool  `port:"*"`
	Data                *uint8 `port:"*"`
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

func TestCRC(t *testing.T) {
	var p crcPorts
	var p16 struct {
		Crc *uint16 `port:"*"`
	}
	var p32 struct {
		Crc *uint32 `port:"*"`
	}
	for _, c := range []struct {
		top         string
		bytes       int
		check       uint64
		of          func([]byte) uint64
		ports       any
		crc         func() uint64
		next        func() byte // the CRC byte to send
		initNeedsEn bool
	}{
		{"crc32c_byte", 4, 0xE3069283, crc32c, &p32,
			func() uint64 { return uint64(*p32.Crc) }, func() byte { return byte(*p32.Crc) }, true},
		{"crc16_3740_byte", 2, 0x29B1, crc16, &p16,
			func() uint64 { return uint64(*p16.Crc) }, func() byte { return byte(*p16.Crc >> 8) }, false},
	} {
		t.Run(c.top, func(t *testing.T) {
			r := random(t)
			m := start(t, c.top, nil, nil, &p, c.ports)
			take := func(bytes []byte, shift bool) (sent []byte) {
				for _, b := range bytes {
					for often(r, 20) { // a pause changes nothing, whatever the data
						*p.En, *p.Init, *p.Data = false, c.initNeedsEn && often(r, 50), byte(r.Uint32())
						step(t, m)
					}
					sent = append(sent, c.next())
					*p.En, *p.Init, *p.Shift, *p.Data = true, false, shift, b
					step(t, m)
				}
				*p.En, *p.Shift = false, false
				return sent
			}
			begin := func() {
				*p.Init, *p.En, *p.Data = true, c.initNeedsEn || often(r, 50), byte(r.Uint32()) // init wins over data
				step(t, m)
				*p.Init, *p.En = false, false
			}
			begin()
			take([]byte("123456789"), false)
			if got := c.crc(); got != c.check {
				t.Fatalf("check value %X, want %X", got, c.check)
			}
			for range 300 {
				data := make([]byte, 1+r.IntN(40))
				for i := range data {
					data[i] = byte(r.Uint32())
				}
				begin()
				take(data, false)
				if got, want := c.crc(), c.of(data); got != want {
					t.Fatalf("% x: crc %X, want %X", data, got, want)
				}
				noise := make([]byte, c.bytes)
				for i := range noise {
					noise[i] = byte(r.Uint32())
				}
				sent := take(noise, true) // data is ignored while the CRC is shifted out
				frame := append(data, sent...)
				flip := -1
				if often(r, 50) {
					flip = r.IntN(8 * len(frame))
					frame[flip/8] ^= 1 << (flip % 8)
				}
				begin()
				take(frame, false)
				if *p.Ok != (flip < 0) {
					t.Fatalf("% x: ok %v with bit %d flipped", frame, *p.Ok, flip)
				}
			}
		})
	}
}
