package ni_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type regsPorts struct {
	RegEn, RegWrite, RegDone, RegOk, FtWrEn, FtWrValid, FtValid, Notify, Gateway, Anonymous, Renew *bool   `port:"*"`
	RegAddr, FtFrame, Node                                                                         *uint16 `port:"*"`
	RegWdata, RegValue, Nonce                                                                      *uint32 `port:"*"`
	FtWrLink, FtLink, Admit                                                                        *uint8  `port:"*"`
}

// Every one of the 65536 register numbers, read and written, does what the tables of the protocol say, and only that.
func TestRegs(t *testing.T) {
	for _, c := range []struct{ links, frames, routes, router, lanes int }{{1, 3, 1, 0, 1}, {2, 64, 0, 0, 1}, {7, 256, 0, 0, 2}, {1, 4, 1, 2, 1}} {
		t.Run(fmt.Sprintf("%dx%d,%d,%d,%d", c.links, c.frames, c.routes, c.router, c.lanes), func(t *testing.T) {
			var p regsPorts
			const hash = 0x0123456789ABCDEF
			b := moduletest.Open(t, "ni_regs", params{
				"LINKS": c.links, "FRAMES": c.frames, "PAGE_BYTES": "512", "REPLAY_BYTES": "2048", "RX_BYTES": "8192",
				"ROUTES": c.routes, "ROUTER": c.router, "LANES": c.lanes, "SPACED": c.lanes - 1,
				"SOURCE_HASH": fmt.Sprintf("64'h%016x", uint64(hash)),
			}, &p)
			rng := b.Rand("values")
			control := uint32(1) // fields that there are
			if c.routes != 0 && c.router == 0 {
				control = 3
			}
			admitted := uint8(0)         // links whose LOST was cleared
			renewed := 0                 // times the links were to start again
			table := make([]uint32, 256) // beside the module: the frame table
			events := make([]uint32, 16*(c.links+1))
			access := func(r linkproto.Reg, write bool, v uint32) (ok bool, value uint32) {
				*p.RegEn, *p.RegWrite, *p.RegAddr, *p.RegWdata = true, write, uint16(r), v
				for clocks := 1; ; clocks++ {
					settle(t, b)
					if f := int(*p.FtFrame); f < c.frames {
						*p.FtValid, *p.FtLink = table[f]>>31 != 0, uint8(table[f]&7)
					} else {
						*p.FtValid, *p.FtLink = true, 5 // must not show
					}
					settle(t, b)
					done := *p.RegDone
					ok, value = *p.RegOk, *p.RegValue
					admitted |= *p.Admit
					if *p.FtWrEn {
						if !done || !write || int(*p.FtFrame) >= c.frames || r != linkproto.FrameReg(int(*p.FtFrame)) {
							t.Fatalf("register %#x, write %v: frame %d is written", r, write, *p.FtFrame)
						}
						table[*p.FtFrame] = uint32(*p.FtWrLink)
						if *p.FtWrValid {
							table[*p.FtFrame] |= 1 << 31
						}
					}
					b.Step(1)
					renewed += count(*p.Renew)
					if done {
						break
					}
					if clocks > 24 {
						t.Fatalf("register %#x, write %v: no answer after %d clocks", r, write, clocks)
					}
				}
				*p.RegEn = false
				for range rng.IntN(3) {
					b.Step(1)
					renewed += count(*p.Renew)
					if *p.RegDone {
						t.Fatalf("register %#x, write %v: answered twice", r, write)
					}
				}
				return ok, value
			}

			status := make([]uint32, c.links+1)
			want := map[linkproto.Reg]uint32{
				linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version, linkproto.RegHashLo: hash & 0xFFFFFFFF,
				linkproto.RegHashHi: hash >> 32, linkproto.RegLinks: uint32(c.links), linkproto.RegFrames: uint32(c.frames),
				linkproto.RegPageBytes: 512, linkproto.RegReplayBytes: 2048, linkproto.RegRxBytes: 8192,
				linkproto.RegWindow: linkproto.MaxWindow, linkproto.RegFeatures: uint32(3 | c.routes<<4 | min(c.router, 1)<<5), linkproto.RegScratch: 0, linkproto.RegControl: 0,
				linkproto.RegNodeID: 0, linkproto.RegNonce: 0,
			}
			for l := range c.links + 1 {
				status[l] = rng.Uint32()
				set(t, b, "status", 32, l, uint64(status[l]))
				want[linkproto.LinkStatusReg(l)] = status[l]
				peer := rng.Uint32()
				set(t, b, "peer", 18, l, uint64(peer>>14))
				want[linkproto.PeerReg(l)] = peer&^0x3FFF_FFFF | peer>>14&0xFFFF
				for i := range linkproto.NumCounters {
					want[linkproto.CounterReg(l, linkproto.Counter(i))] = 0
				}
			}
			for f := range c.frames {
				want[linkproto.FrameReg(f)] = 0
			}
			read := func(r linkproto.Reg) {
				t.Helper()
				admitted, renewed = 0, 0
				ok, value := access(r, false, rng.Uint32())
				if admitted != 0 || renewed != 0 {
					t.Fatalf("reading register %#x clears LOST of links %08b, and has links start again %d times", r, admitted, renewed)
				}
				if v, exists := want[r]; ok != exists || ok && value != v {
					t.Fatalf("register %#x reads as %#x, exists %v; want %#x, %v", r, value, ok, v, exists)
				}
			}
			write := func(r linkproto.Reg, v uint32) {
				t.Helper()
				f := int(r) - int(linkproto.FrameReg(0))
				isFrame := f >= 0 && f < c.frames
				l := int(r) - int(linkproto.RegLinkStatus)
				isStatus, admits := l >= 0 && l <= c.links, uint8(0)
				if isStatus {
					admits = uint8(linkproto.StatusLost.Of(v) << l)
				}
				admitted, renewed = 0, 0
				ok, _ := access(r, true, v)
				kept := r == linkproto.RegScratch || r == linkproto.RegNodeID || r == linkproto.RegNonce
				if ok != (isFrame || isStatus || kept || r == linkproto.RegControl) {
					t.Fatalf("writing register %#x: ok %v", r, ok)
				}
				if admitted != admits {
					t.Fatalf("writing %#x to register %#x clears LOST of links %08b, want %08b", v, r, admitted, admits)
				}
				if isFrame {
					want[r] = v & (1<<31 | 7)
					if table[f] != want[r] {
						t.Fatalf("frame %d became %#x, want %#x", f, table[f], want[r])
					}
				} else if kept {
					want[r] = v
				} else if r == linkproto.RegControl {
					want[r] = v & control
				}
				if *p.Notify != (want[linkproto.RegControl]&1 != 0) || *p.Gateway != (want[linkproto.RegControl]&2 != 0) {
					t.Fatalf("writing %#x to register %#x: notify %v, gateway %v", v, r, *p.Notify, *p.Gateway)
				}
				if renewed != count(r == linkproto.RegNonce) {
					t.Fatalf("writing %#x to register %#x has links start again %d times", v, r, renewed)
				}
				b.Step(1)
				if uint32(*p.Node) != want[linkproto.RegNodeID]&0xFFFF || *p.Nonce != want[linkproto.RegNonce] || *p.Anonymous != (*p.Nonce == 0) {
					t.Fatalf("writing %#x to register %#x: node %#x with nonce %#x, anonymous %v", v, r, *p.Node, *p.Nonce, *p.Anonymous)
				}
			}
			// What the memory behind the settable registers holds does not show until they have been written, each by itself.
			settable := []linkproto.Reg{linkproto.RegScratch, linkproto.RegNodeID, linkproto.RegNonce}
			for range 4 {
				for _, i := range rng.Perm(len(settable)) {
					for _, r := range settable {
						read(r)
					}
					write(settable[i], rng.Uint32())
				}
				write(linkproto.RegNonce, 0)
				write(linkproto.RegNonce, 1<<rng.IntN(32))
				write(linkproto.RegControl, control)
				b.Reset("rst", 3)
				for _, r := range settable {
					want[r] = 0
				}
				want[linkproto.RegControl] = 0
			}
			for v := range uint32(4) {
				write(linkproto.RegControl, v)
				read(linkproto.RegControl)
			}
			for r := range 1 << 16 {
				if r < 0x800 || r%7 == c.links%7 { // all of them would take a second more
					read(linkproto.Reg(r))
					write(linkproto.Reg(r), rng.Uint32())
				}
			}
			for _, r := range slices.Sorted(maps.Keys(want)) {
				if rng.Chance(0.3) {
					read(r) // nothing has changed by the writes
				}
			}
			for l := range c.links + 1 {
				write(linkproto.LinkStatusReg(l), linkproto.StatusLost.In(1))
				write(linkproto.LinkStatusReg(l), ^linkproto.StatusLost.In(1))
				read(linkproto.LinkStatusReg(l))
			}
			for range 40 {
				r := testbench.Pick(rng, settable...)
				write(r, rng.Uint32())
				read(r)
			}
			// Each event counts on its own counter, once, and those that can come in clocks behind each other do.
			atOnce := []linkproto.Counter{linkproto.CntTxPackets, linkproto.CntRxCRC, linkproto.CntRxStray, linkproto.CntBadWord,
				linkproto.CntReplays, linkproto.CntLostPackets, linkproto.CntBadPacket}
			if c.lanes > 1 {
				atOnce = append(atOnce, linkproto.CntRxPackets, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntNoSpace)
			}
			if c.lanes > 1 || c.routes != 0 {
				atOnce = append(atOnce, linkproto.CntDenied)
			}
			for i := range events {
				n := 2 + rng.IntN(3)
				events[i] = uint32(n)
				for range n {
					set(t, b, "events", 1, i, 1)
					b.Step(1)
					set(t, b, "events", 1, i, 0)
					if !slices.Contains(atOnce, linkproto.Counter(i%16)) {
						b.Step(7)
					}
				}
			}
			for i, n := range events {
				want[linkproto.CounterReg(i/16, linkproto.Counter(i%16))] = n
			}
			for i := range events {
				read(linkproto.CounterReg(i/16, linkproto.Counter(i%16)))
			}
		})
	}
}
