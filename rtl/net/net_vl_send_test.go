package net_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestVLSend: each ROUTE has the fields that stood at its start and the right CRC, however slowly the network takes it or its packet comes; undo takes
// it back, and so does it if its slot is freed before all of the packet has gone.
func TestVLSend(t *testing.T) {
	const slots, slotBytes = 4, 64
	var p struct {
		Start, Early, Whole, Undo, Frees, Idle, RdEn, MValid, MReady, MLast, MVoid *bool   `port:"*"`
		ClassOf, State, Next, Seq, Slot, FreedSlot, Come, RdAt, RdData, MData      *uint8  `port:"*"`
		Dest, Node, Vl, Size                                                       *uint16 `port:"*"`
		Key                                                                        *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "net_vl_send", params{"SLOTS": slots, "SLOT_BYTES": slotBytes}, &p)
	r := b.Rand("ROUTEs")
	draw := func() {
		*p.Dest, *p.Node, *p.Vl, *p.Key = uint16(r.Uint32()), uint16(r.Uint32()), uint16(r.Uint32()), r.Uint32()
		*p.ClassOf, *p.State, *p.Next, *p.Seq = uint8(r.IntN(4)), uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32())
		*p.Size, *p.Slot, *p.Come = uint16(r.IntN(2)*r.IntN(slotBytes+1)), uint8(r.IntN(slots)), uint8(r.IntN(slotBytes+1))
		*p.Early = *p.Size > 0 && r.Bool()
	}
	undone, freed := 0, 0
	for range 3000 {
		draw()
		slow, comes := testbench.Pick(r, 0, 0.3, 0.8), testbench.Pick(r, 0.05, 0.5, 1)
		memory := r.Bytes(slots * slotBytes)
		size, first, whole, come := int(*p.Size), int(*p.Slot)*slotBytes, !*p.Early, 0
		sent := linkproto.Route{Dest: *p.Dest, Src: *p.Node, Hops: linkproto.MaxHops, Class: *p.ClassOf, VL: *p.Vl, State: *p.State, Next: *p.Next, Seq: *p.Seq,
			Packet: memory[first : first+size]}
		want := check.Must(sent.Seal(nil, linkproto.Key(*p.Key)))(t)
		check.Equal(t, "idle", *p.Idle, true)
		*p.Start, *p.Undo, *p.Frees = true, false, false
		b.Step(1)
		draw() // it has the fields
		*p.Start = false
		of, lost := uint8(first/slotBytes), false
		var have []byte
		for clocks := 0; !*p.Idle; clocks++ {
			if clocks > 10_000 {
				t.Fatalf("% x does not end, want % x", have, want)
			}
			if *p.Whole = false; !whole {
				if come < size && r.Chance(comes) {
					come++
				}
				*p.Come, *p.Undo = uint8(come), r.Chance(0.005)
				*p.Whole = !*p.Undo && come == size && r.Chance(comes)
			}
			*p.MReady, *p.Frees, *p.FreedSlot = !r.Chance(slow), r.Chance(0.02), uint8(r.IntN(slots))
			lost = *p.Frees && *p.FreedSlot == of && size > 0 && len(have) < linkproto.RouteFields+size
			check.Fatal(t, b.Model().Eval())
			if *p.MValid && *p.MLast && !whole {
				t.Fatal("a ROUTE ends before its packet is whole")
			}
			if *p.MValid && *p.MReady {
				have = append(have, *p.MData)
			}
			reads, at := *p.RdEn, int(*p.RdAt)
			if reads && !whole && at >= first+come {
				t.Fatalf("byte %d of a packet is read, and %d have come", at-first, come)
			}
			b.Step(1)
			if reads {
				*p.RdData = memory[at]
			}
			whole = whole || *p.Whole
			check.Equal(t, "a ROUTE is taken back", *p.MVoid, *p.Undo || lost)
			check.Equal(t, "it goes on", *p.MVoid && *p.MValid, false)
		}
		if *p.Undo {
			undone++
		} else if lost {
			freed++
		} else if !bytes.Equal(have, want) {
			t.Fatalf("ROUTE % x, want % x", have, want)
		}
	}
	if undone < 100 || freed < 100 {
		t.Errorf("only %d ROUTEs were undone, and of %d the slot was freed", undone, freed)
	}
}
