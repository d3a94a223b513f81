package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// has_room and takes are those of before a packet up to three clocks behind its last byte: the next packet is judged by what they are then.
func TestHostInRoomIsLate(t *testing.T) { moduletest.EachWidth(t, testHostInRoomIsLate) }

func testHostInRoomIsLate(t *testing.T, width int) {
	var p struct {
		SSure, SValid, SReady, SLast, FLast, ReqDone *bool  `port:"*"`
		FValid, HasRoom, Takes, ReqType, EvNoSpace   *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "ni_host_in", params{"LINKS": 1, "PAGE_BYTES": 64, "BUFFER_BYTES": 256, "ADDR_WIDTH": 8, "WIDTH": width, "WORD": wordOf(width)}, &p)
	in := moduletest.NewBeats(t, b, "s", width)
	*p.SSure = true
	for _, roomy := range []bool{true, false} { // for any packet, or for this one
		for size := range 6 {
			short := append([]byte{1<<linkproto.TypeBits | byte(linkproto.TypeWrite), byte(size), 0}, make([]byte, size)...)
			left, i := 2, 0 // packets, and bytes of the first that are in
			*p.HasRoom, *p.Takes, *p.ReqDone = 0, 1, false
			if roomy {
				*p.HasRoom = 1
			}
			since, forwarded, refused := -1, 0, 0
			for range 60 {
				beat := in.Put(short[i:])
				*p.SValid, *p.SLast = left > 0, i+beat == len(short)
				settle(t, b)
				if *p.FValid != 0 && *p.FLast {
					since = 0
					forwarded++
				} else if since >= 0 {
					since++
				}
				if since > 3 {
					*p.HasRoom, *p.Takes = 0, 0
				}
				if *p.SValid && *p.SReady {
					if i += beat; i == len(short) {
						left, i = left-1, 0
					}
				}
				b.Step(1)
				refused += int(*p.EvNoSpace)
			}
			*p.ReqDone = true
			b.Step(20)
			if forwarded != 1 || refused != 1 {
				t.Errorf("two packets of %d bytes, room for one, %v: %d forwarded, %d refused", len(short), roomy, forwarded, refused)
			}
		}
	}
}

// Packets of five beats and more for a link that has room follow one another without a pause.
func TestHostInKeepsUp(t *testing.T) {
	for _, width := range []int{4, 8} {
		var p struct {
			SSure, SValid, SReady, SLast *bool  `port:"*"`
			HasRoom                      *uint8 `port:"*"`
		}
		b := moduletest.Open(t, "ni_host_in", params{"LINKS": 1, "PAGE_BYTES": 64, "BUFFER_BYTES": 256, "ADDR_WIDTH": 8, "WIDTH": width, "WORD": width}, &p)
		in := moduletest.NewBeats(t, b, "s", width)
		*p.SSure, *p.SValid, *p.HasRoom = true, true, 1
		packet := append([]byte{1<<linkproto.TypeBits | byte(linkproto.TypeWrite), byte(5*width - linkproto.HeaderBytes), 0}, b.Rand("bytes").Bytes(5*width-linkproto.HeaderBytes)...)
		for clock := range 50 {
			beat := clock % 5
			in.Put(packet[beat*width:])
			*p.SLast = beat == 4
			settle(t, b)
			check.Equal(t, fmt.Sprintf("width %d: ready in clock %d", width, clock), *p.SReady, true)
			b.Step(1)
		}
	}
}

// A link that starts again has, in whatever clock it does, every packet of before and of behind whole, or none of them, and says how many
// are not there. Nothing is sent to it that it cannot take.
func TestHostInRestart(t *testing.T) { moduletest.EachWidth(t, testHostInRestart) }

func testHostInRestart(t *testing.T, width int) {
	var p struct {
		SValid, SReady, SLast, Restart, HasRoom, FValid, FReady, Refused, Lost *bool  `port:"*"`
		Held, Bytes                                                            *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "testdata/ni_host_in_replay", params{"WIDTH": width}, &p)
	in := moduletest.NewBeats(t, b, "s", width)
	outcomes := map[string]int{}
	for _, filled := range []bool{false, true} { // the last two packets are asked for, one by one
		for size := linkproto.HeaderBytes; size <= 20; size++ {
			packet := append([]byte{1<<linkproto.TypeBits | byte(linkproto.TypeWrite), byte(size - linkproto.HeaderBytes), 0},
				b.Rand("bytes").Bytes(size-linkproto.HeaderBytes)...)
			for at := range 3*size + 30 {
				b.Reset("rst", 4)
				b.Step(4)
				sent, gone := 0, 0
				run := func(packets, clocks, restart int) {
					packets += sent
					i := 0
					for clock := range clocks {
						beat := in.Put(packet[i:])
						*p.SValid, *p.SLast, *p.Restart = sent < packets, i+beat == size, clock == restart
						settle(t, b)
						if *p.FValid && !*p.FReady {
							t.Fatalf("packets of %d bytes, filled %v: a beat is lost as the link starts again in clock %d", size, filled, at)
						}
						if *p.SValid && *p.SReady {
							if i += beat; i == size {
								i, sent = 0, sent+1
							}
						}
						gone += count(*p.Lost) + count(*p.Refused)
						b.Step(1)
					}
				}
				for filled && *p.HasRoom {
					run(1, size+40, -1)
				}
				run(2, 300, at)
				what := fmt.Sprintf("%d packets of %d bytes, filled %v, a restart in clock %d: %d held of %d bytes, %d gone", sent, size, filled, at, *p.Held, *p.Bytes, gone)
				if int(*p.Held)+gone != sent || *p.Held > 0 && gone > 0 || int(*p.Bytes) != int(*p.Held)*size {
					t.Fatal(what)
				}
				outcomes[fmt.Sprintf("filled %v, gone %v", filled, gone > 0)]++
			}
		}
	}
	if len(outcomes) != 3 { // what the link was filled with is always gone
		t.Errorf("only %v", outcomes)
	}
}
