package registers

import (
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// received compares an answer with the one that is due, and takes note of a NOTIFY.
func (w *walk) received(p linkproto.Packet) {
	switch {
	case p.Type == linkproto.TypeNotify:
		told := span{int(p.First), int(p.Last)}
		if old, ok := w.notes[int(p.Frame)]; ok {
			told = told.and(old)
		}
		w.notes[int(p.Frame)] = told
		return
	case len(w.expect) == 0:
		try.Failf("answer %v, tag %d, status %v to nothing", p.Type, p.Tag, p.Status)
	}
	want := w.expect[0]
	w.expect = w.expect[1:]
	w.Suite.Stats.Packets++
	if p.Type != want.Type || p.Tag != want.Tag || p.Status != want.Status || p.Reg != want.Reg || (p.Value^want.Value)&want.known != 0 {
		try.Failf("%s is answered %v, tag %d, status %v, register %v, %#x; want %v, %d, %v, register %v, %#x in bits %#x",
			want.about, p.Type, p.Tag, p.Status, p.Reg, p.Value, want.Type, want.Tag, want.Status, want.Reg, want.Value, want.known)
	}
}

// push sends a request as soon as the host port takes it.
func (w *walk) push(raw []byte, want answer) {
	try.OK(w.Until(100_000, "room on the host port", func() bool { return !errors.Is(w.Node.Host.SendRaw(raw), ni.ErrBusy) }))
	w.expect = append(w.expect, want)
}

// ask reads a register, or writes it, and takes note of what the answer must be.
func (w *walk) ask(p linkproto.Packet) {
	p.Tag = uint8(w.Rand.IntN(linkproto.TagNone))
	q := w.regs.at(p.Reg)
	want := answer{Packet: linkproto.Packet{Type: linkproto.TypeDone, Status: linkproto.StatusBadAddress, Tag: p.Tag}, about: p.Type.String() + " of " + p.Reg.String()}
	switch {
	case p.Type == linkproto.TypeRegRead && q.reads:
		w.seen["read"]++
		want.Packet = linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg, Value: q.value}
		want.known = q.known
	case p.Type == linkproto.TypeRegWrite && q.writes:
		w.seen["write"]++
		want.Status = linkproto.StatusOK
		w.regs.write(p.Reg, p.Value)
	default:
		w.seen["refused"]++
	}
	w.push(stimulus.Encode(p), want)
}

func (w *walk) read(reg linkproto.Reg) {
	w.ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: reg})
}

func (w *walk) write(reg linkproto.Reg, value uint32) {
	w.ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: reg, Value: value})
}

// value is any, corners preferred.
func (w *walk) value() uint32 {
	v := w.Rand.Uint32()
	return testbench.Pick(w.Rand, v, v, v<<16, v>>16, 1<<(v&31), 0, ^uint32(0))
}

// nonce is a nonce, which names other lives than none does. The checker of a link takes an even one for none; a test build has no checker.
func (w *walk) nonce() uint32 {
	v := w.Rand.Uint32() | 1
	if !w.Params.Inject {
		return v
	}
	return testbench.Pick(w.Rand, v, v<<16, v>>16|1)
}

// burst makes requests one right behind the other: of any register that may be written, of what is close to them, and malformed ones.
func (w *walk) burst(n int, may func(linkproto.Reg) bool) {
	for range n {
		w.any(may)
	}
	w.answered()
}

func (w *walk) any(may func(linkproto.Reg) bool) {
	reg := w.regs.draw(w.Rand)
	row, i, _ := w.regs.row(reg)
	switch {
	case w.Rand.IntN(16) == 0:
		w.seen["malformed"]++
		r := w.Refusable()
		w.push(r.Raw, answer{Packet: r.Want, about: "a malformed request"})
	case w.Rand.Bool() || !may(reg):
		w.read(reg)
	case row.Reg == linkproto.RegInject && i%linkproto.InjectStride == int(linkproto.InjectControl):
		w.write(reg, w.value()&^(linkproto.InjectRun.In(1)|linkproto.InjectCut.In(1)))
	case reg == linkproto.RegNonce:
		w.write(reg, testbench.Pick(w.Rand, w.nonce(), 0))
	default:
		w.write(reg, w.value())
	}
}

func (w *walk) answered() {
	try.OK(w.Until(200_000, "all answers", func() bool { return len(w.expect) == 0 }))
}

// walk reads all registers, in any order.
func (w *walk) walk() {
	regs := w.regs.all(w.Rand)
	w.Rand.Shuffle(len(regs), func(i, j int) { regs[i], regs[j] = regs[j], regs[i] })
	for _, reg := range regs {
		w.read(reg)
	}
	w.answered()
}

// reset resets the network interface amid requests, whose answers are lost, and makes others as soon as it listens again.
func (w *walk) reset() {
	w.seen["reset"]++
	for range w.Rand.IntN(60) {
		w.any(func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce })
	}
	try.OK(w.Run(w.Rand.IntN(300)))
	host := w.Node.Host
	host.Received = func(linkproto.Packet) {}
	host.Forget()
	w.expect, w.regs = nil, newRegisterMap(w.Params, w.regs.hash)
	restarts := host.Link.Counter(linkproto.CntRestarts)
	try.OK(w.Reset())
	try.OK(w.Until(100_000, "the host port to start again", func() bool { return host.Link.Status().Up && host.Link.Counter(linkproto.CntRestarts) != restarts }))
	host.Link.Lost()
	host.Received = w.received
}

// fresh checks that all registers read as after a reset, and that the links stay down without a nonce.
func (w *walk) fresh() {
	w.down()
	w.walk()
	w.burst(150, func(reg linkproto.Reg) bool { return reg != linkproto.RegNonce })
	try.OK(w.Run(6000))
	for _, p := range w.Peers {
		if p.Link.Status().Up {
			try.Failf("without a nonce the peer has %+v", p.Link.Status())
		}
	}
	w.walk()
}

// identify gives the node another number and nonce, and waits for its links.
func (w *walk) identify() {
	w.write(linkproto.RegNodeID, w.value())
	w.write(linkproto.RegNonce, w.nonce())
	w.answered()
	w.rise()
}
