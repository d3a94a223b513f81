package model_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// A context of the tests has frames 4 to 11 of 64 bytes, and rings of two descriptors; what is behind them begins at area.
const (
	contextNumber = 2
	region        = 4 * 64
	area          = region + 2*64
	regionEnd     = 12 * 64
	regionValue   = 4 | 11<<8 | 1<<16
)

// contextBench is a model with contexts, and a virtual link of one of them to a flow behind its cable.
type contextBench struct {
	*virtualBench
	posted [2]uint16 // sends and receives
	seen   uint16    // completions
}

func openContexts(t *testing.T) *contextBench {
	t.Helper()
	config := smallVirtual
	config.Frames, config.VirtualSlots, config.Contexts = 16, 6, 2
	b := &contextBench{virtualBench: openVirtualOf(t, config)}
	check.Equal(t, "FEATURES", linkproto.FeatureMessages.Of(b.register(linkproto.RegFeatures)), 1)
	check.Equal(t, "CONTEXTS", b.register(linkproto.RegContexts), 4)
	b.write(linkproto.VLRegContext.Reg(vl), contextNumber)
	b.up()
	return b
}

func (b *contextBench) enable(value uint32) uint32 {
	b.t.Helper()
	b.write(linkproto.ContextRegRegion.Reg(contextNumber), value)
	b.write(linkproto.ContextRegStatus.Reg(contextNumber), 1)
	return b.register(linkproto.ContextRegStatus.Reg(contextNumber))
}

// fill writes the receive buffer.
func (b *contextBench) fill(addr int, data []byte) {
	b.t.Helper()
	for len(data) > 0 {
		n := min(len(data), 64-addr%64)
		b.status(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(addr), Data: data[:n]}, linkproto.StatusOK)
		addr, data = addr+n, data[n:]
	}
}

// post posts a descriptor of sends (0) or receives (1).
func (b *contextBench) post(ring int, d linkproto.Posted) {
	b.t.Helper()
	b.fill(region+ring*32+int(b.posted[ring]%2)*16, d.Append(nil))
	b.posted[ring]++
	b.write(linkproto.ContextReg(int(linkproto.ContextRegSendTail)+ring).Reg(contextNumber), uint32(b.posted[ring]))
}

// completed wants the next completion.
func (b *contextBench) completed(what string, want linkproto.Completion) {
	b.t.Helper()
	for range 10 {
		if b.pass(1000); b.register(linkproto.ContextRegCompletions.Reg(contextNumber)) != uint32(b.seen) {
			break
		}
	}
	if b.done[contextNumber] == b.seen {
		b.t.Fatalf("%s: no completion", what)
	}
	done, ok := linkproto.DecodeCompletion(b.buffer(region+64+int(b.seen%4)*16, 16))
	b.seen++
	check.Equal(b.t, what+": can be", ok, true)
	check.Equal(b.t, what, done, want)
}

// nothing wants no completion.
func (b *contextBench) nothing(what string) {
	b.t.Helper()
	b.pass(3000)
	check.Equal(b.t, what+": completions", b.register(linkproto.ContextRegCompletions.Reg(contextNumber)), uint32(b.seen))
}

func part(tag uint32, rest int, data string) linkproto.Packet {
	return linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: tag, Rest: uint32(rest), Data: []byte(data)}
}

// from has the peer send packets.
func (b *contextBench) from(packets ...linkproto.Packet) {
	b.t.Helper()
	for _, p := range packets {
		check.Fatal(b.t, b.peer.Send(inner(b.t, p)))
		b.pass(1000)
	}
}

// A message leaves in packets of a page, and is completed when they are acknowledged.
func TestContextSends(t *testing.T) {
	b := openContexts(t)
	check.Equal(t, "STATUS", b.enable(regionValue), 1)
	text := bytes.Repeat([]byte("0123456789"), 13)
	b.fill(area, text)
	b.deaf = true
	b.post(0, linkproto.Posted{Addr: area, Length: 130, Tag: 77, VL: vl, Cookie: 9})
	b.nothing("while the peer is deaf")
	b.deaf = false
	b.completed("message", linkproto.Completion{Length: 130, Tag: 77, VL: vl, Cookie: 9})
	check.Equal(t, "packets", b.took, [][]byte{
		inner(t, part(77, 130, string(text[:61]))), inner(t, part(77, 69, string(text[61:122]))), inner(t, part(77, 8, string(text[122:]))),
	})
	b.post(0, linkproto.Posted{Addr: regionEnd, VL: vl, Cookie: 1})
	b.completed("message without bytes", linkproto.Completion{VL: vl, Cookie: 1})
}

// Messages come to descriptors in order; what breaks the rules costs no descriptor of others.
func TestContextReceives(t *testing.T) {
	b := openContexts(t)
	b.enable(regionValue)
	b.from(part(3, 100, string(bytes.Repeat([]byte("a"), 61))))
	check.Equal(t, "the peer is told to stop", b.peer.PeerStop(), true)
	b.post(1, linkproto.Posted{Addr: area, Length: 100, Cookie: 1})
	b.pass(5000)
	check.Equal(t, "the peer is told to go on", b.peer.PeerStop(), false)
	b.from(part(3, 39, string(bytes.Repeat([]byte("b"), 39))))
	done := linkproto.Completion{Length: 100, Tag: 3, VL: vl, Cookie: 1, Receive: true}
	b.completed("message", done)
	check.Equal(t, "its end", string(b.buffer(area+64-3, 3)), "bbb")
	check.Equal(t, "its beginning", string(b.buffer(area+58, 3)), "aaa")
	receive := func() { b.post(1, linkproto.Posted{Addr: area, Length: 8, Cookie: 4}) }
	want := func(length, tag uint32, status linkproto.CompletionStatus) linkproto.Completion {
		return linkproto.Completion{Length: length, Tag: tag, VL: vl, Cookie: 4, Receive: true, Status: status}
	}
	receive()
	b.from(part(1, 9, "abcd"), part(1, 5, "efghi"))
	b.completed("a long message", want(9, 1, linkproto.CompletionTooLong))
	receive()
	b.from(part(2, 6, "abcd"), part(2, 3, "xyz"))
	b.completed("a rest that does not follow", want(6, 2, linkproto.CompletionBroken))
	b.from(part(2, 1, "ab"), part(2, 2, "ab")) // no message, up to a packet that would be its last: takes no descriptor
	receive()
	b.from(part(7, 6, "abcd"))
	b.peer.Close()
	b.write(linkproto.VLRegStatus.Reg(vl), 0)
	b.completed("a link that closes", want(6, 7, linkproto.CompletionBroken))
	check.Equal(t, "bad packets", b.register(linkproto.CounterReg(1, linkproto.CntBadPacket)), 2)
	b.nothing("at the end")
}

// A link that closes completes the sends that were not acknowledged.
func TestContextLinkCloses(t *testing.T) {
	b := openContexts(t)
	b.enable(regionValue)
	b.deaf = true
	b.post(0, linkproto.Posted{Addr: area, Length: 200, Tag: 1, VL: vl, Cookie: 1})
	b.post(0, linkproto.Posted{Addr: area, Length: 5, Tag: 2, VL: vl, Cookie: 2})
	b.nothing("while the peer is deaf")
	b.write(linkproto.VLRegStatus.Reg(vl), 0)
	b.completed("underway", linkproto.Completion{Length: 200, Tag: 1, VL: vl, Cookie: 1, Status: linkproto.CompletionClosed})
	b.completed("behind it", linkproto.Completion{Length: 5, Tag: 2, VL: vl, Cookie: 2, Status: linkproto.CompletionBadLink})
}

// What a context's program must not do is refused, and changes nothing of what is not its own.
func TestContextIsolation(t *testing.T) {
	b := openContexts(t)
	for value, what := range map[uint32]string{
		5 | 4<<8: "LAST before FIRST", 4 | 16<<8: "LAST behind the frames", 4 | 5<<8 | 2<<16: "rings longer than the region", 0 | 15<<8 | 13<<16: "rings longer than any",
	} {
		check.Equal(t, what, b.enable(value), linkproto.ContextFault.In(linkproto.FaultRegion))
	}
	b.enable(regionValue)
	b.write(linkproto.ContextRegRegion.Reg(contextNumber), 0)
	check.Equal(t, "REGION written while enabled", b.register(linkproto.ContextRegRegion.Reg(contextNumber)), regionValue)
	for what, d := range map[string]linkproto.Posted{
		"before the region": {Addr: 0, Length: 4}, "the rings": {Addr: area - 4, Length: 4}, "behind the region": {Addr: regionEnd - 4, Length: 8},
		"not aligned": {Addr: area + 2, Length: 4}, "address overflows": {Addr: 0xFFFFFFFC, Length: 8}, "length overflows": {Addr: area, Length: 0xFFFFFFFF},
	} {
		d.VL, d.Cookie = vl, 3
		b.post(0, d)
		b.completed("send "+what, linkproto.Completion{Length: d.Length, VL: vl, Cookie: 3, Status: linkproto.CompletionBadDescriptor})
		b.post(1, d)
		b.completed("receive "+what, linkproto.Completion{Length: d.Length, Cookie: 3, Receive: true, Status: linkproto.CompletionBadDescriptor})
	}
	for _, other := range []uint16{vl - 1, 0, 8, 0xFFFF} {
		b.post(0, linkproto.Posted{Addr: area, Length: 4, VL: other})
		b.completed("send by another link", linkproto.Completion{Length: 4, VL: other, Status: linkproto.CompletionBadLink})
	}
	check.Equal(t, "packets that left", len(b.took), 0)
	b.write(linkproto.ContextRegSendTail.Reg(contextNumber), uint32(b.posted[0])+3)
	check.Equal(t, "more posted than a ring holds", b.register(linkproto.ContextRegStatus.Reg(contextNumber)), linkproto.ContextFault.In(linkproto.FaultTail))
	b.from(part(1, 1, "x"))
	check.Equal(t, "without a context the peer stops", b.peer.PeerStop(), true)
	b.enable(regionValue)
	check.Equal(t, "counts of one enabled again", b.register(linkproto.ContextRegSendHead.Reg(contextNumber)), 0)
	b.fill(0, linkproto.Posted{Addr: area, Length: 4, VL: vl}.Append(nil))
	b.write(linkproto.ContextRegSendTail.Reg(contextNumber), 2)
	b.write(linkproto.ContextRegSendTail.Reg(contextNumber), 1)
	check.Equal(t, "a tail moved back", b.register(linkproto.ContextRegStatus.Reg(contextNumber)), linkproto.ContextFault.In(linkproto.FaultTail))
	b.enable(regionValue)
	b.write(linkproto.ContextRegReceiveTail.Reg(contextNumber), 0xFFFF)
	check.Equal(t, "a tail behind its head", b.register(linkproto.ContextRegStatus.Reg(contextNumber)), linkproto.ContextFault.In(linkproto.FaultTail))
	b.status(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.ContextRegSendHead.Reg(contextNumber)}, linkproto.StatusBadAddress)
	b.write(linkproto.ContextRegStatus.Reg(0), 1)
	check.Equal(t, "STATUS of context 0", b.register(linkproto.ContextRegStatus.Reg(0)), 0)
}

// A context whose link is stopped holds up nobody else: another one's sends pass.
func TestContextsTakeTurns(t *testing.T) {
	b := openContexts(t)
	b.enable(regionValue)
	b.peer.SetStop(true)
	b.pass(1000)
	b.post(0, linkproto.Posted{Addr: area, Length: 4, Tag: 1, VL: vl, Cookie: 1})
	b.nothing("while the peer says STOP")
	const other, second = vl + 1, contextNumber + 1
	b.write(linkproto.VLRegPeer.Reg(other), afar)
	b.write(linkproto.VLRegNumber.Reg(other), theirs)
	b.write(linkproto.VLRegKey.Reg(other), 1) // so that the peer drops what comes
	b.write(linkproto.VLRegContext.Reg(other), second)
	b.write(linkproto.ContextRegRegion.Reg(second), 12|15<<8)
	b.write(linkproto.ContextRegStatus.Reg(second), 1)
	b.write(linkproto.VLRegStatus.Reg(other), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
	b.fill(12*64, linkproto.Posted{Addr: 13 * 64, Length: 4, Tag: 2, VL: other, Cookie: 8}.Append(nil))
	b.write(linkproto.ContextRegSendTail.Reg(second), 1)
	b.pass(3000)
	check.Equal(t, "sends that the other one has begun", b.register(linkproto.ContextRegSendHead.Reg(second)), 1)
	check.Equal(t, "its link's packets", linkproto.StatusQueued.Of(b.register(linkproto.VLRegStatus.Reg(other)))+linkproto.StatusFreed.Of(b.register(linkproto.VLRegStatus.Reg(other))), 1)
	b.peer.SetStop(false)
	b.completed("behind the STOP", linkproto.Completion{Length: 4, Tag: 1, VL: vl, Cookie: 1})
}
