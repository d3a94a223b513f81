package ni_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestVLOut: ni_vl_out gives what comes by virtual links to the host or to the receive buffer, in order, a trap when all before it is carried out, and what the
// host is to be told behind all that came before, while the host takes nothing too; nothing is left of what is taken back or malformed.
func TestVLOut(t *testing.T) {
	t.Run("small packets", func(t *testing.T) { testVLOut(t, vlLongest, 256, 1500) })
	t.Run("largest packets", func(t *testing.T) { testVLOut(t, linkproto.MaxPacket(linkproto.MaxPageBytes), 16384, 240) })
}

// drawByVL draws a packet that has up to most bytes behind its header, and says whether the host may not have it.
func drawByVL(t *testing.T, r *testbench.Rand, most, frames int) (packet []byte, malformed bool) {
	packet = append([]byte{byte(linkproto.TypeWrite), 0, 0}, r.Bytes(min(testbench.Pick(r, 0, r.IntN(most+1), r.IntN(most+1), 128+r.IntN(8), most), most))...)
	switch r.IntN(4) {
	case 0:
		packet[0] = byte(linkproto.TypeMessage)
		malformed = len(packet) < linkproto.HeaderBytes+8
	case 1:
		frame := testbench.Pick(r, uint16(r.IntN(2*frames)), uint16(r.IntN(frames))|1<<r.IntN(16))
		packet = check.Must((&linkproto.Packet{Type: linkproto.TypePage, Frame: frame, Port: r.Uint32()}).Append(nil))(t)
		malformed = int(frame) >= frames
	}
	binary.LittleEndian.PutUint16(packet[1:], uint16(len(packet)-linkproto.HeaderBytes))
	return packet, malformed
}

func testVLOut(t *testing.T, longest, hold, packets int) {
	const frames = 4
	var p struct {
		Room, Halts, SValid, SReady, SHost, SLast, SVoid *bool   `port:"*"`
		ToldReady, Told, IValid, IReady, ILast, Quiet    *bool   `port:"*"`
		ISure, IVoid                                     *bool   `port:"*"`
		EvBad                                            *bool   `port:"*"`
		SVl, SData, ToldVl, ToldFreed, IVl, IData        *uint8  `port:"*"`
		ToldStatus                                       *uint16 `port:"*"`
		M                                                offer   `port:"*"`
	}
	b := moduletest.Open(t, "ni_vl_out", params{"VIRTUAL": 3, "FRAMES": frames, "MAX_PACKET": longest, "HOLD_BYTES": hold}, &p)
	r := b.Rand("network")
	var told, wantTold, written, wantWritten []string
	var writing []byte
	busy, bad, wantBad, halts, voids := 0, 0, 0, 0, 0 // busy: clocks that a write goes on
	early, undone := 0, 0                             // bytes that come out on trial; packets of which some have, and that are taken back
	full, refused := 0, 0                             // MESSAGEs of the largest size that were told; clocks in which nothing more may be told
	slow, stall, held := 0.7, false, false            // stall: the host takes nothing; held: nor is anything written
	clock := func() (taken bool) {
		*p.M.Ready, *p.IReady, *p.Quiet = !stall && r.Chance(slow), !held && r.Chance(slow), busy == 0 && len(writing) == 0
		settle(t, b)
		busy = max(busy-1, 0)
		if *p.IVoid {
			check.Equal(t, "a packet that is taken back goes on", *p.IValid, false)
			undone += min(len(writing), 1)
			writing = nil
		}
		if *p.IValid && *p.IReady {
			early += count(!*p.ISure)
			if writing = append(writing, *p.IData); *p.ILast {
				check.Equal(t, "the last byte of a packet that has come is sure", *p.ISure, true)
				written, writing, busy = append(written, fmt.Sprintf("%d %x", *p.IVl, writing)), nil, r.IntN(20)
			}
		}
		if packet := p.M.clock(t); packet != nil {
			told = append(told, fmt.Sprintf("%x", packet))
		}
		taken = *p.SValid && *p.SReady
		if trap := *p.SHost && *p.SLast && *p.Halts; taken && trap {
			halts++
			check.Equal(t, "written before a trap, and underway", fmt.Sprint(written, *p.Quiet), fmt.Sprint(wantWritten, true))
		}
		b.Step(1)
		bad += count(*p.EvBad)
		return taken
	}
	tell := func(vl int) string { // it is told in the next clock
		*p.Told, *p.ToldVl, *p.ToldFreed, *p.ToldStatus = true, uint8(vl), uint8(r.IntN(256)), uint16(r.Uint32())
		space := check.Must((&linkproto.Packet{Type: linkproto.TypeSpace, Bytes: *p.ToldStatus, Packets: *p.ToldFreed}).Append(nil))(t)
		return fmt.Sprintf("%x", inVirtual(t, vl, space))
	}
	most := longest - linkproto.HeaderBytes
	for n := range packets {
		vl := r.IntN(8)
		packet, malformed := drawByVL(t, r, most, frames)
		host := linkproto.Type(packet[0]) != linkproto.TypeWrite
		slow = []float64{0.9, 0.2}[15*n/packets%2]
		for clocks := 0; host && !*p.Room; clocks++ {
			if clock(); clocks > 20*hold {
				t.Fatalf("no room for packet %d", n)
			}
		}
		*p.SVl, *p.SHost = uint8(vl), host
		stall, held = r.Chance(0.3), held || r.Chance(0.1)
		last, space, behind := len(packet), "", r.IntN(2*len(packet)) // behind which of its bytes the host is to be told something
		if r.Chance(0.1) {
			last = 1 + r.IntN(len(packet)-1)
		}
		for i, clocks := 0, 0; i < last; clocks++ {
			if held && clocks > 4*longest {
				held = false
				if !host { // it has filled its queue up, or found no room there
					last, *p.SValid = i, false
					break
				}
			}
			if clocks > 20*hold {
				t.Fatalf("byte %d of packet %d, % x, is not taken", i, n, packet)
			}
			if *p.SValid = *p.SValid || r.Chance(0.9); *p.SValid {
				*p.SData, *p.SLast = packet[i], i == len(packet)-1
			}
			if i > 0 && i >= behind && space == "" && *p.ToldReady {
				space = tell(r.IntN(8))
			}
			if clock() {
				*p.SValid = false
				i++
			}
			*p.Told = false
		}
		*p.SHost, *p.SLast = false, false
		switch {
		case last < len(packet):
			*p.SVoid = true
			clock()
			*p.SVoid = false
			voids++
		case !host:
			wantWritten = append(wantWritten, fmt.Sprintf("%d %x", vl, packet))
		case malformed:
			wantBad++
		default:
			full += count(len(packet) == longest)
			wantTold = append(wantTold, fmt.Sprintf("%x", inVirtual(t, vl, packet)))
		}
		if space != "" {
			wantTold = append(wantTold, space)
		}
		for range 1 + 150*count(stall) { // a host that stalls is told things until no more may be
			refused += count(!*p.ToldReady)
			if *p.ToldReady && r.Chance(0.2) {
				wantTold = append(wantTold, tell(vl))
				clock()
				*p.Told = false
				clock() // told_ready may fall in the clock behind
			}
			if stall {
				clock()
			}
		}
		stall = false
	}
	slow, held = 1, false
	for range 2000 + hold {
		clock()
	}
	check.Equal(t, "told", told, wantTold)
	check.Equal(t, "written", written, wantWritten)
	check.Equal(t, "bad packets", bad, wantBad)
	if full*refused == 0 || min(bad, halts, voids) < packets/30 || len(written) < 2*packets/15 || early < packets/3 || undone < packets/100 {
		t.Errorf("%d bad, %d traps, %d taken back, %d of them after they had begun, %d written, %d bytes on trial, %d MESSAGEs of the largest size, nothing more told %d times: too few",
			bad, halts, voids, undone, len(written), early, full, refused)
	}
}

// TestVLOutCrowd: a trap waits for 256 packets that are not carried out, as it does for one.
func TestVLOutCrowd(t *testing.T) {
	var p struct {
		SValid, SReady, SHost, SLast, Quiet *bool  `port:"*"`
		SData                               *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "ni_vl_out", params{"VIRTUAL": 3, "FRAMES": 4, "MAX_PACKET": linkproto.MaxPacket(linkproto.MaxPageBytes), "HOLD_BYTES": 16384}, &p)
	*p.Quiet = true
	give := func(packet []byte) (taken int) { // as far as it is taken within 50 clocks
		for clocks := 0; clocks < 50 && taken < len(packet); clocks++ {
			*p.SValid, *p.SData, *p.SLast = true, packet[taken], taken == len(packet)-1
			settle(t, b)
			taken += count(*p.SReady)
			b.Step(1)
		}
		*p.SValid, *p.SLast = false, false
		return taken
	}
	for n := range 256 {
		check.Equal(t, fmt.Sprint("bytes taken of packet ", n), give([]byte{byte(linkproto.TypeWrite), 0, 0}), linkproto.HeaderBytes)
	}
	page := check.Must((&linkproto.Packet{Type: linkproto.TypePage}).Append(nil))(t)
	*p.SHost = true
	check.Equal(t, "bytes taken of a trap behind them", give(page), len(page)-1)
}
