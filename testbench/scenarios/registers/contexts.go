package registers

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// contexts begins contexts of messages with regions that hold their rings or do not, and posts as much as the rings hold, more or less.
func (w *walk) contexts() {
	w.burst(200, func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce })
	host := w.Node.Host
	host.Received = func(linkproto.Packet) {} // descriptors of nothing are completed
	for range 60 * w.Params.Contexts {
		context := w.Rand.Between(1, 1<<w.Params.Contexts-1)
		if entries := w.begin(context); entries > 0 {
			for range 6 {
				if !w.post(context, entries) {
					break
				}
			}
		}
		w.set(linkproto.ContextRegStatus.Reg(context), 0)
	}
	host.Received = w.received
	for _, status := range []uint32{linkproto.ContextEnabled.In(1), linkproto.ContextFault.In(linkproto.FaultRegion), linkproto.ContextFault.In(linkproto.FaultTail)} {
		if what := fmt.Sprintf("STATUS %#x", status); w.Params.Contexts > 0 && w.seen[what] == 0 {
			try.Failf("%s has never come up: the run tests too little", what)
		}
	}
	w.reset()
}

func (w *walk) get(reg linkproto.Reg) uint32 { return try.Get(w.ReadRegister(0, reg)) }

func (w *walk) set(reg linkproto.Reg, value uint32) { try.OK(w.WriteRegister(0, reg, value)) }

// begin begins a context, and returns the entries of its rings; 0 if that has to be refused.
func (w *walk) begin(context int) (entries int) {
	page := w.Params.PageBytes
	size := w.Rand.IntN(5)
	frames := linkproto.RingsOf(1<<size)/page + w.Rand.Between(-1, 1)
	first := testbench.Pick(w.Rand, w.Rand.IntN(w.Params.Frames), w.Params.Frames-frames, w.Params.Frames-frames+1)
	last := first + frames - 1
	region := linkproto.ContextFirst.In(uint32(first)) | linkproto.ContextLast.In(uint32(last)) | linkproto.ContextSize.In(uint32(size))
	w.set(linkproto.ContextRegRegion.Reg(context), region|w.value()<<20)
	w.set(linkproto.ContextRegStatus.Reg(context), linkproto.ContextEnabled.In(1))
	want := linkproto.ContextEnabled.In(1)
	if frames < 1 || last >= w.Params.Frames || linkproto.RingsOf(1<<size) > frames*page {
		want = linkproto.ContextFault.In(linkproto.FaultRegion)
	} else {
		entries = 1 << size
	}
	w.seen[fmt.Sprintf("STATUS %#x", want)]++
	if have, status := w.get(linkproto.ContextRegRegion.Reg(context)), w.get(linkproto.ContextRegStatus.Reg(context)); have != region || status != want {
		try.Failf("context %d with frames %d to %d and rings of %d entries: REGION reads %#x, STATUS %#x, want %#x and %#x", context, first, last, 1<<size, have, status, region, want)
	}
	return entries
}

// post writes a tail, and reports whether the context goes on.
func (w *walk) post(context, entries int) bool {
	tailReg, headReg := linkproto.ContextRegSendTail.Reg(context), linkproto.ContextRegSendHead.Reg(context)
	if w.Rand.Bool() {
		tailReg, headReg = linkproto.ContextRegReceiveTail.Reg(context), linkproto.ContextRegReceiveHead.Reg(context)
	}
	head := uint16(w.get(headReg))
	was := int(uint16(w.get(tailReg)) - head)
	ahead := testbench.Pick(w.Rand, w.Rand.Between(was, entries), w.Rand.Between(was, entries), entries, entries+1, was-1, entries+w.Rand.IntN(1<<15))
	w.set(tailReg, uint32(head+uint16(ahead)))
	good := ahead >= was && ahead <= entries
	want := linkproto.ContextEnabled.In(1)
	if !good {
		want = linkproto.ContextFault.In(linkproto.FaultTail)
	}
	w.seen[fmt.Sprintf("STATUS %#x", want)]++
	if have := w.get(linkproto.ContextRegStatus.Reg(context)); have != want {
		try.Failf("context %d: %v was %d before its head and is written %d, the ring has %d entries: STATUS reads %#x, want %#x", context, tailReg, was, ahead, entries, have, want)
	}
	try.OK(w.Run(2000))
	return good
}
