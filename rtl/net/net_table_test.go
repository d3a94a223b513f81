package net_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestTable: inputs that ask get the ways that the entries and the ports alive give them, one in a clock, none later than all others have been
// served; entries read as they are, those beyond the table 0; after a reset there are none.
func TestTable(t *testing.T) {
	const nodes, groups = 32, 4
	var p struct {
		Rst, WrEn, WrGroup, Clearing, RdEn, RdDone *bool   `port:"*"`
		Alive, Look, Looked, Ways, Back            *uint8  `port:"*"`
		Self, WrAddr                               *uint16 `port:"*"`
		WrData, RdValue                            *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "net_table", params{"N": outputs, "NODES": nodes, "GROUPS": groups}, &p)
	r := b.Rand("entries")
	var routes [nodes][2]int // port, alternate
	var masks [groups]uint8
	var asks [outputs]uint16
	var waited [outputs]int
	ways := func(input int) uint8 {
		dest := asks[input]
		var ports []int
		switch {
		case *p.Self == 0 && input != 0, *p.Self != 0 && dest == *p.Self:
			return 1
		case !*p.Clearing && dest >= linkproto.MulticastBase && dest < linkproto.MulticastBase+groups:
			return masks[dest&(groups-1)] & (*p.Alive | 1) &^ (1 << input)
		case !*p.Clearing && dest < nodes:
			ports = routes[dest][:]
		}
		if input == 0 {
			ports = append(slices.Clone(ports), int(*p.Back))
		}
		for _, port := range ports {
			if port > 0 && port < outputs && at(*p.Alive, port) {
				return 1 << port
			}
		}
		return 0
	}
	var asked [7]int // of this node, of nodes, of groups, of none; back; reads, and those of entries that are set
	waitedRead := 0
	for now := range 60_000 {
		if *p.Rst = now%20_000 == 19_999; *p.Rst {
			routes, masks = [nodes][2]int{}, [groups]uint8{}
		}
		if r.Chance(0.01) {
			*p.Alive, *p.Self, *p.Back = uint8(r.IntN(1<<outputs)), testbench.Pick(r, 0, uint16(r.IntN(nodes))), uint8(r.IntN(8))
		}
		if !*p.RdEn {
			*p.WrEn, *p.WrGroup, *p.WrData = !*p.Clearing && !*p.Rst && r.Chance(0.1), r.Chance(0.3), uint32(r.IntN(8))<<16|uint32(r.IntN(8))
			*p.WrAddr = testbench.Pick(r, uint16(r.IntN(nodes)), uint16(r.IntN(groups)), uint16(r.IntN(1<<16)), uint16(r.IntN(nodes))^1<<r.IntN(12))
			read := *p.WrGroup || *p.WrAddr < linkproto.MulticastBase
			*p.RdEn = read && !*p.WrEn && !*p.Clearing && !*p.Rst && r.Chance(0.1)
			waitedRead = 0
		}
		for i := range outputs {
			if !at(*p.Look, i) && r.Chance(0.3) {
				asks[i] = testbench.Pick(r, *p.Self, uint16(r.IntN(nodes)), uint16(r.IntN(1<<16)), linkproto.MulticastBase|uint16(r.IntN(2*groups)))
				waited[i] = 0
				setBit(p.Look, i, true)
			}
			check.Fatal(t, b.Model().Poke(fmt.Sprintf("dest[%d:%d]", 16*i+15, 16*i), uint64(asks[i])))
		}
		if *p.WrEn {
			switch {
			case *p.WrGroup && *p.WrAddr&0xFFF < groups:
				masks[*p.WrAddr&0xFFF] = uint8(*p.WrData & (1<<outputs - 1))
			case !*p.WrGroup && *p.WrAddr < nodes:
				routes[*p.WrAddr] = [2]int{int(*p.WrData & 7), int(*p.WrData >> 16)}
			}
		}
		clearing := *p.Clearing
		b.Step(1)
		if *p.Rst {
			if *p.Looked != 0 || *p.RdDone {
				t.Fatalf("clock %d: behind a reset %b are served, a read: %v", now, *p.Looked, *p.RdDone)
			}
			*p.Look, *p.RdEn = 0, false
			continue
		}
		idle := 1 // clocks that write nothing
		if *p.WrEn {
			idle = 0
		}
		if waitedRead += idle; *p.RdDone {
			want, group := uint32(0), *p.WrAddr&0xFFF
			switch {
			case *p.WrGroup && group < groups:
				want = uint32(masks[group])
			case !*p.WrGroup && *p.WrAddr < nodes:
				entry := routes[*p.WrAddr]
				want = linkproto.RouteAlternate.In(uint32(entry[1])) | linkproto.RoutePort.In(uint32(entry[0]))
			}
			if !*p.RdEn || *p.Looked != 0 || *p.RdValue != want {
				t.Fatalf("clock %d: entry %d (group: %v) reads %#x, want %#x; %b are served beside it", now, *p.WrAddr, *p.WrGroup, *p.RdValue, want, *p.Looked)
			}
			*p.RdEn = false
			asked[5]++
			if want != 0 {
				asked[6]++
			}
		} else if *p.RdEn && waitedRead > outputs+1 {
			t.Fatalf("clock %d: a read waits for %d clocks", now, waitedRead)
		}
		if *p.Looked&(*p.Looked-1) != 0 || *p.Looked&^*p.Look != 0 {
			t.Fatalf("clock %d: %b asked, and %b are served at once", now, *p.Look, *p.Looked)
		}
		for i := range outputs {
			if !at(*p.Looked, i) {
				waited[i] += idle
				if at(*p.Look, i) && waited[i] > outputs+1 {
					t.Fatalf("clock %d: input %d waits for %d clocks", now, i, waited[i])
				}
				continue
			}
			if want := ways(i); *p.Ways != want && clearing == *p.Clearing {
				t.Fatalf("clock %d: input %d asks for node %d of %v: ways %05b, want %05b; alive %05b, this is %d", now, i, asks[i], routes, *p.Ways, want, *p.Alive, *p.Self)
			}
			setBit(p.Look, i, false)
			switch dest := asks[i]; {
			case *p.Ways == 0:
				asked[3]++
			case *p.Ways == 1:
				asked[0]++
			case i == 0 && int(*p.Ways) == 1<<*p.Back:
				asked[4]++
			case dest < linkproto.MulticastBase:
				asked[1]++
			default:
				asked[2]++
			}
		}
	}
	for i, n := range asked {
		if n < 500 {
			t.Errorf("only %v answers were for this node, others, groups, none, back, reads: %d too few", asked, i)
		}
	}
}
