package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestVLOut: ni_vl_out gives what comes by virtual links to the host or to the receive buffer, in order, a trap when all before it is carried out, and what the
// host is to be told behind all that came before; nothing is left of what is taken back or malformed.
func TestVLOut(t *testing.T) {
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
	b := moduletest.Open(t, "ni_vl_out", params{"VIRTUAL": 3, "FRAMES": frames, "MAX_PACKET": vlLongest, "HOLD_BYTES": 256}, &p)
	r := b.Rand("network")
	var told, wantTold, written, wantWritten []string
	var writing []byte
	busy, bad, wantBad, halts, voids := 0, 0, 0, 0, 0 // busy: clocks that a write goes on
	early, undone := 0, 0                             // bytes that come out on trial; packets of which some have, and that are taken back
	slow := 0.7
	clock := func() (taken bool) {
		*p.M.Ready, *p.IReady, *p.Quiet = r.Chance(slow), r.Chance(slow), busy == 0 && len(writing) == 0
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
	for n := range 1500 {
		vl, packet, malformed := r.IntN(8), []byte{byte(linkproto.TypeWrite), 0, 0}, false
		packet = append(packet, r.Bytes(r.IntN(vlLongest-linkproto.HeaderBytes+1))...)
		switch r.IntN(4) {
		case 0:
			packet[0] = byte(linkproto.TypeMessage)
			malformed = len(packet) < linkproto.HeaderBytes+8
		case 1:
			frame := uint16(r.IntN(2 * frames))
			packet = check.Must((&linkproto.Packet{Type: linkproto.TypePage, Frame: frame, Port: r.Uint32()}).Append(nil))(t)
			malformed = frame >= frames
		}
		packet[1] = byte(len(packet) - linkproto.HeaderBytes)
		host := linkproto.Type(packet[0]) != linkproto.TypeWrite
		slow = []float64{0.9, 0.2}[n/100%2]
		for host && !*p.Room {
			clock()
		}
		*p.SVl, *p.SHost = uint8(vl), host
		last := len(packet)
		if r.Chance(0.1) {
			last = 1 + r.IntN(len(packet)-1)
		}
		for i := 0; i < last; {
			if *p.SValid = *p.SValid || r.Chance(0.9); *p.SValid {
				*p.SData, *p.SLast = packet[i], i == len(packet)-1
			}
			if clock() {
				*p.SValid = false
				i++
			}
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
			wantTold = append(wantTold, fmt.Sprintf("%x", inVirtual(t, vl, packet)))
		}
		if *p.ToldReady && r.Chance(0.2) {
			*p.Told, *p.ToldVl, *p.ToldFreed, *p.ToldStatus = true, uint8(vl), uint8(r.IntN(256)), uint16(r.Uint32())
			space := check.Must((&linkproto.Packet{Type: linkproto.TypeSpace, Bytes: *p.ToldStatus, Packets: *p.ToldFreed}).Append(nil))(t)
			wantTold = append(wantTold, fmt.Sprintf("%x", inVirtual(t, vl, space)))
			clock()
			*p.Told = false
			clock() // told_ready may fall in the clock behind
		}
	}
	slow = 1
	for range 2000 {
		clock()
	}
	check.Equal(t, "told", told, wantTold)
	check.Equal(t, "written", written, wantWritten)
	check.Equal(t, "bad packets", bad, wantBad)
	if bad < 50 || halts < 50 || voids < 50 || len(written) < 200 || early < 500 || undone < 15 {
		t.Errorf("%d bad, %d traps, %d taken back, %d of them after they had begun, %d written, %d bytes on trial: too few", bad, halts, voids, undone, len(written), early)
	}
}
