package model_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// virtualBench is a model that carries out virtual links, one of which leads to a flow behind its cable.
type virtualBench struct {
	*bench
	peer *flowctl.VirtualFlow
	took [][]byte // by the peer
	deaf bool     // the peer is
}

const (
	vl     = 5 // number of the virtual link at the model
	theirs = 600
	afar   = 9 // the node behind the cable
	lifeA  = 0x11112222
	lifeB  = 0x33334444
)

var smallVirtual = model.Config{
	Router: 1, PageBytes: 64, ReplayBytes: 512, RxBytes: 512, Virtual: 3, VirtualSlots: 3, VirtualWindow: 2, VirtualRetry: 3000, AckDelay: 100, RetryLimit: 3,
}

func openVirtual(t *testing.T) *virtualBench {
	t.Helper()
	return openVirtualOf(t, smallVirtual)
}

func openVirtualOf(t *testing.T, c model.Config) *virtualBench {
	t.Helper()
	b := &virtualBench{bench: open(t, c)}
	b.write(linkproto.RouteReg(afar), 1)
	b.peer = check.Must(flowctl.NewFlow(flowctl.VirtualConfig{Node: afar, Peer: node, MaxPacket: linkproto.MaxPacket(64), AckDelay: 100, Retry: 3000}, func(p []byte) bool {
		b.took = append(b.took, bytes.Clone(p))
		return true
	}))(t)
	b.write(linkproto.VLRegPeer.Reg(vl), afar)
	b.write(linkproto.VLRegNumber.Reg(vl), theirs)
	b.write(linkproto.VLRegKey.Reg(vl), uint32(linkproto.KeyOf(lifeB, lifeA)))
	return b
}

// pass lets time pass for both ends.
func (b *virtualBench) pass(n int) {
	b.t.Helper()
	for ; n > 0; n -= 16 {
		b.run(16)
		for raw, ok := b.ends[1].Receive(); ok; raw, ok = b.ends[1].Receive() {
			var r linkproto.Route
			check.Fatal(b.t, r.Open(raw))
			if check.Equal(b.t, "number of the virtual link", r.VL, theirs); !b.deaf {
				b.peer.Feed(&r, raw)
			}
		}
		b.peer.Tick(16)
		if route, ok := b.peer.Emit(nil); ok {
			check.Fatal(b.t, b.ends[1].Send(route))
		}
	}
}

// inner is the bytes of a packet of a virtual link.
func inner(t *testing.T, p linkproto.Packet) []byte {
	t.Helper()
	return check.Must(p.Append(nil))(t)
}

// virtual sends the host's packet for the virtual link.
func (b *virtualBench) virtual(p linkproto.Packet) {
	b.t.Helper()
	b.send(0, linkproto.Packet{Type: linkproto.TypeVirtual, VL: vl, Data: inner(b.t, p)})
}

// says returns the next packet that the host gets from the virtual link.
func (b *virtualBench) says() (p linkproto.Packet) {
	b.t.Helper()
	b.register(linkproto.RegScratch) // its answer comes behind what is there
	if len(b.told) == 0 {
		b.t.Fatal("nothing came from the virtual link")
	}
	v := b.told[0]
	b.told = b.told[1:]
	check.Equal(b.t, "virtual link", v.VL, vl)
	check.Fatal(b.t, p.Decode(v.Data))
	return p
}

// space wants a SPACE.
func (b *virtualBench) space(what string, freed uint8, set, clear linkproto.Bits) {
	b.t.Helper()
	p := b.says()
	if p.Type != linkproto.TypeSpace || p.Packets != freed || set.Of(uint32(p.Bytes)) != 1 || clear.Of(uint32(p.Bytes)) != 0 {
		b.t.Errorf("%s: %v of %d, status %#x, want SPACE of %d with %s and without %s", what, p.Type, p.Packets, p.Bytes, freed, set.Name, clear.Name)
	}
}

func (b *virtualBench) up() {
	b.t.Helper()
	b.write(linkproto.VLRegStatus.Reg(vl), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
	b.peer.Open(vl, linkproto.KeyOf(lifeA, lifeB))
	b.pass(1000)
	b.space("opened", 0, linkproto.VLUp, linkproto.VLLost)
	check.Equal(b.t, "the peer is up", b.peer.Up(), true)
}

// Packets pass a virtual link of an NI both ways: writes into frames of it alone, a trap that stops it until RESUME, messages as long as the host frees them.
func TestVirtual(t *testing.T) {
	b := openVirtual(t)
	check.Equal(t, "VL_NUMBERS", b.register(linkproto.RegVLNumbers), 8)
	b.up()
	b.write(linkproto.FrameReg(1), linkproto.FrameValid.In(1)|linkproto.FrameVL.In(vl))
	write := func(addr uint32, n byte) linkproto.Packet {
		return linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: []byte{n}}
	}
	from := func(p linkproto.Packet) {
		t.Helper()
		check.Fatal(t, b.peer.Send(inner(t, p)))
		b.pass(2000)
	}
	b.virtual(write(3, 1))
	b.pass(2000)
	check.Equal(t, "what the peer got", b.took, [][]byte{inner(t, write(3, 1))})
	b.space("acknowledged", 1, linkproto.VLUp, linkproto.StatusQueued)

	from(write(64, 7))
	from(write(0, 7)) // nobody's
	check.Equal(t, "byte written", b.buffer(64, 1)[0], 7)
	check.Equal(t, "byte denied", b.buffer(0, 1)[0], 0)
	check.Equal(t, "writes denied", b.register(linkproto.CounterReg(1, linkproto.CntDenied)), 1)

	page := linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 99}
	from(page)
	check.Equal(t, "the trap", inner(t, b.says()), inner(t, page))
	from(write(65, 8))
	check.Equal(t, "byte behind the trap", b.buffer(65, 1)[0], 0)
	check.Equal(t, "the peer is told to stop", b.peer.PeerStop(), true)
	b.virtual(linkproto.Packet{Type: linkproto.TypeResume, Tag: 9})
	if p := b.next(0); p.Type != linkproto.TypeDone || p.Tag != 9 || p.Status != linkproto.StatusOK {
		t.Errorf("RESUME is answered %v %v", p.Type, p.Status)
	}
	b.pass(2000)
	check.Equal(t, "byte behind the trap, after RESUME", b.buffer(65, 1)[0], 8)
	b.virtual(linkproto.Packet{Type: linkproto.TypeResume, Tag: 9})
	check.Equal(t, "RESUME again", b.next(0).Status, linkproto.StatusNotTrapped)

	message := linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: 3, Data: []byte("x"), Rest: 1}
	for n := range 3 {
		message.Data[0] = byte(n)
		from(message)
		if n < 2 {
			check.Equal(t, "message", b.says().Data[0], byte(n))
		}
	}
	check.Equal(t, "the peer is told to stop", b.peer.PeerStop(), true)
	b.virtual(linkproto.Packet{Type: linkproto.TypeSpace, Packets: 1})
	b.pass(2000)
	check.Equal(t, "message behind the window", b.says().Data[0], 2)
	check.Equal(t, "EXPECT", b.register(linkproto.VLRegExpect.Reg(vl)), 7)
}

// What a host must not send is refused, and changes nothing.
func TestVirtualRefused(t *testing.T) {
	b := openVirtual(t)
	write := inner(t, linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 10)})
	refused := func(what string, p linkproto.Packet, want linkproto.Status) {
		t.Helper()
		p.Type = linkproto.TypeVirtual
		b.send(0, p)
		b.pass(100)
		if a := b.next(0); a.Type != linkproto.TypeDone || a.Status != want || a.Tag != linkproto.TagNone || a.Via != 0 {
			t.Errorf("%s is answered %v %v, tag %d via %d, want %v", what, a.Type, a.Status, a.Tag, a.Via, want)
		}
	}
	refused("a packet for a link that is closed", linkproto.Packet{VL: vl, Data: write}, linkproto.StatusNoSpace)
	b.up()
	refused("no packet", linkproto.Packet{VL: vl}, linkproto.StatusBadLength)
	refused("a packet of another type", linkproto.Packet{VL: vl, Data: inner(t, linkproto.Packet{Type: linkproto.TypeRetrap})}, linkproto.StatusBadType)
	refused("a packet cut off", linkproto.Packet{VL: vl, Data: write[:5]}, linkproto.StatusBadLength)
	refused("a long packet", linkproto.Packet{VL: vl, Data: inner(t, linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 66)})}, linkproto.StatusBadLength)
	refused("a packet with via", linkproto.Packet{VL: vl, Data: append([]byte{write[0] | 1<<linkproto.TypeBits}, write[1:]...)}, linkproto.StatusBadLink)
	refused("a number that there is not", linkproto.Packet{VL: 8, Data: write}, linkproto.StatusBadLink)
	b.deaf = true
	for range 2 {
		b.send(0, linkproto.Packet{Type: linkproto.TypeVirtual, VL: vl, Data: write})
	}
	refused("more than the window", linkproto.Packet{VL: vl, Data: write}, linkproto.StatusNoSpace)
	b.deaf = false
	b.pass(5000)
	check.Equal(t, "packets that the peer got", len(b.took), 2)
}

// A link that is closed, by the host or by itself, frees its packets, says so, and takes nothing.
func TestVirtualCloses(t *testing.T) {
	b := openVirtual(t)
	closed := func(what string, freed uint8, lost uint32) {
		t.Helper()
		p := b.says()
		if status := uint32(p.Bytes); p.Type != linkproto.TypeSpace || p.Packets != freed || linkproto.VLOpen.Of(status) != 0 || linkproto.VLLost.Of(status) != lost {
			t.Errorf("%s: %v of %d, status %#x, want SPACE of %d, LOST %d", what, p.Type, p.Packets, status, freed, lost)
		}
	}
	closing := func() { b.write(linkproto.VLRegStatus.Reg(vl), 0) }
	closing()
	closed("closed though it was", 0, 0)
	b.up()
	b.deaf = true
	write := linkproto.Packet{Type: linkproto.TypeWrite, Data: []byte{1}}
	b.virtual(write)
	b.virtual(write)
	b.pass(100)
	closing()
	closed("closed", 2, 0)
	check.Fatal(t, b.peer.Send(inner(t, write)))
	b.pass(1000)
	check.Equal(t, "EXPECT", b.register(linkproto.VLRegExpect.Reg(vl)), 0)

	b.deaf = false
	b.peer.Close()
	b.write(linkproto.VLRegStatus.Reg(vl), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
	check.Equal(t, "opened again", linkproto.VLOpen.Of(uint32(b.says().Bytes)), 1)
	b.virtual(write)
	b.pass(30_000) // the peer is closed: RETRY runs out
	closed("by itself", 3, 1)
	check.Equal(t, "STATUS", b.register(linkproto.VLRegStatus.Reg(vl)), linkproto.VLLost.In(1)|linkproto.StatusFreed.In(3))
	closing()
	closed("closed behind that", 3, 0)
}
