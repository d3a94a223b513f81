package common_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Bytes go to successive addresses, around the end too, and come back one by one; lanes that are not written change nothing. A byte that is
// read in the clock of its writing is undefined.
func TestRAMBytes(t *testing.T) { moduletest.EachWidth(t, testRAMBytes) }

func testRAMBytes(t *testing.T, width int) {
	const depth = 64
	var p struct {
		RdEn                         *bool  `port:"*"`
		WrEn, WrAddr, RdAddr, RdData *uint8 `port:"*"`
	}
	b := moduletest.New(t, "ram_bytes", params{"WIDTH": width, "DEPTH": depth}, &p)
	r := b.Rand("bytes")
	var held [depth]byte
	written := 0
	want, known := byte(0), false
	for now := range 20000 {
		if known && *p.RdData != want {
			t.Fatalf("clock %d: read %02x, want %02x", now, *p.RdData, want)
		}
		data := r.Uint64() >> (64 - 8*width)
		check.Fatal(t, b.Model().Poke("wr_data", data))
		*p.WrAddr, *p.WrEn = uint8(r.IntN(depth)), uint8(r.IntN(1<<width))
		if now < depth { // contents are random at first
			*p.WrAddr, *p.WrEn = uint8(now), 1
		}
		*p.RdAddr, *p.RdEn = uint8(r.IntN(depth)), now >= depth && r.Chance(0.6)
		clash := false
		before := held
		for i := range width {
			if *p.WrEn>>i&1 != 0 {
				at := (int(*p.WrAddr) + i) % depth
				held[at] = byte(data >> (8 * i))
				clash = clash || at == int(*p.RdAddr)
				written++
			}
		}
		if *p.RdEn {
			want, known = before[*p.RdAddr], !clash
		}
		b.Step(1)
	}
	if written < 5000 {
		t.Errorf("only %d bytes were written", written)
	}
}

// packer is beat_pack and beat_bytes behind each other.
type packer struct {
	Clear, SValid, SReady, SLast, MValid, MReady, MLast *bool  `port:"*"`
	SData                                               *uint8 `port:"*"`
}

// Packets come out in beats as they went in, none but the last beat with fewer bytes; a packet that is dropped leaves nothing.
func TestBeatPack(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprint("width ", width), func(t *testing.T) {
			var p packer
			b := moduletest.New(t, "beat_pack", params{"WIDTH": width}, &p)
			r, beats := b.Rand("packets"), moduletest.NewBeats(t, b, "m", width)
			var got []byte
			dropped := 0
			*p.Clear = true
			b.Step(1)
			for serial := range 2000 {
				packet := r.Bytes(1 + r.IntN(3*width))
				ends, drop := false, width > 1 && r.Chance(0.1)
				for i := 0; i < len(packet); {
					*p.SValid, *p.SData, *p.SLast = *p.SValid || r.Chance(0.7), packet[i], i == len(packet)-1
					*p.MReady, *p.Clear = r.Chance(0.6), drop && r.Chance(0.3)
					check.Fatal(t, b.Model().Eval())
					if *p.MValid && *p.MReady && !*p.Clear {
						beat := beats.Get()
						if ends = *p.MLast; !ends && len(beat) != width {
							t.Fatalf("packet %d: a beat of %d bytes before the last", serial, len(beat))
						}
						got = append(got, beat...)
					}
					moved := *p.SValid && *p.SReady
					b.Step(1)
					if *p.Clear {
						packet, i, got, drop = r.Bytes(1+r.IntN(3*width)), 0, nil, false
						*p.SValid, *p.Clear = false, false
						dropped++
						continue
					}
					if moved {
						*p.SValid = false
						i++
					}
				}
				if !ends || !bytes.Equal(got, packet) {
					t.Fatalf("packet %d: % x, ended %v, want % x", serial, got, ends, packet)
				}
				got = nil
			}
			if width > 1 && dropped < 100 {
				t.Errorf("only %d packets were dropped", dropped)
			}
		})
	}
}

// Beats are shown byte by byte; what is left of one can be passed over.
func TestBeatBytes(t *testing.T) { moduletest.EachWidth(t, testBeatBytes) }

func testBeatBytes(t *testing.T, width int) {
	var p struct {
		Leave, Last, Step, ByteLast, Done *bool  `port:"*"`
		ByteQ                             *uint8 `port:"*"`
		Keep                              *uint8 `port:"*"`
	}
	b := moduletest.New(t, "beat_bytes", params{"WIDTH": width}, &p)
	r := b.Rand("beats")
	*p.Leave = true
	b.Step(1)
	for n := range 5000 {
		beat, last := r.Bytes(width), false
		if last = r.Chance(0.3); last {
			beat = beat[:1+r.IntN(width)]
		}
		var data uint64
		for i, x := range beat {
			data |= uint64(x) << (8 * i)
		}
		check.Fatal(t, b.Model().Poke("data", data))
		*p.Keep, *p.Last, *p.Leave = 1<<len(beat)-1, last, false
		for i := 0; i < len(beat); {
			*p.Step, *p.Leave = r.Chance(0.7), r.Chance(0.1)
			check.Fatal(t, b.Model().Eval())
			if done := i == len(beat)-1; *p.ByteQ != beat[i] || *p.Done != done || *p.ByteLast != (done && last) {
				t.Fatalf("beat %d, byte %d: %02x, done %v, last %v, of % x, last %v", n, i, *p.ByteQ, *p.Done, *p.ByteLast, beat, last)
			}
			b.Step(1)
			if *p.Step {
				i++
			}
			if *p.Leave {
				break
			}
		}
	}
}
