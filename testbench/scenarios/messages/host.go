package messages

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// host is a host of scenario messages. It knows what its network interface is to do, and checks it.
type host struct {
	*ni.Host
	world    *world
	node     int
	ends     []*virtualEnd // by number, from 1 on
	contexts []*messageContext
	memory   []byte // what the receive buffer is to hold
	lent     []bool // bytes of it that a receive had posted: the network interface writes there what comes, though it turns out to be damaged
	orders   []order
	refusals []linkproto.Status // due for what has been sent, in order
	// Counters of its network interface, as they are to be.
	denied, malformed uint32
	asked             int // requests without an answer

	entered uint64 // phases of the barriers
	left    uint64
	asking  bool

	packets, bytes uint64 // packets to the host and messages to contexts that have come; bytes of those
}

// order is a request, or a packet that is none.
type order struct {
	linkproto.Packet
	answer func(linkproto.Packet) // nil: a packet that is no request
}

func newHost(w *world, node int) *host {
	size := w.Params.BufferBytes()
	h := &host{Host: w.Nodes[node].Host, world: w, node: node, memory: make([]byte, size), lent: make([]bool, size)}
	h.Received = h.received
	for range nodes - 1 {
		for context := range harness.MessageContexts + 1 {
			if w.Params.Contexts == 0 {
				context = 0
			}
			h.ends = append(h.ends, &virtualEnd{host: h, number: len(h.ends) + 1, context: context})
		}
	}
	for number := 1; number <= harness.MessageContexts && w.Params.Contexts > 0; number++ {
		h.contexts = append(h.contexts, newMessageContext(h, number))
	}
	return h
}

// peer is one of the two others: 0 the next one of the ring, 1 that before.
func (h *host) peer(n int) *host { return h.world.hosts[(h.node+1+n)%nodes] }

func (h *host) id() uint16 { return uint16(h.node + 1) }

func (h *host) failf(format string, args ...any) {
	try.Failf("node %d: "+format, append([]any{h.node}, args...)...)
}

// set has a register written.
func (h *host) set(r linkproto.Reg, value uint32) {
	h.ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: value}, func(linkproto.Packet) {})
}

// ask has a request carried out.
func (h *host) ask(p linkproto.Packet, done func(linkproto.Packet)) {
	h.asked++
	h.orders = append(h.orders, order{p, func(a linkproto.Packet) {
		h.asked--
		if a.Status != linkproto.StatusOK {
			h.failf("%v of register %v, address %#x, is answered %v", p.Type, p.Reg, p.Addr, a.Status)
		}
		done(a)
	}})
}

// put has bytes written to the receive buffer.
func (h *host) put(at int, data []byte) {
	copy(h.memory[at:], data)
	for len(data) > 0 {
		n := min(len(data), harness.MessagePage-at%harness.MessagePage)
		h.ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(at), Data: data[:n]}, func(linkproto.Packet) {})
		at, data = at+n, data[n:]
	}
}

// get has bytes read from it.
func (h *host) get(at, size int, done func([]byte)) {
	var all []byte
	for end := at + size; at < end; {
		n := min(end-at, harness.MessagePage-at%harness.MessagePage)
		h.ask(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(at), Count: uint16(n)}, func(a linkproto.Packet) {
			if len(a.Data) != n {
				h.failf("%d bytes of the receive buffer come, of %d", len(a.Data), n)
			}
			if all = append(all, a.Data...); len(all) == size {
				done(all)
			}
		})
		at += n
	}
}

// lend says of bytes of the receive buffer whether the network interface may write to them.
func (h *host) lend(at, size int, lent bool) {
	for i := range size {
		h.lent[at+i] = lent
	}
}

// told reports whether the network interface has been told everything.
func (h *host) told() bool { return len(h.orders) == 0 && h.asked == 0 }

// reading returns whether all completions have been looked at that are told now.
func (h *host) reading() func() bool {
	var told []uint16
	for _, c := range h.contexts {
		told = append(told, c.told)
	}
	return func() bool {
		for i, c := range h.contexts {
			if int16(c.read-told[i]) < 0 {
				return false
			}
		}
		return true
	}
}

func (h *host) idle() bool {
	for _, e := range h.ends {
		if !e.idle() {
			return false
		}
	}
	for _, c := range h.contexts {
		if !c.idle() {
			return false
		}
	}
	return h.told() && len(h.refusals) == 0 && !h.asking && h.entered == h.left
}

// String says what is underway.
func (h *host) String() string {
	text := fmt.Sprintf("%d orders, %d refusals due, barrier %d entered, %d left", len(h.orders), len(h.refusals), h.entered, h.left)
	for _, e := range h.ends {
		text += "\n  " + e.String()
	}
	for _, c := range h.contexts {
		text += "\n  " + c.String()
	}
	return text
}

// turn does what is due.
func (h *host) turn() {
	for len(h.orders) > 0 {
		o, err := h.orders[0], error(nil)
		if o.answer != nil {
			err = h.Request(o.Packet, o.answer)
		} else {
			err = h.SendRaw(try.Get(o.Append(nil)))
		}
		if errors.Is(err, ni.ErrBusy) {
			return
		}
		try.OK(err)
		h.orders = h.orders[1:]
	}
	for _, e := range h.ends {
		e.turn()
	}
	for _, c := range h.contexts {
		c.turn()
	}
	h.barrier()
}

// barrier enters the next phase, and looks whether all have.
func (h *host) barrier() {
	w := h.world
	switch {
	case h.asking:
	case h.entered > h.left:
		h.asking = true
		h.ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.BarrierRegPhase.Reg(group)}, func(a linkproto.Packet) {
			h.asking = false
			switch phase := linkproto.BarrierPhase.Of(a.Value); phase {
			case linkproto.BarrierPhase.Of(uint32(h.left)):
			case linkproto.BarrierPhase.Of(uint32(h.entered)):
				h.left = h.entered
				for _, other := range w.hosts {
					if other.entered < h.left {
						h.failf("it has left phase %d of the barriers, and node %d is in phase %d", h.left, other.node, other.entered)
					}
				}
			default:
				h.failf("it is in phase %d of the barriers behind %d", phase, h.left)
			}
		})
	case w.offering && w.rng.Chance(0.02) || h.behind():
		h.entered++
		h.set(linkproto.BarrierRegPhase.Reg(group), uint32(linkproto.BarrierValue(1, uint8(h.entered))))
	}
}

// behind reports whether another has entered a phase that this host has not.
func (h *host) behind() bool {
	for _, other := range h.world.hosts {
		if other.entered > h.entered {
			return true
		}
	}
	return false
}

// received takes what is no answer.
func (h *host) received(p linkproto.Packet) {
	switch p.Type {
	case linkproto.TypeVirtual:
		var q linkproto.Packet
		try.OK(q.Decode(p.Data))
		if p.VL < 1 || int(p.VL) > len(h.ends) {
			h.failf("%v comes of virtual link %d, which there is not", q.Type, p.VL)
		}
		h.ends[p.VL-1].received(q)
	case linkproto.TypeCompleted:
		if p.Context < 1 || int(p.Context) > len(h.contexts) {
			h.failf("context %d has completed descriptors, which there is not", p.Context)
		}
		h.contexts[p.Context-1].completed(p.Count)
	case linkproto.TypeDone:
		if len(h.refusals) == 0 || h.refusals[0] != p.Status || p.Tag != linkproto.TagNone {
			h.failf("it answers %v with tag %#x, want %v", p.Status, p.Tag, h.refusals)
		}
		h.refusals = h.refusals[1:]
	default:
		h.failf("it sends a %v", p.Type)
	}
}

// check compares what can be read when nothing is underway.
func (h *host) check() {
	w := h.world
	for at, have := range try.Get(w.ReadBuffer(h.node)) {
		if have != h.memory[at] && !h.lent[at] {
			h.failf("byte %#x of the receive buffer is %#x, want %#x", at, have, h.memory[at])
		}
	}
	read := func(what string, r linkproto.Reg, want uint32) {
		if have := try.Get(w.ReadRegister(h.node, r)); have != want {
			h.failf("%s is %#x, want %#x", what, have, want)
		}
	}
	read("counter denied", linkproto.CounterReg(1, linkproto.CntDenied), h.denied)
	read("counter bad_packet", linkproto.CounterReg(1, linkproto.CntBadPacket), h.malformed)
	for _, e := range h.ends {
		e.check(read)
	}
	for _, c := range h.contexts {
		c.check(read)
	}
}
