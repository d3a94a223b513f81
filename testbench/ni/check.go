package ni

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/linkcheck"
)

// checked has what the network interface, which has parameters p, says by a port checked, if that is one lane of the direct PHY and nothing damages it there.
func (p *Port) checked(params rtl.Params, port int) {
	if _, direct := p.wires[0].(*directWire); !direct || len(p.wires) > 1 || params.Inject {
		return
	}
	page, _ := linkproto.PageOf(linkproto.MaxPacket(params.PageBytes))
	p.checker = linkcheck.New(linkcheck.Config{
		Host: port == 0, MaxPacket: params.MaxPacket(), Barriers: port > 0 && params.Barriers, Headroom: params.Headroom,
		Init:     linkproto.Init{Version: linkproto.Version, Page: page, Routes: params.TakesRoutes(), Lanes: 1},
		AckDelay: params.AckDelay, WordTimer: params.WordTimer, Retry: params.Retry, RetryLimit: params.RetryLimit,
	})
}

// check returns what was wrong at first with what the port's node has said by it: with its lines, and, if the port has a checker, with the link.
func (p *Port) check(n *Node) error {
	for _, w := range p.wires {
		if err := w.check(); err != nil {
			return err
		}
	}
	if p.checker == nil {
		return nil
	}
	if *n.Rst {
		p.checker.Reset()
	}
	return p.checker.Advance(n.clock.Cycles())
}

// Stops is how often the network interface has said STOP by the port since it was in reset; ok is false if nobody checks that.
func (p *Port) Stops() (n int, ok bool) {
	if p.checker == nil {
		return 0, false
	}
	return p.checker.Stops(), true
}
