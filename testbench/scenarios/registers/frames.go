package registers

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// whole is the walk on a network interface without a router.
func (w *walk) whole() {
	for range 3 {
		w.fresh()
		w.identify()
		try.OK(w.FillBuffer(0, w.Rand.Bytes(w.Params.BufferBytes())))
		for range 3 {
			w.settle()
			w.burst(150, func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce })
			w.burst(50, func(linkproto.Reg) bool { return true })
			w.identify()
			w.amid()
			w.obeyed()
		}
		w.exceed()
		w.reset()
	}
}

// granted reports whether link 1 may write a frame.
func (w *walk) granted(frame int) bool {
	entry := w.regs.stored[linkproto.FrameReg(frame)]
	return linkproto.FrameValid.Of(entry) != 0 && linkproto.FrameLink.Of(entry) == 1
}

// remote sends a write from the peer, if that takes it, which is to be carried out if it lies in a frame that is link 1's.
func (w *walk) remote(addr uint32, n int) (sent, carried bool) {
	data := w.Rand.Bytes(n)
	err := w.Peer(1).Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: data}))
	if harness.Full(err) {
		return false, false
	}
	try.OK(err)
	page := uint32(w.Params.PageBytes)
	frame, offset := addr/page, addr%page
	if frame >= uint32(w.Params.Frames) || offset+uint32(n) > page || !w.granted(int(frame)) {
		return true, false
	}
	copy(w.Node.Image[addr:], data)
	return true, true
}

// amid makes requests while the peer writes to a frame that stays its own.
func (w *walk) amid() {
	frame := w.Rand.IntN(w.Params.Frames)
	w.write(linkproto.FrameReg(frame), linkproto.FrameValid.In(1)|linkproto.FrameLink.In(1))
	w.answered()
	for range 300 {
		n := 1 + w.Rand.IntN(40)
		if w.Rand.Bool() {
			w.remote(uint32(frame*w.Params.PageBytes+w.Rand.IntN(w.Params.PageBytes-n+1)), n)
		}
		w.any(func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce && reg != linkproto.FrameReg(frame) })
	}
	w.answered()
	w.rest()
}

// rest waits until all that the peer has sent is carried out, and compares the receive buffer.
func (w *walk) rest() {
	try.OK(w.Until(100_000, "the peer's writes to be acknowledged", func() bool { return w.Peer(1).Link.Queued() == 0 }))
	try.OK(w.Run(2*w.Params.RxBytes + 1000))
	if have := try.Get(w.ReadBuffer(0)); !bytes.Equal(have, w.Node.Image) {
		try.Failf("the receive buffer holds % x, want % x", have, w.Node.Image)
	}
}

// obeyed has the peer write everywhere: what the frame table does not allow is counted, and what it allows is told if CONTROL says so.
func (w *walk) obeyed() {
	for frame := range w.Params.Frames {
		w.write(linkproto.FrameReg(frame), testbench.Pick(w.Rand, w.value(), linkproto.FrameValid.In(1)|linkproto.FrameLink.In(1)|w.value()&^linkproto.FrameLink.In(7)))
	}
	w.write(linkproto.RegControl, linkproto.ControlNotify.In(1)&w.Rand.Uint32())
	w.answered()
	notify := w.regs.stored[linkproto.RegControl] != 0
	w.notes = map[int]span{}
	before := w.QuietTally(1)
	written := map[int]span{}
	for sent := 0; sent < 24; {
		page := w.Params.PageBytes
		n := 1 + w.Rand.IntN(testbench.Pick(w.Rand, 8, 100, page))
		at := w.Rand.IntN(page - n + 1)
		frame := testbench.Pick(w.Rand, w.Rand.IntN(w.Params.Frames), w.Rand.IntN(w.Params.Frames), w.Rand.IntN(4*w.Params.Frames))
		if w.Rand.IntN(8) == 0 && n > 1 { // across a page's end
			at = page - 1 - w.Rand.IntN(n-1)
		}
		addr := uint32(frame*page+at) | testbench.Pick[uint32](w.Rand, 0, 0, 0, 0, 0, 1<<w.Rand.Between(16, 31))
		took, carried := w.remote(addr, n)
		if !took {
			try.OK(w.Run(1))
			continue
		}
		sent++
		before.Want[linkproto.CntRxPackets]++
		if !carried {
			before.Want[linkproto.CntDenied]++
			continue
		}
		wrote := span{at, at + n - 1}
		if old, ok := written[frame]; ok {
			wrote = wrote.and(old)
		}
		written[frame] = wrote
	}
	w.rest()
	try.OK(before.Check())
	for frame := range w.Params.Frames {
		want, wrote := written[frame]
		have, told := w.notes[frame]
		if told != (wrote && notify) || told && have != want {
			try.Failf("frame %d: written %v %v, told of %v %v, NOTIFY %v", frame, wrote, want, told, have, notify)
		}
	}
}

// exceed has the host send more by the link than SPACE allows, until packets are refused, and the peer what is no packet of links.
func (w *walk) exceed() {
	credit := w.Node.Host.Credit(1)
	page := linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Data: make([]byte, w.Params.PageBytes)}
	try.OK(w.Until(100_000, "packets to be refused", func() bool {
		if !credit.Stopped {
			if err := w.Node.Host.Push(page); err != nil {
				return false
			}
		}
		return credit.Refused > 0
	}))
	for range 5 {
		try.OK(w.Peer(1).Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeRegRead})))
	}
	try.OK(w.Until(100_000, "the link's queue to be empty", func() bool {
		for _, ok := w.Peer(1).Link.Receive(); ok; _, ok = w.Peer(1).Link.Receive() {
		}
		return credit.Outstanding() == 0
	}))
	if lost := try.Get(w.Admit(0, 1)); !lost {
		try.Failf("packets were refused, and LINK_STATUS does not say LOST")
	}
	w.settle()
	w.burst(50, func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce })
}

// routed is the walk on one with a router.
func (w *walk) routed() {
	for life := range 4 {
		w.down()
		w.early(life%2 == 0)
		w.fresh()
		w.identify()
		for range 2 {
			w.settle()
			w.burst(200, func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce })
			w.walk()
		}
		for node := range uint16(routeEntries) {
			w.write(linkproto.RouteReg(node), w.way())
		}
		w.reset()
	}
}

// way is an entry of the routing table whose ports there are.
func (w *walk) way() uint32 {
	return linkproto.RoutePort.In(uint32(w.Rand.Between(1, w.Params.Router))) | linkproto.RouteAlternate.In(uint32(w.Rand.Between(0, w.Params.Router)))
}

// early asks for entries of tables that may still be being cleared: what was written before the reset does not show, and what is written now stays.
func (w *walk) early(writes bool) {
	var regs []linkproto.Reg
	for range 10 {
		regs = append(regs, linkproto.RouteReg(uint16(w.Rand.Between(routeEntries*3/4, routeEntries-1))), linkproto.GroupReg(w.Rand.IntN(groupEntries)))
	}
	for _, reg := range regs {
		if writes {
			w.write(reg, w.way())
		}
	}
	for _, reg := range regs {
		w.read(reg)
	}
}
