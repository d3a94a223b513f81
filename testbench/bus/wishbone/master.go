package wishbone

import (
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
)

// Master drives a design that is a slave.
type Master struct {
	*Monitor
	bus.Stall
	queue []request      // to be asked for
	sent  []*bus.Pending // asked for and not answered
	asks  bool           // the last of sent stands on the wires
	open  int
}

// NewMaster drives the bus of the ports with a prefix.
func NewMaster(b *testbench.Bench, prefix string, c Config) (*Master, error) {
	monitor, err := newMonitor(b, prefix, c, true)
	if err != nil {
		return nil, err
	}
	m := &Master{Monitor: monitor, Stall: monitor.Stalls(), open: 1}
	if c.Pipelined {
		m.open = 16
	}
	m.ended = m.answer
	m.cyc.Set(0)
	bus.Set(m.stb, 0)
	m.Run(m.see, m.drive)
	return m, nil
}

// Start queues an access to the word at a byte address. Those that are queued together share a cycle (CYC).
// The bench fails if the bus cannot carry it.
func (m *Master) Start(a bus.Access) *bus.Pending {
	p := &bus.Pending{Access: a}
	if err := m.carries(a); err != nil {
		p.Refuse(m.Bench, err)
		return p
	}
	m.queue = append(m.queue, request{p, classic, 0})
	return p
}

func (m *Master) carries(a bus.Access) error {
	return m.Carries(a, a.Addr/m.config.unit(m.bytes()), m.adr, m.datM, m.sel, m.bytes())
}

// Read reads the word at a byte address. The error is ErrBus, ErrRetry or bus.ErrReset.
func (m *Master) Read(c *testbench.Task, address uint64) (uint64, error) {
	return m.Start(bus.Access{Addr: address}).Wait(c)
}

// Write writes the word at a byte address. The error is ErrBus, ErrRetry or bus.ErrReset.
func (m *Master) Write(c *testbench.Task, address, data uint64) error {
	_, err := m.Start(bus.Access{Write: true, Addr: address, Data: data}).Wait(c)
	return err
}

// answer takes what the monitor has seen end.
func (m *Master) answer(a bus.Access) {
	if len(m.sent) > 0 {
		m.sent[0].Finish(a.Data, a.Err, a.Edge)
		m.sent = m.sent[1:]
	}
}

func (m *Master) drive() {
	if m.InReset() {
		for _, p := range m.sent {
			p.Finish(0, bus.ErrReset, m.Clock.Cycles())
		}
		m.sent, m.asks = nil, false
		m.cyc.Set(0)
		bus.Set(m.stb, 0)
		return
	}
	m.asks = m.asks && !m.taken
	if !m.asks && len(m.queue) > 0 && len(m.sent) < m.open && !m.Stall.Now() {
		m.ask(m.queue[0])
		m.sent, m.queue = append(m.sent, m.queue[0].Pending), m.queue[1:]
		m.asks = true
	}
	bus.Set(m.stb, bus.Bit(m.asks))
	switch {
	case m.stb == nil:
		m.cyc.Set(bus.Bit(m.asks))
	case len(m.sent) > 0:
		m.cyc.Set(1)
	case len(m.queue) == 0:
		m.cyc.Set(0)
	}
}

// ask puts a request on the wires.
func (m *Master) ask(p request) {
	mask := p.Mask
	if mask == 0 {
		mask = 1<<m.bytes() - 1
	}
	bus.Set(m.we, bus.Bit(p.Write))
	bus.Set(m.adr, p.Addr/m.config.unit(m.bytes()))
	bus.Set(m.sel, mask)
	bus.Set(m.cti, p.cti)
	bus.Set(m.bte, p.bte)
	if p.Write {
		bus.Set(m.datM, p.Data)
	}
}
