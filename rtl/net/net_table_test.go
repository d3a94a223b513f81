package net_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestTable: inputs that ask get the ways that the entries and the ports alive give them, one in a clock, none later than all others have been
// served; after a reset there are none.
func TestTable(t *testing.T) {
	const nodes, groups = 32, 4
	var p struct {
		Rst, WrEn, WrGroup, Clearing *bool   `port:"*"`
		Alive, Look, Looked, Ways    *uint8  `port:"*"`
		Self, WrAddr                 *uint16 `port:"*"`
		WrData                       *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "net_table", params{"N": outputs, "NODES": nodes, "GROUPS": groups}, &p)
	r := b.Rand("entries")
	var routes [nodes][2]int // port, alternate
	var masks [groups]uint8
	var asks [outputs]uint16
	var waited [outputs]int
	ways := func(input int) uint8 {
		dest := asks[input]
		switch {
		case dest == *p.Self && dest != 0:
			return 1
		case *p.Clearing:
			return 0
		case dest >= linkproto.MulticastBase+groups:
			return 0
		case dest >= linkproto.MulticastBase:
			return masks[dest&(groups-1)] & (*p.Alive | 1) &^ (1 << input)
		case dest >= nodes:
			return 0
		}
		for _, port := range routes[dest] {
			if port > 0 && port < outputs && at(*p.Alive, port) {
				return 1 << port
			}
		}
		return 0
	}
	var asked [4]int // of this node, of nodes, of groups, of none
	for now := range 60_000 {
		if *p.Rst = now%20_000 == 19_999; *p.Rst {
			routes, masks = [nodes][2]int{}, [groups]uint8{}
		}
		if r.Chance(0.01) {
			*p.Alive, *p.Self = uint8(r.IntN(1<<outputs)), uint16(r.IntN(nodes))
		}
		*p.WrEn, *p.WrGroup, *p.WrData = !*p.Clearing && !*p.Rst && r.Chance(0.1), r.Chance(0.3), uint32(r.IntN(8))<<16|uint32(r.IntN(8))
		*p.WrAddr = testbench.Pick(r, uint16(r.IntN(nodes)), uint16(r.IntN(groups)), uint16(r.IntN(1<<16)))
		if *p.WrEn && *p.Look != 0 { // what is being looked up may be either
			*p.WrEn = false
		}
		for i := range outputs {
			if !at(*p.Look, i) && r.Chance(0.3) && !*p.WrEn {
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
			*p.Look = 0
			continue
		}
		if *p.Looked&(*p.Looked-1) != 0 || *p.Looked&^*p.Look != 0 {
			t.Fatalf("clock %d: %b asked, and %b are served at once", now, *p.Look, *p.Looked)
		}
		for i := range outputs {
			if !at(*p.Looked, i) {
				waited[i]++
				if at(*p.Look, i) && waited[i] > outputs {
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
			case dest == *p.Self:
				asked[0]++
			case dest < linkproto.MulticastBase:
				asked[1]++
			default:
				asked[2]++
			}
		}
	}
	for i, n := range asked {
		if n < 500 {
			t.Errorf("only %v answers were for this node, others, groups, none: %d too few", asked, i)
		}
	}
}
