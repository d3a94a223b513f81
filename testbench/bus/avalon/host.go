package avalon

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Host drives a design that is an agent. Throttled, it leaves gaps, within bursts of writes too.
type Host struct {
	*monitor
	bus.Stall
	queue []*Transfer // the first is on the wires if asks
	reads []*Transfer // taken, and not all words have come
	asks  bool
}

// NewHost drives the interface of the ports with a prefix.
func NewHost(b *testbench.Bench, prefix string, c Config) (*Host, error) {
	m, err := open(b, prefix, c, true)
	if err != nil {
		return nil, err
	}
	h := &Host{monitor: m, Stall: m.Stalls()}
	m.read.Set(0)
	m.write.Set(0)
	m.Run(func() { m.see(); h.collect() }, h.drive)
	return h, nil
}

// Read queues a read of n words from a byte address.
func (h *Host) Read(address uint64, n int) *Transfer {
	return h.start(&Transfer{Addr: address, Words: make([]uint64, n), count: n})
}

// Write queues a write of words to a byte address; masks may be nil.
func (h *Host) Write(address uint64, words, masks []uint64) *Transfer {
	return h.start(&Transfer{Write: true, Addr: address, Words: words, Masks: masks, count: len(words)})
}

func (h *Host) start(t *Transfer) *Transfer {
	most := 1
	if h.count != nil {
		most = 1 << (h.count.Width() - 1)
	}
	switch {
	case t.count < 1 || t.count > most:
		t.Err = fmt.Errorf("%s: a transfer of %d words: want 1 to %d", h, t.count, most)
	case t.Masks != nil && len(t.Masks) != t.count:
		t.Err = fmt.Errorf("%s: a write of %d words with masks for %d: want one for each, or none", h, t.count, len(t.Masks))
	default:
		if t.Err = h.carries(t); t.Err == nil {
			h.queue = append(h.queue, t)
			return t
		}
	}
	t.done = true
	h.Bench.Fatalf("%w", t.Err)
	return t
}

func (h *Host) carries(t *Transfer) error {
	for i, v := range t.Words {
		a := bus.Access{Write: t.Write, Addr: t.Addr, Data: v}
		if t.Masks != nil && t.Masks[i] != 0 {
			a.Mask = t.Masks[i]
		}
		if err := h.Carries(a, t.Addr/h.unit(), h.address, h.wdata, h.mask, h.bytes()); err != nil {
			return err
		}
	}
	return nil
}

// collect takes the words of reads before the edge at which they come.
func (h *Host) collect() {
	var t *Transfer
	switch {
	case h.InReset():
		return
	case h.valid == nil && h.taken && h.is.read && len(h.queue) > 0:
		t = h.queue[0]
	case h.is.valid && len(h.reads) > 0:
		t = h.reads[0]
	default:
		return
	}
	t.Words[t.came] = h.is.got
	if bus.Get(h.response, 0) != 0 {
		t.Err = ErrResponse
	}
	if t.came++; t.came == t.count {
		t.done = true
		if h.valid != nil {
			h.reads = h.reads[1:]
		}
	}
}

func (h *Host) drive() {
	if h.InReset() {
		for _, t := range h.reads {
			t.Err, t.done = bus.ErrReset, true
		}
		if h.asks || len(h.queue) > 0 && h.queue[0].asked > 0 {
			h.queue[0].Err, h.queue[0].done = bus.ErrReset, true
			h.queue = h.queue[1:]
		}
		h.reads, h.asks = nil, false
		h.read.Set(0)
		h.write.Set(0)
		return
	}
	if h.asks && h.taken {
		h.asks = false
		t := h.queue[0]
		if t.asked++; !t.Write || t.asked == t.count {
			h.queue = h.queue[1:]
			switch {
			case t.Write:
				t.done = true
			case h.valid != nil:
				h.reads = append(h.reads, t)
			}
		}
	}
	if h.asks {
		return
	}
	h.read.Set(0)
	h.write.Set(0)
	if len(h.queue) == 0 || h.Stall.Now() {
		return
	}
	t := h.queue[0]
	h.asks = true
	h.address.Set(t.Addr / h.unit())
	bus.Set(h.count, uint64(t.count))
	mask := uint64(1)<<h.bytes() - 1
	if t.Write {
		h.wdata.Set(t.Words[t.asked])
		if t.Masks != nil {
			mask = t.Masks[t.asked]
		}
	}
	bus.Set(h.mask, mask)
	h.read.Set(bus.Bit(!t.Write))
	h.write.Set(bus.Bit(t.Write))
}

// Agent answers a design that is a host. Throttled, it holds up requests and the words of reads.
type Agent struct {
	*monitor
	bus.Stall
	target bus.Target
	next   uint64   // address of the next word of a burst of writes
	queue  []uint64 // addresses of words to be read
}

// NewAgent answers the interface of the ports with a prefix from a memory or registers. It answers a read that the
// target refuses with SLVERR. A write that it refuses fails the bench: no signal answers writes (writeresponsevalid is not modelled).
func NewAgent(b *testbench.Bench, prefix string, c Config, t bus.Target) (*Agent, error) {
	m, err := open(b, prefix, c, false)
	if err != nil {
		return nil, err
	}
	a := &Agent{monitor: m, Stall: m.Stalls(), target: t}
	bus.Set(m.wait, 1)
	bus.Set(m.valid, 0)
	m.Run(a.look, a.drive)
	return a, nil
}

// look takes requests at the edge that they are taken at.
func (a *Agent) look() {
	first := a.left == 0
	a.see()
	n := &a.is
	switch {
	case !a.taken:
	case n.write:
		if first {
			a.next = n.address * a.unit()
		}
		if n.mask != 0 {
			w := bus.Access{Write: true, Data: n.data, Mask: n.mask}
			if err := w.Perform(a.target, a.next, a.bytes()); err != nil {
				a.Bench.Errorf("%s: %w, and a write has no response to say so", a, err)
			}
		}
		a.next += uint64(a.bytes())
	case a.valid != nil:
		for i := range n.count {
			a.queue = append(a.queue, n.address*a.unit()+i*uint64(a.bytes()))
		}
	}
}

func (a *Agent) drive() {
	bus.Set(a.valid, 0)
	wait := a.InReset() || a.Stall.Now() || len(a.queue) > 64
	bus.Set(a.wait, bus.Bit(wait))
	switch {
	case a.InReset():
		a.queue = nil
	case a.valid == nil && a.read.Is() && !(wait && a.wait != nil): // what a read without readdatavalid asks for stands there with waitrequest at 0
		a.put(a.address.Get() * a.unit())
	case a.valid != nil && len(a.queue) > 0 && !a.Stall.Now():
		a.put(a.queue[0])
		a.queue = a.queue[1:]
		a.valid.Set(1)
	}
}

func (a *Agent) put(address uint64) {
	r := bus.Access{}
	err := r.Perform(a.target, address, a.bytes())
	a.rdata.Set(r.Data)
	bus.Set(a.response, 2*bus.Bit(err != nil))
	if err != nil && a.response == nil {
		a.Bench.Errorf("%s: %v, and the interface has no response to say so", a, err)
	}
}
