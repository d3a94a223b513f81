package net_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestIdent: a switch says what it is, keeps SCRATCH and NODE_ID until a reset, and has no other register.
func TestIdent(t *testing.T) {
	var p struct {
		RegEn, RegWrite, RegDone, RegOk *bool   `port:"*"`
		RegAddr, Node                   *uint16 `port:"*"`
		RegWdata, RegValue, Nonce       *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "net_ident", params{"PORTS": 5, "SOURCE_HASH": "64'h0123456789ABCDEF"}, &p)
	r := b.Rand("values")
	*p.Nonce = r.Uint32()
	want := map[linkproto.Reg]uint32{
		linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version, linkproto.RegHashLo: 0x89ABCDEF, linkproto.RegHashHi: 0x01234567,
		linkproto.RegLinks: 5, linkproto.RegFeatures: linkproto.FeatureRoutes.In(1) | linkproto.FeatureRouter.In(1), linkproto.RegNonce: *p.Nonce,
		linkproto.RegScratch: 0, linkproto.RegNodeID: 0,
	}
	access := func(reg linkproto.Reg, write bool, v uint32) (ok bool, value uint32) {
		*p.RegEn, *p.RegWrite, *p.RegAddr, *p.RegWdata = true, write, uint16(reg), v
		for clocks := 0; ; clocks++ {
			b.Step(1)
			if *p.RegDone {
				ok, value = *p.RegOk, *p.RegValue
				b.Step(1)
				*p.RegEn = false
				b.Step(uint64(r.IntN(3)))
				return ok, value
			}
			if clocks > 3 {
				t.Fatalf("register %v: no answer", reg)
			}
		}
	}
	for round := range 300 {
		reg := linkproto.Reg(r.IntN(0x20))
		switch {
		case round%10 == 0:
			reg = linkproto.Reg(r.Uint32())
		case r.Chance(0.3):
			reg = testbench.Pick(r, linkproto.RegScratch, linkproto.RegNodeID)
		}
		_, exists := want[reg]
		writable := reg == linkproto.RegScratch || reg == linkproto.RegNodeID
		v := r.Uint32()
		if r.Chance(0.6) { // else it has kept what it was last given
			ok, _ := access(reg, true, v)
			check.Equal(t, "register "+reg.String()+" can be written", ok, writable)
			if reg == linkproto.RegNodeID {
				v &= 0xFFFF
			}
			if writable {
				want[reg] = v
			}
		}
		value := want[reg]
		ok, have := access(reg, false, v)
		if ok != exists || ok && have != value {
			t.Fatalf("register %v reads %#x, exists %v; want %#x, %v", reg, have, ok, value, exists)
		}
		check.Equal(t, "node", uint32(*p.Node), want[linkproto.RegNodeID])
		if r.Chance(0.03) {
			b.Reset("rst", 1)
			want[linkproto.RegScratch], want[linkproto.RegNodeID] = 0, 0
			*p.Nonce = testbench.Pick(r, 0, r.Uint32())
			want[linkproto.RegNonce] = *p.Nonce
		}
	}
}
