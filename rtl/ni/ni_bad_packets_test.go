package ni_test

import (
	"slices"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
)

// A packet that the link drops for its length field and those that are dropped behind it count each, whenever they do: before it, in its clock, behind it.
func TestBadPacketsTogether(t *testing.T) {
	for port := range 2 {
		var p struct {
			MReady, RxValid, EvBad *bool   `port:"*"`
			Events, RxSym, TxSym   *uint16 `port:"*"`
			Nonce                  *uint32 `port:"*"`
		}
		b := openPort(t, "ni_endpoint", params{"PORT": port}, &p)
		cfg := flowctl.Config{Port: uint8(port), Node: 7, Silence: -1}
		if port != 0 {
			*p.Nonce, cfg.Nonce = 0x12345678, 0x87654321
		}
		end := check.Must(flowctl.New(cfg))(t)
		*p.MReady, *p.RxValid = true, true
		var line []linkproto.Symbol // that goes before what the end says
		step := func(hidden bool) bool {
			next := end.Next()
			if hidden {
				next = linkproto.SymIdle
			}
			if len(line) > 0 {
				next, line = line[0], line[1:]
			}
			*p.RxSym = uint16(next)
			settle(t, b)
			bad := *p.Events>>linkproto.CntBadPacket&1 != 0
			end.Feed([]linkproto.Symbol{linkproto.Symbol(*p.TxSym)})
			end.Tick(1)
			b.Step(1)
			return bad
		}
		for clocks := 0; !end.Status().Up || clocks < 3000; clocks++ {
			if step(false); clocks > 50000 {
				t.Fatalf("port %d: the link stays down: %+v", port, end.Status())
			}
		}
		const most = 60
		alone := -1 // clock in which the link says that it drops the packet
		for n := -1; n < most; n++ {
			for pulses := range 3 {
				s := end.Status()
				packets, _ := end.Freed()
				key := linkproto.KeyOf(s.Peer.Life, linkproto.LifeOf(cfg.Nonce, cfg.Port, s.Epoch))
				line = linkproto.AppendFrame(nil, key, uint8(packets), []byte{0, 9, 0, 1, 2, 3}) // says nine bytes and has three
				check.Fatal(t, end.Send(dropped(0)))                                             // that the end knows of it
				have, want := 0, 1
				for clock := range 2 * most {
					if *p.EvBad = n >= 0 && clock >= n && clock < n+pulses; *p.EvBad {
						want++
					}
					if step(true) {
						have++
						if n < 0 {
							alone = clock
						}
					}
				}
				for range 1000 {
					have += count(step(false))
				}
				if have != want {
					t.Fatalf("port %d: %d packets count as bad, want %d: one in clock %d, %d from clock %d on", port, have, want, alone, pulses, n)
				}
			}
		}
		if alone < 2 || alone > most-3 {
			t.Errorf("port %d: the link drops the packet in clock %d, and no other is dropped then", port, alone)
		}
	}
}

// Packets that the link drops for their length field, and packets that are dropped behind it for their type, count each, however long the first is.
func TestBadPacketsInTurn(t *testing.T) {
	for port := range 2 {
		p := rtl.Params{PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024}
		w := openWhole(t, p)
		end := w.peer(1)
		if port == 0 {
			end = w.Nodes[0].Host.Port
			w.Nodes[0].Host.Received = func(linkproto.Packet) {} // refusals
		}
		w.must(w.Run(6000))
		count := func() uint32 { return w.register(linkproto.CounterReg(port, linkproto.CntBadPacket)) }
		for n := range 60 {
			before := count()
			w.say(end, 0, dropped(n), dropped(0), []byte{0, 9, 0, 1, 2, 3}) // the last says nine bytes and has three
			w.must(w.Run(300))
			end.Mangle = nil
			w.must(w.Run(1200))
			if have := count() - before; have != 3 {
				t.Fatalf("port %d, %d bytes before: %d packets count as bad, want 3", port, n, have)
			}
		}
	}
}

// Of the host's packets a VIRTUAL and another that are refused one behind the other count each, whatever lies between them.
func TestBadPacketsOfHost(t *testing.T) {
	w := openWhole(t, rtl.Params{PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024, Router: 1, Virtual: 3})
	host := w.Nodes[0].Host
	refused := 0
	host.Received = func(linkproto.Packet) { refused++ }
	w.must(w.Run(6000))
	count := func() uint32 { return w.register(linkproto.CounterReg(0, linkproto.CntBadPacket)) }
	virtual, other := []byte{byte(linkproto.TypeVirtual), 0, 0}, []byte{byte(linkproto.TypeRegRead), 0, 0}
	for _, pair := range [][][]byte{{other, virtual}, {virtual, other}} {
		for idles := range 40 {
			before := count()
			refused = 0
			w.say(host.Port, idles, pair...)
			w.must(w.Run(300))
			host.Mangle = nil
			w.must(w.Run(1200))
			if have := count() - before; have != 2 || refused != 2 {
				t.Errorf("% x and %d IDLEs and % x: %d packets count as bad and %d are refused, want 2", pair[0], idles, pair[1], have, refused)
			}
		}
	}
}

// What is dropped, and what is denied, by a virtual link and by the network beside it counts each, whenever both are.
func TestDroppedTogether(t *testing.T) {
	const page, vl, far, number = 128, 2, 9, 7
	w := openWhole(t, rtl.Params{PageBytes: page, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 64, WordTimer: 1024, Router: 1, Virtual: 3})
	host, peer := w.Nodes[0].Host, w.peer(1)
	trapped := false
	host.Received = func(p linkproto.Packet) { trapped = trapped || p.Type == linkproto.TypeTrap }
	w.must(w.WriteRegister(0, linkproto.RegNodeID, self))
	key := linkproto.KeyOf(0x3333, 0x2222)
	for i, v := range []uint32{far, number, uint32(linkproto.KeyOf(0x2222, 0x3333)), linkproto.VLOpen.In(1) | linkproto.VLUp.In(1)} {
		w.must(w.WriteRegister(0, linkproto.VLReg(i).Reg(vl), v))
	}
	w.must(w.Until(20_000, "the link", func() bool { return peer.Link.Status().Up }))
	w.must(w.Run(2000))
	datagram := func(packet []byte) []byte {
		r := linkproto.Route{Dest: self, Src: far, Hops: 1, State: linkproto.RouteDatagram, Packet: packet}
		return check.Must(r.Append(nil))(t)
	}
	seq := uint32(0)
	virtual := func(packet []byte) []byte {
		r := linkproto.Route{Dest: self, Src: far, Hops: 1, VL: vl, State: linkproto.VLState{Kind: linkproto.KindAck, Packet: true}.Byte(), Seq: uint8(seq), Packet: packet}
		raw := check.Must(r.Seal(nil, key.At(seq, 0)))(t)
		seq++
		return raw
	}
	counter := func(c linkproto.Counter) int { return int(w.register(linkproto.CounterReg(1, c))) }
	pass := func() {
		w.must(w.Run(300))
		peer.Mangle, host.Mangle = nil, nil
		w.must(w.Run(900)) // a word of the link among them
	}
	write := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Addr: page, Data: []byte{1}}).Append(nil))(t)
	pages := check.Must((&linkproto.Packet{Type: linkproto.TypePage}).Append(nil))(t)
	resume := check.Must((&linkproto.Packet{Type: linkproto.TypeResume, Via: 1}).Append(nil))(t)
	// A trap holds what comes by the network up to RESUME.
	for _, what := range []linkproto.Counter{linkproto.CntBadPacket, linkproto.CntDenied} {
		packet := dropped(4)
		if what == linkproto.CntDenied {
			packet = write
		}
		for idles := range 200 {
			bad, denied := counter(linkproto.CntBadPacket), counter(linkproto.CntDenied)
			trapped = false
			w.say(peer, 0, datagram(pages), datagram(write), datagram(dropped(4)))
			pass()
			check.Equal(t, "trapped", trapped, true)
			w.say(host.Port, 140, resume)
			w.say(peer, idles, virtual(packet))
			pass()
			bad, denied = counter(linkproto.CntBadPacket)-bad, counter(linkproto.CntDenied)-denied
			if bad != 1+count(what == linkproto.CntBadPacket) || bad+denied != 3 {
				t.Errorf("RESUME and, %d clocks later, one more that counts as %v: bad_packet counts %d, denied %d", idles-140, what, bad, denied)
			}
		}
	}
}

// say has an end send packets with so many IDLEs before each, whether they are right or not, when every packet so far has been acknowledged. It says nothing else
// while Mangle is set.
func (w *whole) say(end *ni.Port, idles int, packets ...[]byte) {
	w.t.Helper()
	at, _ := end.Link.Freed()
	s, c := end.Link.Status(), end.Link.Config()
	key := linkproto.KeyOf(s.Peer.Life, linkproto.LifeOf(c.Nonce, c.Port, s.Epoch))
	var line []linkproto.Symbol
	for i, p := range packets {
		line = append(line, slices.Repeat([]linkproto.Symbol{linkproto.SymIdle}, idles)...)
		line = linkproto.AppendFrame(line, key, uint8(at)+uint8(i), p)
		w.must(end.Link.Send(dropped(0))) // that the end knows of it and goes on behind
	}
	end.Mangle = func([]linkproto.Symbol) (now []linkproto.Symbol) {
		k := min(len(line), 32)
		now, line = line[:k], line[k:]
		return now
	}
}

// dropped is a packet of a type that there is not, with n bytes.
func dropped(n int) []byte { return append([]byte{0, byte(n), 0}, make([]byte, n)...) }
