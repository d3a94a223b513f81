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

// NewPort attaches an endpoint to port number `index` of a model of ni_direct whose clock is declared.
func NewPort(m *verilator.Model, index int, c flowctl.Config) (*Port, error) {
	link, err := flowctl.New(c)
	if err != nil {
		return nil, err
	}
	p := &Port{Link: link}
	idle := uint64(linkproto.SymIdle)
	if p.source, err = m.Source(lane("line_rx", index, &idle)); err != nil {
		return nil, err
	}
	if p.sink, err = m.Sink(lane("line_tx", index, &idle)); err != nil {
		return nil, err
	}
	return p, nil
}

func lane(port string, index int, idle *uint64) verilator.Channel {
	return verilator.Channel{Data: fmt.Sprintf("%s[%d:%d]", port, 9*index+8, 9*index), Idle: idle}
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
