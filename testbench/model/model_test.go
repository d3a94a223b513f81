package model_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// bench is a model with an endpoint at each port.
type bench struct {
	t    *testing.T
	ni   *model.NI
	ends []*flowctl.Endpoint
	seen []model.Observation
	told []linkproto.Packet // VIRTUALs, which next leaves out
	done map[uint16]uint16  // what the last COMPLETED of a context says, as well
}

func open(t *testing.T, c model.Config) *bench {
	t.Helper()
	b := &bench{t: t, done: map[uint16]uint16{}}
	c.Observe = func(o model.Observation) { b.seen = append(b.seen, o) }
	var err error
	if b.ni, err = model.New(c); err != nil {
		t.Fatal(err)
	}
	c = b.ni.Config()
	for i := range max(c.Links, c.Router) + 1 {
		peer := flowctl.Config{MaxPacket: linkproto.MaxPacket(c.PageBytes), Routes: c.Routes, Epoch: uint8(100 + i), Silence: -1}
		if c.Routes {
			peer.MaxPacket = linkproto.MaxRoute(c.PageBytes)
		}
		if i > 0 {
			peer.Port, peer.Nonce, peer.Node, peer.Silence = 7, 0x1234567*uint32(i), uint16(1000+i), 0
		}
		b.ends = append(b.ends, check.Must(flowctl.New(peer))(t))
	}
	b.run(200)
	b.identify(0x89ABCDEF)
	return b
}

// identify writes NODE_ID and NONCE.
func (b *bench) identify(nonce uint32) {
	b.t.Helper()
	b.status(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNodeID, Value: node}, linkproto.StatusOK)
	b.status(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: nonce}, linkproto.StatusOK)
	b.run(2000)
}

const node = 77 // number of the model's

// run lets n ticks pass.
func (b *bench) run(n int) {
	line := make([]linkproto.Symbol, 16)
	for ; n > 0; n -= len(line) {
		for i, end := range b.ends {
			port := b.ni.Port(i)
			port.Feed(line[:end.Emit(line)])
			end.Feed(line[:port.Emit(line)])
			end.Tick(len(line))
			port.Tick(len(line))
		}
	}
}

func (b *bench) send(port int, packets ...linkproto.Packet) {
	b.t.Helper()
	for _, p := range packets {
		raw, err := p.Append(nil)
		if err == nil {
			err = b.ends[port].Send(raw)
		}
		check.Fatal(b.t, err)
	}
}

// next returns the next packet at a port's end, whatever types are left out.
func (b *bench) next(port int, without ...linkproto.Type) (p linkproto.Packet) {
	b.t.Helper()
	for range 1000 {
		raw, ok := b.ends[port].Receive()
		if !ok {
			b.run(100)
			continue
		}
		if err := p.Decode(bytes.Clone(raw)); err != nil {
			b.t.Fatalf("% x: %v", raw, err)
		}
		if p.Type == linkproto.TypeVirtual {
			b.told = append(b.told, p)
			continue
		}
		if p.Type == linkproto.TypeCompleted {
			b.done[p.Context] = p.Count
			continue
		}
		skip := false
		for _, t := range without {
			skip = skip || p.Type == t
		}
		if !skip {
			return p
		}
	}
	b.t.Fatalf("nothing came at port %d", port)
	return p
}

// ask sends a request and returns its answer.
func (b *bench) ask(p linkproto.Packet) linkproto.Packet {
	b.t.Helper()
	b.send(0, p)
	return b.next(0, linkproto.TypeSpace, linkproto.TypeNotify, linkproto.TypeTrap)
}

func (b *bench) status(p linkproto.Packet, want linkproto.Status) {
	b.t.Helper()
	if a := b.ask(p); a.Type != linkproto.TypeDone || a.Status != want || a.Tag != p.Tag || a.Via != p.Via {
		b.t.Errorf("%v is answered %v %v, tag %d via %d, want %v, tag %d via %d", p.Type, a.Type, a.Status, a.Tag, a.Via, want, p.Tag, p.Via)
	}
}

func (b *bench) register(r linkproto.Reg) uint32 {
	b.t.Helper()
	a := b.ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r})
	if a.Type != linkproto.TypeRegData || a.Reg != r {
		b.t.Fatalf("register %v: %v %v", r, a.Type, a.Status)
	}
	return a.Value
}

func (b *bench) grant(frame, link int) {
	b.t.Helper()
	b.status(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 7, Reg: linkproto.FrameReg(frame), Value: 1<<31 | uint32(link)}, linkproto.StatusOK)
}

func (b *bench) buffer(addr, n int) []byte {
	b.t.Helper()
	return b.ask(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(addr), Count: uint16(n)}).Data
}

// A remote write is carried out in a frame of its link and nowhere else.
func TestProtection(t *testing.T) {
	b := open(t, model.Config{Links: 2, Frames: 3, PageBytes: 64, ReplayBytes: 512, RxBytes: 512})
	b.grant(0, 1)
	b.grant(1, 2)
	data := []byte("abcd")
	for _, w := range []struct {
		link, addr int
		want       model.Outcome
	}{
		{1, 0, model.Written}, {1, 60, model.Written}, {1, 61, model.Astray}, {1, 64, model.Foreign}, {2, 64, model.Written},
		{2, 0, model.Foreign}, {1, 128, model.Closed}, {1, 192, model.Astray}, {1, 1 << 24, model.Astray},
	} {
		before := b.register(linkproto.CounterReg(w.link, linkproto.CntDenied))
		b.send(w.link, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(w.addr), Data: data})
		b.run(200)
		denied := b.register(linkproto.CounterReg(w.link, linkproto.CntDenied)) - before
		last := model.Observation{}
		for _, o := range b.seen {
			if o.Port == w.link {
				last = o
			}
		}
		if last.Outcome != w.want || (denied == 0) != (w.want == model.Written) {
			t.Errorf("link %d at %d: %v, %d count as denied, want %v", w.link, w.addr, last.Outcome, denied, w.want)
		}
		if w.want == model.Written && !bytes.Equal(b.buffer(w.addr, 4), data) {
			t.Errorf("link %d at %d: the buffer holds % x", w.link, w.addr, b.buffer(w.addr, 4))
		}
	}
}

// While the host port takes nothing, changes of a frame are merged into the smallest range; cleared with CONTROL they are forgotten.
func TestNotifyMerges(t *testing.T) {
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 128, RxBytes: 512})
	b.grant(1, 1)
	control := linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegControl, Value: 1, Tag: 1}
	b.status(control, linkproto.StatusOK)
	write := func(offset, n int) {
		b.send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(64 + offset), Data: make([]byte, n)})
	}
	// Unread answers of ten bytes fill the queue to the host, up to eight bytes.
	for range 80 {
		b.send(0, linkproto.Packet{Type: linkproto.TypeRegRead})
	}
	b.run(3000)
	write(10, 2)
	write(20, 4)
	write(11, 1)
	b.run(500)
	for n := 0; ; n++ {
		p := b.next(0, linkproto.TypeSpace)
		if p.Type == linkproto.TypeNotify {
			if p.Frame != 1 || p.First != 10 || p.Last != 23 {
				t.Errorf("NOTIFY of frame %d, %d to %d, want 1, 10 to 23", p.Frame, p.First, p.Last)
			}
			break
		}
	}
}

// Reset takes the next epoch, so that every neighbour notices, and forgets all but the buffer.
func TestReset(t *testing.T) {
	b := open(t, model.Config{Epoch: 255})
	b.grant(0, 1)
	before := b.ends[1].Status().Peer
	b.ni.Reset()
	b.run(2000)
	if host, s := b.ends[0].Status(), b.ends[1].Status(); !host.Up || host.Peer.Life.Epoch() != 1 || s.Up {
		t.Errorf("after reset the host has %+v, and the peer %+v", host, s)
	}
	for _, r := range []linkproto.Reg{linkproto.RegNodeID, linkproto.RegNonce, linkproto.RegScratch} {
		check.Equal(t, fmt.Sprintf("register %#x after reset", r), b.register(r), 0)
	}
	b.identify(0x1111111)
	want := linkproto.LifeOf(0x1111111, 1, 1)
	if s := b.ends[1].Status(); !s.Up || before.Life != linkproto.LifeOf(0x89ABCDEF, 1, 255) || s.Peer.Life != want || s.Peer.Node != node {
		t.Errorf("after reset the peer has %+v; before it had %+v", s, before)
	}
	check.Equal(t, "frame 0 after reset", b.register(linkproto.FrameReg(0)), 0)
}

// PEER says who is at the other end, and NODE_ID and NONCE who is at this one. A new nonce has the links start again, and 0 keeps them down.
func TestIdentity(t *testing.T) {
	b := open(t, model.Config{Links: 2})
	for link := range 3 {
		want := linkproto.PeerKnown.In(1)
		if link > 0 {
			want |= linkproto.PeerNode.In(uint32(1000 + link))
		}
		check.Equal(t, fmt.Sprintf("PEER of link %d", link), b.register(linkproto.PeerReg(link)), want)
	}
	check.Equal(t, "NODE_ID", b.register(linkproto.RegNodeID), node)
	check.Equal(t, "NONCE", b.register(linkproto.RegNonce), 0x89ABCDEF)
	check.Equal(t, "node of the peer's peer", b.ends[2].Status().Peer.Node, node)
	b.identify(0x42)
	check.Equal(t, "restarts for a new nonce", b.register(linkproto.CounterReg(1, linkproto.CntRestarts)), 1)
	check.Equal(t, "life of the peer's peer", b.ends[2].Status().Peer.Life, linkproto.LifeOf(0x42, 2, 2))
	check.Equal(t, "link 1 with another nonce", b.ends[1].Status().Up, true)
	b.identify(0)
	check.Equal(t, "link 1 without a nonce", b.ends[1].Status().Up, false)
	check.Equal(t, "restarts of the host's port", b.register(linkproto.CounterReg(0, linkproto.CntRestarts)), 0)
	small := b.ends[1].Config()
	small.MaxPacket, small.ReceiveBytes, small.High, small.Low, small.ReplayBytes = linkproto.MaxPacket(64), 0, 0, 0, 0
	b.ends[1] = check.Must(flowctl.New(small))(t)
	b.identify(0x43)
	check.Equal(t, "PEER with a smaller page", b.register(linkproto.PeerReg(1)), linkproto.PeerKnown.In(1)|linkproto.PeerRefused.In(1)|linkproto.PeerNode.In(1001))
	check.Equal(t, "link 1 to a peer with a smaller page", linkproto.StatusUp.Of(b.register(linkproto.LinkStatusReg(1))), 0)
	check.Equal(t, "link 2", b.ends[2].Status().Up, true)
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []model.Config{{Links: 8}, {Links: -1}, {Frames: 257}, {PageBytes: 96}, {PageBytes: 32}, {ReplayBytes: 1000},
		{PageBytes: 2048, ReplayBytes: 2048}, {RxBytes: 1024}, {Headroom: -1}, {Retry: 1}} {
		check.Fails(t, fmt.Sprintf("%+v", c), check.Err(model.New(c)), model.ErrConfig)
	}
}

// Two models joined by a cable, a remote write from one host to the other's receive buffer.
func Example() {
	var nis []*model.NI
	var hosts []*flowctl.Endpoint
	for i := range 2 {
		ni, err := model.New(model.Config{})
		if err != nil {
			panic(err)
		}
		host, err := flowctl.New(flowctl.Config{Epoch: uint8(1 + i)})
		if err != nil {
			panic(err)
		}
		nis, hosts = append(nis, ni), append(hosts, host)
	}
	line := make([]linkproto.Symbol, 64)
	join := func(a, b interface {
		Emit([]linkproto.Symbol) int
		Feed([]linkproto.Symbol)
		Tick(int)
	}) {
		b.Feed(line[:a.Emit(line)])
		a.Feed(line[:b.Emit(line)])
		a.Tick(len(line))
		b.Tick(len(line))
	}
	send := func(host int, p linkproto.Packet) {
		raw, err := p.Append(nil)
		if err == nil {
			err = hosts[host].Send(raw)
		}
		if err != nil {
			panic(err)
		}
		for range 100 {
			join(hosts[0], nis[0].Port(0))
			join(nis[0].Port(1), nis[1].Port(1))
			join(nis[1].Port(0), hosts[1])
		}
	}
	for i := range nis {
		send(i, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: 0x1234567 << i}) // random, in practice
	}
	send(1, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(2), Value: 1<<31 | 1})
	send(0, linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Addr: 2*1024 + 5, Data: []byte("hello")})
	send(1, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 2*1024 + 5, Count: 5})
	for raw, ok := hosts[1].Receive(); ok; raw, ok = hosts[1].Receive() {
		var p linkproto.Packet
		if err := p.Decode(raw); err != nil {
			panic(err)
		}
		fmt.Printf("%v %q\n", p.Type, p.Data)
	}
	// Output:
	// DONE ""
	// DONE ""
	// BUF_DATA "hello"
}

// BenchmarkWrites measures how fast a model takes remote writes of 1000 bytes in, link layer and all.
func BenchmarkWrites(b *testing.B) {
	bench := open(&testing.T{}, model.Config{})
	bench.grant(1, 1)
	raw := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1024, Data: make([]byte, 1000)}).Append(nil))(b)
	b.SetBytes(1000)
	line := make([]linkproto.Symbol, 256)
	port, end := bench.ni.Port(1), bench.ends[1]
	for sent := 0; sent < b.N; {
		for end.Send(raw) == nil {
			sent++
		}
		port.Feed(line[:end.Emit(line)])
		end.Feed(line[:port.Emit(line)])
		end.Tick(len(line))
		port.Tick(len(line))
	}
}
