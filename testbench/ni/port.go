package ni

import (
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/verilator"
)

// Port is a link endpoint in Go on a port of a network interface with the direct PHY. It stands for whatever is at the other end of
// that cable: a host on port 0, a foreign network interface on another.
type Port struct {
	Link *flowctl.Endpoint

	source  *verilator.Source
	sink    *verilator.Sink
	line    []linkproto.Symbol
	beats   []verilator.Beat
	Mangle  func([]linkproto.Symbol) []linkproto.Symbol // what the cable does to symbols towards the network interface; nil: nothing
	Swallow func([]linkproto.Symbol) []linkproto.Symbol // the same for those that come from it
}

// NewPort attaches an endpoint to the symbol ports rx (the model's input) and tx of a model whose clock is declared.
func NewPort(m *verilator.Model, rx, tx string, c flowctl.Config) (*Port, error) {
	link, err := flowctl.New(c)
	if err != nil {
		return nil, err
	}
	p := &Port{Link: link}
	idle := uint64(linkproto.SymIdle)
	if p.source, err = m.Source(verilator.Channel{Data: rx, Idle: &idle, Depth: 2048}); err != nil {
		return nil, err
	}
	if p.sink, err = m.Sink(verilator.Channel{Data: tx, Idle: &idle, Depth: 2048}); err != nil {
		return nil, err
	}
	return p, nil
}

// Lines returns the names of the symbol ports of port number index of module ni_direct.
func Lines(index int) (rx, tx string) {
	bits := fmt.Sprintf("[%d:%d]", 9*index+8, 9*index)
	return "line_rx" + bits, "line_tx" + bits
}

// Restart replaces the endpoint by a new one, as when the process or the board behind the cable starts again.
func (p *Port) Restart(c flowctl.Config) error {
	link, err := flowctl.New(c)
	if err == nil {
		p.Link = link
	}
	return err
}

// before puts what the endpoint sends during the next n clocks on the line.
func (p *Port) before(n int) {
	if cap(p.line) < n {
		p.line = make([]linkproto.Symbol, n)
	}
	line := p.line[:n]
	line = line[:p.Link.Emit(line)]
	if p.Mangle != nil {
		line = p.Mangle(line)
	}
	for _, s := range line {
		p.source.Put(uint64(s), false)
	}
}

// after hands the endpoint what has come in during the last n clocks.
func (p *Port) after(n int) {
	waiting := p.sink.Len()
	if cap(p.beats) < waiting {
		p.beats = make([]verilator.Beat, 2*waiting)
	}
	beats := p.beats[:p.sink.Read(p.beats[:waiting])]
	if cap(p.line) < len(beats) {
		p.line = make([]linkproto.Symbol, len(beats))
	}
	line := p.line[:len(beats)]
	for i, b := range beats {
		line[i] = linkproto.Symbol(b.Data)
	}
	if p.Swallow != nil {
		line = p.Swallow(line)
	}
	p.Link.Feed(line)
	p.Link.Tick(n)
}
