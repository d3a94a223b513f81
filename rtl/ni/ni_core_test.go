package ni_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// slowEnd is an endpoint in Go behind a PHY that moves a symbol every so many clocks.
type slowEnd struct {
	*flowctl.Endpoint
	every, phase int
	words        int // link state words that the network interface sent
	symbols      int // and all its symbols, idle ones included
}

// The network interface behind PHYs that take a symbol only now and then, each at its own pace: nothing is lost or doubled, and times are
// counted in symbols, so that a slow line is not flooded with words.
func TestCoreSlowPHY(t *testing.T) {
	for _, pace := range [][2]int{{1, 1}, {1, 7}, {10, 1}, {3, 2}, {12, 40}} {
		t.Run(fmt.Sprint(pace), func(t *testing.T) {
			var p struct {
				Tick, TxReady, RxValid *uint8  `port:"*"`
				TxSym, RxSym           *uint32 `port:"*"`
			}
			b := moduletest.New(t, "ni_core", params{"PAGE_BYTES": 64, "FRAMES": 3, "REPLAY_BYTES": 256, "RX_BYTES": 512}, &p)
			b.Reset("rst", 64)
			rng := b.Rand("traffic")
			var ends [2]*slowEnd
			for i := range ends {
				c := flowctl.Config{MaxPacket: linkproto.MaxPacket(64), ReceiveBytes: 1024, Silence: -1}
				if i > 0 {
					c.Port, c.Nonce, c.Silence = 1, ni.Nonce(rng), 0
				}
				ends[i] = &slowEnd{Endpoint: check.Must(flowctl.New(c))(t), every: pace[i], phase: rng.IntN(pace[i])}
			}
			clock := 0
			step := func() {
				clock++
				*p.Tick, *p.TxReady, *p.RxValid = 0, 0, 0
				var moving [2]bool
				for i, e := range ends {
					if moving[i] = clock%e.every == e.phase; !moving[i] {
						*p.RxSym = *p.RxSym&^(0x1FF<<(9*i)) | rng.Uint32()&0x1FF<<(9*i) // no symbol at all
						continue
					}
					*p.Tick |= 1 << i
					*p.TxReady |= 1 << i
					*p.RxValid |= 1 << i
					*p.RxSym = *p.RxSym&^(0x1FF<<(9*i)) | uint32(e.Next())<<(9*i)
				}
				settle(t, b)
				sent := *p.TxSym
				b.Step(1)
				for i, e := range ends {
					if moving[i] {
						s := linkproto.Symbol(sent >> (9 * i) & 0x1FF)
						e.symbols++
						e.words += count(s == linkproto.SymLSW)
						e.Feed([]linkproto.Symbol{s})
						e.Tick(1)
					}
				}
			}
			host, peer := ends[0], ends[1]
			until := func(what string, done func() bool) {
				t.Helper()
				for limit := clock + 400_000; !done(); step() {
					if clock > limit {
						t.Fatalf("after %d clocks still waiting for %s", clock, what)
					}
				}
			}
			ask := func(q linkproto.Packet) (a linkproto.Packet) {
				t.Helper()
				raw := check.Must(q.Append(nil))(t)
				check.Fatal(t, host.Send(raw))
				until(fmt.Sprintf("the answer to %v", q.Type), func() bool {
					raw, ok := host.Receive()
					if !ok {
						return false
					}
					check.Fatal(t, a.Decode(raw))
					a.Data = bytes.Clone(a.Data)
					return a.Type != linkproto.TypeSpace
				})
				if a.Tag != q.Tag || a.Via != q.Via {
					t.Fatalf("%v with tag %d by link %d answered with tag %d by link %d", q.Type, q.Tag, q.Via, a.Tag, a.Via)
				}
				return a
			}
			until("the host's port", func() bool { return host.Status().Up })
			ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 1, Reg: linkproto.RegNonce, Value: ni.Nonce(rng)})
			until("the link", func() bool { return peer.Status().Up })

			image := make([]byte, 192)
			for f := range 3 {
				entry := uint32(1<<31 | 1)
				if f == 1 {
					entry = 0
				}
				ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 1, Reg: linkproto.FrameReg(f), Value: entry})
				ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: 2, Addr: uint32(64 * f), Data: make([]byte, 64)})
			}
			for n := range 60 {
				addr, size := rng.IntN(192), rng.IntN(65)
				size = min(size, 64-addr%64)
				data := rng.Bytes(size)
				raw, _ := (&linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data}).Append(nil)
				until("room for a write", func() bool { return peer.Send(raw) == nil })
				if addr/64 != 1 {
					copy(image[addr:], data)
				}
				if n%4 == 0 {
					raw, _ := (&linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Addr: uint32(n), Data: data}).Append(nil)
					until("room for a write of the host", func() bool { return host.Send(raw) == nil })
					until("the write at the peer", func() bool {
						got, ok := peer.Receive()
						if raw[0] &= 0x1F; ok && !bytes.Equal(got, raw) {
							t.Fatalf("the peer received % x, want % x", got, raw)
						}
						return ok
					})
					until("its room to be free again", func() bool {
						raw, ok := host.Receive()
						if !ok {
							return false
						}
						var q linkproto.Packet
						if err := q.Decode(raw); err != nil || q.Type != linkproto.TypeSpace || q.Via != 1 || int(q.Packets) != n/4+1 {
							t.Fatalf("after %d writes the host received %+v, %v", n/4+1, q, err)
						}
						return true
					})
				}
			}
			until("the peer's writes to be acknowledged", func() bool { return peer.Queued() == 0 })
			for range 2000 {
				step()
			}
			for f := range 3 {
				a := ask(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: 3, Addr: uint32(64 * f), Count: 64})
				check.Equal(t, fmt.Sprint("content of frame ", f), a.Data, image[64*f:64*f+64])
			}
			for i, e := range ends {
				for _, c := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxGap, linkproto.CntRxStray, linkproto.CntBadWord, linkproto.CntRestarts} {
					if a := ask(linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 4, Reg: linkproto.CounterReg(i, c)}); a.Value != 0 || e.Counter(c) != 0 {
						t.Errorf("link %d: counter %v is %d, the other end's %d", i, c, a.Value, e.Counter(c))
					}
				}
			}
			for range 1000 * pace[0] {
				step() // what is still to be acknowledged
			}
			host.words, host.symbols = 0, 0
			if pace[0] < 12 { // an idle line carries a word each WORD_TIMER symbols
				for range 5 * linkproto.DefaultWordTimer * pace[0] {
					step()
				}
				if host.words < 4 || host.words > 6 {
					t.Errorf("the idle host port carries %d words in %d symbols", host.words, host.symbols)
				}
			}
		})
	}
}

// Packets that come by lanes closer together than a frame is long count each.
func TestCoreLanesCount(t *testing.T) {
	w := openWhole(t, rtl.Params{HostLanes: 2})
	w.Nodes[0].Host.Received = func(linkproto.Packet) {} // refusals
	w.must(w.Run(6000))
	received := linkproto.CounterReg(0, linkproto.CntRxPackets)
	before := w.register(received)
	const packets = 100
	for n := range packets {
		raw := check.Must((&linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1, Tag: uint8(n)}).Append(nil))(t)
		w.must(w.Until(1000, "room for a packet", func() bool { return w.Nodes[0].Host.Port.Send(raw) == nil }))
	}
	w.must(w.Run(3000))
	check.Equal(t, "packets counted, and the question for them", w.register(received)-before, packets+1)
}
