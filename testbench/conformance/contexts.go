package conformance

import (
	"bytes"
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var contextCases = []Case{
	{"contexts/isolation", "A context of messages that the network interface carries out reads and writes nothing but its region, sends by no link that is not its own, and ends alone when its program breaks the rules.",
		protection, "protocol.md#messages-of-an-interface", contextIsolation},
}

// victim and neighbour are contexts, of frames from 1 on; the rings of the victim have two entries.
const (
	victim, neighbour = 1, 2
	victimSize        = 1
)

// context is what a hostile program does with a context.
type hostileContext struct {
	*bench
	start, end int // of its region
	tails      [2]uint16
	done       uint16
}

// begin enables a context and returns its STATUS.
func (b *bench) begin(ctx context.Context, number, first, last, size int) uint32 {
	region := linkproto.ContextFirst.In(uint32(first)) | linkproto.ContextLast.In(uint32(last)) | linkproto.ContextSize.In(uint32(size))
	try.OK(b.ni.WriteRegister(ctx, linkproto.ContextRegStatus.Reg(number), 0))
	try.OK(b.ni.WriteRegister(ctx, linkproto.ContextRegRegion.Reg(number), region))
	try.OK(b.ni.WriteRegister(ctx, linkproto.ContextRegStatus.Reg(number), linkproto.ContextEnabled.In(1)))
	return b.registers(ctx, linkproto.ContextRegStatus.Reg(number))[0]
}

// post posts a descriptor of sends (0) or receives (1), and wants how it completes.
func (h *hostileContext) post(ctx context.Context, ring int, d linkproto.Posted, want linkproto.CompletionStatus) {
	at := h.start + (ring<<victimSize+int(h.tails[ring])&(1<<victimSize-1))*linkproto.RingEntry
	try.OK(h.ni.WriteBuffer(ctx, d.Append(nil), at))
	h.tails[ring]++
	try.OK(h.ni.WriteRegister(ctx, (linkproto.ContextRegSendTail + linkproto.ContextReg(ring)).Reg(victim), uint32(h.tails[ring])))
	limit, cancel := h.soon(ctx, 1)
	defer cancel()
	for h.registers(ctx, linkproto.ContextRegCompletions.Reg(victim))[0] == uint32(h.done) {
		if err := h.ni.Sleep(limit, h.duration(linkproto.DefaultAckDelay)); err != nil {
			try.Failf("descriptor %+v of ring %d is not completed", d, ring)
		}
	}
	entry := make([]byte, linkproto.RingEntry)
	try.OK(h.ni.ReadBuffer(ctx, entry, h.start+(linkproto.RingCompletions<<victimSize+int(h.done)&(2<<victimSize-1))*linkproto.RingEntry))
	h.done++
	if c, ok := linkproto.DecodeCompletion(entry); !ok || c.Status != want || c.Cookie != d.Cookie || c.Receive != (ring == 1) {
		try.Failf("descriptor %+v of ring %d is completed as %+v, want status %d", d, ring, c, want)
	}
}

func contextIsolation(ctx context.Context, b *bench) {
	if !b.id.Has(linkproto.FeatureMessages) {
		skipf("the network interface carries out no contexts of messages (feature %s)", linkproto.FeatureMessages.Name)
	}
	const first = 1
	rings := (linkproto.RingsOf(1<<victimSize) + b.id.PageBytes - 1) / b.id.PageBytes
	last := first + rings // a frame of messages
	if b.id.Frames < last+3 {
		skipf("the receive buffer has %d frames, and rings, messages and others' take %d", b.id.Frames, last+3)
	}
	for _, region := range [][3]int{{2, 1, 0}, {first, b.id.Frames, 0}, {first, first, linkproto.MaxRingSize}, {first, last, linkproto.MaxRingSize + 1}} {
		if have := b.begin(ctx, victim, region[0], region[1], region[2]); have != linkproto.ContextFault.In(linkproto.FaultRegion) {
			try.Failf("a context of frames %d to %d of %d with rings of 2^%d has STATUS %#x, want FAULT %d", region[0], region[1], b.id.Frames, region[2], have, linkproto.FaultRegion)
		}
	}
	h := &hostileContext{bench: b, start: first * b.id.PageBytes, end: (last + 1) * b.id.PageBytes}
	around := [2][]byte{b.noise(b.id.PageBytes), b.noise(b.id.PageBytes)}
	try.OK(b.ni.WriteBuffer(ctx, around[0], h.start-b.id.PageBytes), b.ni.WriteBuffer(ctx, around[1], h.end))
	for number, frames := range map[int][2]int{victim: {first, last}, neighbour: {last + 2, last + 2}} {
		size := victimSize
		if number == neighbour {
			size = 0
		}
		if have := b.begin(ctx, number, frames[0], frames[1], size); have != linkproto.ContextEnabled.In(1) {
			try.Failf("context %d of frames %d to %d has STATUS %#x, want that it is enabled", number, frames[0], frames[1], have)
		}
	}
	area := h.start + linkproto.RingsOf(1<<victimSize)
	for i, d := range []linkproto.Posted{
		{Addr: 0, Length: 8}, {Addr: uint32(h.start - 4), Length: 8}, {Addr: uint32(area - 4), Length: 8}, {Addr: uint32(h.end - 4), Length: 8}, {Addr: uint32(h.end), Length: 4},
		{Addr: uint32(area + 2), Length: 4}, {Addr: uint32(area), Length: 0xFFFFFFFF}, {Addr: 0xFFFFFFFC, Length: 8}, {Addr: uint32(b.id.BufferBytes()), Length: 4},
	} {
		d.Cookie = uint16(i)
		h.post(ctx, 0, d, linkproto.CompletionBadDescriptor)
		h.post(ctx, 1, d, linkproto.CompletionBadDescriptor)
	}
	for _, vl := range []uint16{0, 1, 0xFFFF} {
		h.post(ctx, 0, linkproto.Posted{Addr: uint32(area), Length: 4, VL: vl}, linkproto.CompletionBadLink)
	}
	for what, tails := range map[string][]uint32{"too far ahead": {1<<victimSize + 1}, "moved back": {2, 1}} {
		b.begin(ctx, victim, first, last, victimSize)
		for _, tail := range tails {
			try.OK(b.ni.WriteRegister(ctx, linkproto.ContextRegSendTail.Reg(victim), tail))
		}
		status := b.registers(ctx, linkproto.ContextRegStatus.Reg(victim), linkproto.ContextRegStatus.Reg(neighbour))
		if status[0] != linkproto.ContextFault.In(linkproto.FaultTail) || status[1] != linkproto.ContextEnabled.In(1) {
			try.Failf("behind a tail that is %s contexts have STATUS %#x, want FAULT %d, and the other one enabled", what, status, linkproto.FaultTail)
		}
	}
	have := [2][]byte{make([]byte, b.id.PageBytes), make([]byte, b.id.PageBytes)}
	try.OK(b.ni.ReadBuffer(ctx, have[0], h.start-b.id.PageBytes), b.ni.ReadBuffer(ctx, have[1], h.end))
	if !bytes.Equal(have[0], around[0]) || !bytes.Equal(have[1], around[1]) {
		try.Failf("frames beside the region have changed")
	}
	try.OK(b.ni.WriteRegister(ctx, linkproto.ContextRegStatus.Reg(neighbour), 0))
}
