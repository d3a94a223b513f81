package apb

import (
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Requester drives a design that is a completer. Throttled, it leaves gaps.
type Requester struct {
	*Monitor
	bus.Stall
	queue []*bus.Pending
	open  bool // the first of queue is on the wires
}

// NewRequester drives the bus of the ports with a prefix.
func NewRequester(b *testbench.Bench, prefix string, c Config) (*Requester, error) {
	m, err := newMonitor(b, prefix, c, true)
	if err != nil {
		return nil, err
	}
	r := &Requester{Monitor: m, Stall: m.Stalls()}
	m.psel.Set(0)
	m.penable.Set(0)
	m.Run(m.see, r.drive)
	return r, nil
}

// Start queues an access to the word at an address. The bench fails if the bus cannot carry it.
func (r *Requester) Start(a bus.Access) *bus.Pending {
	p := &bus.Pending{Access: a}
	if err := r.Carries(a, a.Addr, r.paddr, r.pwdata, r.pstrb, r.bytes()); err != nil {
		p.Refuse(r.Bench, err)
		return p
	}
	r.queue = append(r.queue, p)
	return p
}

// Read reads the word at an address. The error is ErrSlave or bus.ErrReset.
func (r *Requester) Read(c *testbench.Task, address uint64) (uint64, error) {
	return r.Start(bus.Access{Addr: address}).Wait(c)
}

// Write writes the word at an address. The error is ErrSlave or bus.ErrReset.
func (r *Requester) Write(c *testbench.Task, address, data uint64) error {
	_, err := r.Start(bus.Access{Write: true, Addr: address, Data: data}).Wait(c)
	return err
}

func (r *Requester) drive() {
	switch {
	case r.InReset():
		if r.open {
			r.queue[0].Finish(0, bus.ErrReset, r.Clock.Cycles())
			r.queue, r.open = r.queue[1:], false
		}
		r.psel.Set(0)
		r.penable.Set(0)
		return
	case r.open && r.ended != nil:
		r.queue[0].Finish(r.ended.Data, r.ended.Err, r.ended.Edge)
		r.queue, r.open = r.queue[1:], false
	case r.open:
		r.penable.Set(1)
		return
	}
	r.penable.Set(0)
	r.psel.Set(0)
	if len(r.queue) == 0 || r.Stall.Now() {
		return
	}
	a := r.queue[0].Access
	mask := a.Mask
	switch {
	case !a.Write:
		mask = 0
	case mask == 0:
		mask = r.all()
	}
	r.open = true
	r.psel.Set(1)
	r.paddr.Set(a.Addr)
	r.pwrite.Set(bus.Bit(a.Write))
	r.pwdata.Set(a.Data)
	bus.Set(r.pstrb, mask)
}

// Completer answers a design that is a requester. It answers an access that the target refuses with PSLVERR. Throttled, it makes it wait.
type Completer struct {
	*Monitor
	bus.Stall
	target bus.Target
}

// NewCompleter answers the bus of the ports with a prefix from a memory or registers.
func NewCompleter(b *testbench.Bench, prefix string, c Config, t bus.Target) (*Completer, error) {
	m, err := newMonitor(b, prefix, c, false)
	if err != nil {
		return nil, err
	}
	s := &Completer{Monitor: m, Stall: m.Stalls(), target: t}
	bus.Set(m.pready, 0)
	m.Run(m.see, s.drive)
	return s, nil
}

// drive looks at what the design has driven with the edge, so that an access without waits is answered in its first ACCESS cycle.
func (s *Completer) drive() {
	bus.Set(s.pready, 0)
	bus.Set(s.pslverr, 0)
	if s.InReset() || !s.psel.Is() || !s.penable.Is() || s.pready != nil && s.Stall.Now() {
		return
	}
	bus.Set(s.pready, 1)
	a := bus.Access{Write: s.pwrite.Is(), Data: s.pwdata.Get(), Mask: bus.Get(s.pstrb, s.all())}
	if a.Write && a.Mask == 0 {
		return
	}
	switch err := a.Perform(s.target, s.paddr.Get(), s.bytes()); {
	case err == nil && !a.Write:
		s.prdata.Set(a.Data)
	case err != nil && s.pslverr == nil:
		s.Bench.Errorf("%s: %v, and the bus has no PSLVERR to say so", s, err)
	case err != nil:
		s.pslverr.Set(1)
	}
}
