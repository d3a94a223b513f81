package ni

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

// Packets is what a host sends and receives by: an endpoint of one lane, or of several.
type Packets interface {
	Config() flowctl.Config
	Send(packet []byte) error
	Receive() (packet []byte, ok bool)
}

// Packets is the port's endpoint.
func (p *Port) Packets() Packets {
	if p.Trunk != nil {
		return p.Trunk
	}
	return p.Link
}

// openTrunk attaches an endpoint to the lanes of a port.
func openTrunk(p rtl.Params, m *verilator.Model, index int, c flowctl.Config) (*Port, error) {
	if index == 0 && p.HostPHY != rtl.Direct || index > 0 && p.LinkPHY != rtl.Direct {
		return nil, fmt.Errorf("ni: port %d has %d lanes that are not direct: an endpoint in Go cannot be at their end", index, c.Lanes)
	}
	port := &Port{SymbolClocks: 1}
	idle := uint64(linkproto.SymIdle)
	for lane := range c.Lanes {
		rx, tx := p.Lane(index, lane)
		w := &directWire{}
		var err, err2 error
		w.source, err = m.Source(verilator.Channel{Data: rx, Idle: &idle, Depth: 2048})
		w.sink, err2 = m.Sink(verilator.Channel{Data: tx, Idle: &idle, Depth: 2048})
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		port.lanes = append(port.lanes, w)
	}
	return port, port.Restart(c)
}

// beforeLanes puts what the endpoint sends during the next n clocks on the lanes.
func (p *Port) beforeLanes(n int) {
	if cap(p.line) < n {
		p.line = make([]linkproto.Symbol, n)
	}
	for lane, w := range p.lanes {
		line := p.line[:n]
		w.put(line[:p.Trunk.Emit(lane, line)], n)
	}
}

// afterLanes hands the endpoint what has come in during the last n clocks.
func (p *Port) afterLanes(n int) {
	for lane, w := range p.lanes {
		p.line = w.get(p.line[:0])
		p.Trunk.Feed(lane, p.line)
	}
	p.Trunk.Tick(n)
}

// discard forgets what has come.
func (p *Port) discard() {
	for _, w := range p.lanes {
		w.discard()
	}
	if p.wire != nil {
		p.wire.discard()
	}
}
