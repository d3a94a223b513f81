package net_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// netRegs is module net_regs with a table beside it.
type netRegs struct {
	RegEn, RegWrite, RegDone, RegOk, MEn, MDone, MOk       *bool   `port:"*"`
	Clearing, TableGroup, TableRead, TableDone, TableWrite *bool   `port:"*"`
	RegAddr, TableAddr                                     *uint16 `port:"*"`
	RegWdata, RegValue, MValue, TableValue, TableWdata     *uint32 `port:"*"`

	t     *testing.T
	b     *testbench.Bench
	r     *testbench.Rand
	ports int
	want  map[linkproto.Reg]uint32
}

const regsNodes, regsGroups = 64, 8

// access is one access, and what came of it. Whatever is not the router's is answered by others, with their number as the value.
func (n *netRegs) access(reg linkproto.Reg, write bool, v uint32) (ok bool, value uint32) {
	*n.RegEn, *n.RegWrite, *n.RegAddr, *n.RegWdata = true, write, uint16(reg), v
	_, mine := n.want[reg]
	answer, wrote := 1+n.r.IntN(20), 0
	for clocks := 1; ; clocks++ {
		*n.MDone, *n.TableDone = false, false
		check.Fatal(n.t, n.b.Model().Eval())
		if *n.MEn == mine {
			n.t.Fatalf("register %v, write %v: others are asked: %v", reg, write, *n.MEn)
		}
		at := linkproto.RouteReg(*n.TableAddr)
		if *n.TableGroup {
			at = linkproto.GroupReg(int(*n.TableAddr))
		}
		if (*n.TableRead || *n.TableWrite) && (at != reg || *n.Clearing || *n.TableRead == write || *n.TableWrite != write) {
			n.t.Fatalf("register %v, write %v: entry %v is read %v, written %v, clearing %v", reg, write, at, *n.TableRead, *n.TableWrite, *n.Clearing)
		}
		*n.MDone, *n.MOk, *n.MValue = *n.MEn && clocks > answer, reg&1 == 0, uint32(reg)
		*n.TableDone, *n.TableValue = *n.TableRead && clocks > answer, n.r.Uint32()
		if *n.TableDone {
			*n.TableValue = n.want[reg]
		}
		if *n.TableWrite {
			n.want[reg] = *n.TableWdata
			wrote++
		}
		check.Fatal(n.t, n.b.Model().Eval())
		done := *n.RegDone
		ok, value = *n.RegOk, *n.RegValue
		n.b.Step(1)
		*n.Clearing = *n.Clearing && n.r.Chance(0.95)
		switch {
		case done:
			*n.RegEn, *n.MDone = false, false
			n.b.Step(uint64(n.r.IntN(3)))
			if wrote > 1 || wrote == 1 != (ok && write && mine) {
				n.t.Fatalf("register %v, write %v: the table is written %d times", reg, write, wrote)
			}
			return ok, value
		case !*n.Clearing && clocks > 1000:
			n.t.Fatalf("register %v, write %v: no answer after %d clocks", reg, write, clocks)
		}
	}
}

// read reads a register and compares it.
func (n *netRegs) read(reg linkproto.Reg) {
	n.t.Helper()
	ok, value := n.access(reg, false, n.r.Uint32())
	want, mine := n.want[reg]
	if !mine {
		check.Equal(n.t, fmt.Sprintf("value of others' register %v", reg), [2]any{ok, value}, [2]any{reg&1 == 0, uint32(reg)})
	} else if !ok || value != want {
		n.t.Fatalf("register %v reads %#x, ok %v; want %#x", reg, value, ok, want)
	}
}

// write writes a register: of the router's only entries of the table can be written.
func (n *netRegs) write(reg linkproto.Reg, v uint32) {
	n.t.Helper()
	port := func(f linkproto.Bits) uint32 {
		if int(f.Of(v)) > n.ports {
			return 0
		}
		return f.In(f.Of(v))
	}
	ok, _ := n.access(reg, true, v)
	_, mine := n.want[reg]
	var want uint32
	switch isRoute, isGroup := reg >= linkproto.RegRouteTable && reg < linkproto.RegGroupTable, reg >= linkproto.RegGroupTable; {
	case !mine:
		check.Equal(n.t, fmt.Sprintf("ok of others' register %v", reg), ok, reg&1 == 0)
		return
	case isRoute:
		want = port(linkproto.RoutePort) | port(linkproto.RouteAlternate)
	case isGroup:
		want = v & (2<<n.ports - 1)
	default:
		check.Equal(n.t, fmt.Sprintf("register %v can be written", reg), ok, false)
		return
	}
	if !ok || n.want[reg] != want {
		n.t.Fatalf("%#x written to %v: ok %v, became %#x, want %#x", v, reg, ok, n.want[reg], want)
	}
}

// TestRegs: every register number, read and written, does what the tables of the protocol say, and every event counts once, at its port.
func TestRegs(t *testing.T) {
	for _, c := range []struct{ ports, width, lanes int }{{2, 1, 1}, {3, 1, 2}, {8, 8, 1}} {
		t.Run(fmt.Sprintf("%d ports, width %d, %d lanes", c.ports, c.width, c.lanes), func(t *testing.T) {
			n := &netRegs{t: t, ports: c.ports, want: map[linkproto.Reg]uint32{}}
			n.b = moduletest.Open(t, "net_regs", params{"PORTS": c.ports, "WIDTH": c.width, "LANES": c.lanes, "NODES": regsNodes, "GROUPS": regsGroups}, n)
			n.r = n.b.Rand("values")
			set := func(port string, bits, i int, v uint64) {
				check.Fatal(t, n.b.Model().Poke(fmt.Sprintf("%s[%d:%d]", port, bits*(i+1)-1, bits*i), v))
			}
			drawn := make([][3]uint32, c.ports+1) // status, lanes, peer
			for p := range drawn {
				drawn[p] = [3]uint32{n.r.Uint32(), n.r.Uint32(), n.r.Uint32()}
			}
			say := func(invert uint32) {
				for p, d := range drawn {
					status, lanes, peer := (d[0]^invert)&0xFFFF, (d[1]^invert)&0xFF, d[2]^invert
					set("status", 16, p, uint64(status))
					set("lanes", 8, p, uint64(lanes))
					set("peer", 18, p, uint64(peer>>14))
					n.want[linkproto.PortStatusReg(p)] = status | linkproto.StatusLanes.In(lanes)
					n.want[linkproto.PortPeerReg(p)] = peer&^0x3FFF_FFFF | peer>>14&0xFFFF
				}
			}
			say(0)
			for p := range c.ports + 1 {
				for i := range linkproto.NumRouterCounters {
					n.want[linkproto.RouterCounter(i).Reg(p)] = 0
				}
				for i := range linkproto.NumCounters {
					n.want[linkproto.PortCounterReg(p, linkproto.Counter(i))] = 0
				}
			}
			for i := range regsNodes {
				n.want[linkproto.RouteReg(uint16(i))] = 0
			}
			for i := range regsGroups {
				n.want[linkproto.GroupReg(i)] = 0
			}
			*n.Clearing = true
			n.write(linkproto.RouteReg(5), linkproto.RoutePort.In(1))
			*n.Clearing = true
			n.read(linkproto.RouteReg(5))
			for r := range 1 << 16 {
				if _, mine := n.want[linkproto.Reg(r)]; mine || r%61 == 0 || r&0xFF < 2 {
					n.read(linkproto.Reg(r))
					n.write(linkproto.Reg(r), testbench.Pick(n.r, n.r.Uint32(), n.r.Uint32()&0x001F001F))
				}
			}
			say(^uint32(0)) // each bit has both values
			for p := range c.ports + 1 {
				n.read(linkproto.PortStatusReg(p))
				n.read(linkproto.PortPeerReg(p))
			}
			// Each event counts on its own counter, once; those that can come in clocks behind each other do.
			for p := range c.ports + 1 {
				for i, name := range []string{"ev_bad", "ev_lost", "ev_hops", "ev_late"} {
					count := 1 + n.r.IntN(3)
					for range count {
						set(name, 1, p, 1)
						n.b.Step(1)
						set(name, 1, p, 0)
						if c.width == 1 && i > 0 {
							n.b.Step(7)
						}
					}
					n.want[linkproto.RouterCounter(i).Reg(p)] += uint32(count)
				}
				for i := range linkproto.NumCounters {
					count := 1 + n.r.IntN(3)
					for range count {
						set("events", 1, linkproto.NumCounters*p+i, 1)
						n.b.Step(1)
						set("events", 1, linkproto.NumCounters*p+i, 0)
						n.b.Step(7)
					}
					n.want[linkproto.PortCounterReg(p, linkproto.Counter(i))] += uint32(count)
				}
			}
			// What a bank of counters shows while another one is read is not read with it.
			if c.width > 1 || c.lanes > 1 {
				const many = 3 << 10
				often := uint64(0xFFFF) &^ (1<<linkproto.CntRetries | 1<<linkproto.CntRestarts | 1<<linkproto.CntStops)
				for p := range min(8, c.ports+1) { // the first bank
					set("events", linkproto.NumCounters, p, often)
				}
				n.b.Step(many)
				for p := range min(8, c.ports+1) {
					set("events", linkproto.NumCounters, p, 0)
					for i := range linkproto.NumCounters {
						if often>>i&1 != 0 {
							n.want[linkproto.PortCounterReg(p, linkproto.Counter(i))] += many
						}
					}
				}
			}
			for r := range 1 << 16 {
				if _, mine := n.want[linkproto.Reg(r)]; mine {
					n.read(linkproto.Reg(r))
				}
			}
		})
	}
}
