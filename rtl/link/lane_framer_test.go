package link_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// lane_framer sends the packets that it is given, whole and one behind the other; without a bubble if its turn comes once in WIDTH symbol times.
// It says that it holds a frame until EOP has been taken.
func TestLaneFramer(t *testing.T) {
	t.Run("a symbol a clock", func(t *testing.T) { testLaneFramer[uint32](t, 4, 1) })
	t.Run("narrow, a symbol in two clocks", func(t *testing.T) { testLaneFramer[uint8](t, 1, 2) })
}

func testLaneFramer[beat uint8 | uint32](t *testing.T, width, symbolClocks int) {
	const size = 1024
	var p struct {
		Rst, Give, Ready, Turn, RdEn, FValid, FTake, Sends, Fetches, Done *bool   `port:"*"`
		GivenSeq, Seq, NextSeq                                            *uint8  `port:"*"`
		GivenFirst, GivenLast, RdAddr, FSym                               *uint16 `port:"*"`
		Key                                                               *uint32 `port:"*"`
		RdData                                                            *beat   `port:"*"`
	}
	b := moduletest.Open(t, "lane_framer", params{"POINTER": 11, "WIDTH": width}, &p)
	*p.Key = uint32(frameKey)
	rng := b.Rand("framer")
	var memory [size]byte
	frames, at := frames(), 0
	var sent [][]byte
	got, bubbles, symbols := 0, 0, 0
	for range 40_000 {
		hurry := b.Cycle()%20_000 < 10_000 // a symbol each symbol time
		gone, held := got, len(sent)-got
		if *p.Sends && *p.Seq != uint8(got) || *p.Fetches && *p.NextSeq != uint8(len(sent)-1) ||
			(*p.Sends || *p.Fetches) != (held > 0) || held > 1 && !(*p.Sends && *p.Fetches) {
			t.Fatalf("cycle %d: sends %v %d, fetches %v %d, want the %d frames from %d on", b.Cycle(), *p.Sends, *p.Seq, *p.Fetches, *p.NextSeq, held, got)
		}
		if *p.Give = *p.Ready && (hurry || rng.Chance(0.02)); *p.Give {
			packet := packet(len(sent), rng.Between(3, maxPacket))
			for i, c := range packet {
				memory[(at+i)%size] = c
			}
			*p.GivenSeq, *p.GivenFirst, *p.GivenLast = uint8(len(sent)), uint16(at%(2*size)), uint16((at+len(packet)-1)%(2*size))
			at += len(packet)
			sent = append(sent, packet)
		}
		*p.Turn = int(b.Cycle())%(width*symbolClocks) == 1 || !hurry && rng.Chance(0.3)
		check.Fatal(t, b.Model().Eval())
		read, from := *p.RdEn, int(*p.RdAddr)
		due := int(b.Cycle())%symbolClocks == 0
		*p.FTake = *p.FValid && (hurry && due || !hurry && rng.Chance(0.4))
		if *p.FTake {
			symbols++
			if ev, _ := frames.Next([]linkproto.Symbol{linkproto.Symbol(*p.FSym)}); ev.Kind == linkproto.EventFrame {
				if got >= len(sent) || ev.Seq != uint8(got) || !bytes.Equal(ev.Payload, sent[got]) {
					t.Fatalf("frame %d is % x, want packet %d", ev.Seq, ev.Payload, got)
				}
				got++
			} else if ev.Kind != linkproto.EventNone {
				t.Fatalf("cycle %d: %+v", b.Cycle(), ev)
			}
		} else if hurry && due && !*p.FValid && b.Cycle()%20_000 > 200 {
			bubbles++
		}
		check.Fatal(t, b.Model().Eval())
		check.Equal(t, "done", *p.Done, got != gone)
		b.Step(1)
		*p.RdData = beat(rng.Uint32())
		if read {
			*p.RdData = 0
			for i := range width {
				*p.RdData |= beat(memory[(from+i)%size]) << (8 * i)
			}
		}
	}
	if bubbles > 0 || got < 200 {
		t.Errorf("%d bubbles, %d frames of %d packets, %d symbols", bubbles, got, len(sent), symbols)
	}
}
