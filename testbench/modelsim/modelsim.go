// Package modelsim is the transport to network interfaces (NIs) that are models in Go: nothing else is needed, and they are fast.
//
// Importing it makes targets such as "model:" and "model:?links=2&frames=8" known to hostdrv.Open: one NI whose links are cabled to each
// other, 1 to 2, 3 to 4 and so on, an odd last one to itself. Options are links, frames, page (bytes), replay (bytes), rx (bytes) and
// routes (1: it takes ROUTEs). New
// makes any other network, with a transport for each of its NIs.
package modelsim

import (
	"context"
	"fmt"
	"net/url"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

func init() { hostdrv.Register("model", open) }

// Rate is the nominal rate of symbols a second, which time in seconds follows from.
const Rate = 125e6

// A driver looks at its cable every shortTurn ticks, and every longTurn while it has much to send. A link has its symbols underway for
// latency ticks. A receiver must have room for what comes after it has said STOP.
const (
	shortTurn = 64
	longTurn  = 1024
	latency   = 32
	headroom  = longTurn + 64
)

// Config describes a network.
type Config struct {
	NI     model.Config         // of each; Headroom and Epoch are chosen here
	Each   map[int]model.Config // of those that differ, by number from 0
	NIs    int                  // 0: 1
	Cables []Cable
	// Wrap, unless nil, returns what runs the network, in place of the simulation that it is given: one that measures it.
	Wrap func(lockstep.Simulation) lockstep.Simulation
}

// Cable joins link LinkA of NI A with link LinkB of NI B, which may be the same one.
type Cable struct{ A, LinkA, B, LinkB int }

// Network is a simulation of models joined by cables.
type Network struct {
	*lockstep.World
	sim *simulation
}

type simulation struct {
	nis   []*model.NI
	lines [][]linkproto.Symbol // to the host of each NI
	wires []*wire
}

// wire is one direction of a cable.
type wire struct {
	from, to model.Port
	carried  []linkproto.Symbol // and not arrived yet
}

// New builds a network. Close it, unless it has one driver only and that is to close it (see lockstep.World.Sole).
func New(c Config) (n *Network, err error) {
	err = try.Run(func() {
		s := &simulation{}
		for i := range max(c.NIs, 1) {
			own, ok := c.Each[i]
			if !ok {
				own = c.NI
			}
			own.Headroom, own.Epoch = headroom, uint8(1+100*i%255)
			s.nis = append(s.nis, try.Get(model.New(own)))
			s.lines = append(s.lines, make([]linkproto.Symbol, longTurn))
		}
		for _, cable := range c.Cables {
			a, b := s.port(cable.A, cable.LinkA), s.port(cable.B, cable.LinkB)
			s.wires = append(s.wires, newWire(a, b))
			if a != b {
				s.wires = append(s.wires, newWire(b, a))
			}
		}
		var run lockstep.Simulation = s
		if c.Wrap != nil {
			run = c.Wrap(s)
		}
		n = &Network{lockstep.New(run, len(s.nis), shortTurn, longTurn, Rate), s}
	})
	return n, err
}

func newWire(from, to model.Port) *wire {
	return &wire{from, to, make([]linkproto.Symbol, 0, latency)}
}

func (s *simulation) port(ni, link int) model.Port {
	if ni < 0 || ni >= len(s.nis) || link < 1 || link > max(s.nis[ni].Config().Links, s.nis[ni].Config().Router) {
		try.Failf("modelsim: no link %d of NI %d to plug a cable into", link, ni)
	}
	return s.nis[ni].Port(link)
}

// Reset resets an NI, as when its board is powered off and on. The others and all drivers go on.
func (n *Network) Reset(ni int) error {
	return n.Between(func() error {
		n.sim.nis[ni].Reset()
		return nil
	})
}

// Turn runs everything for n ticks.
func (s *simulation) Turn(n int, lines []lockstep.Line) (int, error) {
	for i := range lines {
		lines[i].In = s.lines[i][:0]
	}
	for passed := 0; passed < n; passed += latency {
		s.step(min(n-passed, latency), passed, lines)
	}
	return n, nil
}

// step carries n symbols over every cable, on links to arrive in the next step.
func (s *simulation) step(n, passed int, lines []lockstep.Line) {
	for _, w := range s.wires {
		w.to.Feed(w.carried)
		w.carried = w.carried[:0]
	}
	for i, ni := range s.nis {
		host, line := ni.Port(0), &lines[i]
		host.Feed(line.Out[min(passed, len(line.Out)):min(passed+n, len(line.Out))])
		in := line.In[len(line.In) : len(line.In)+n]
		line.In = line.In[:len(line.In)+host.Emit(in)]
		host.Tick(n)
	}
	for _, w := range s.wires {
		w.carried = w.carried[:w.from.Emit(w.carried[:n])]
		w.from.Tick(n)
	}
}

// Close has nothing to give free.
func (s *simulation) Close() error { return nil }

// Loop is a Config of one NI whose links are cabled in pairs, an odd last one to itself.
func Loop(c model.Config) Config {
	links := max(c.Links, 1)
	loop := Config{NI: c, NIs: 1}
	for link := 1; link <= links; link += 2 {
		loop.Cables = append(loop.Cables, Cable{LinkA: link, LinkB: min(link+1, links)})
	}
	return loop
}

// open opens targets "model:".
func open(_ context.Context, target *url.URL) (hostdrv.Transport, error) {
	if target.Opaque != "" || target.Path != "" || target.Host != "" {
		return nil, fmt.Errorf("%w: nothing but options may follow model:, as in model:?links=2&frames=8", hostdrv.ErrTarget)
	}
	var c model.Config
	routes := 0
	if err := hostdrv.Ints(target, map[string]*int{
		"links": &c.Links, "frames": &c.Frames, "page": &c.PageBytes, "replay": &c.ReplayBytes, "rx": &c.RxBytes, "routes": &routes,
	}); err != nil {
		return nil, err
	}
	if c.Routes = routes == 1; routes < 0 || routes > 1 {
		return nil, fmt.Errorf("%w: routes=%d, want 1 to take ROUTEs or 0", hostdrv.ErrTarget, routes)
	}
	n, err := New(Loop(c))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", hostdrv.ErrTarget, err)
	}
	h, err := n.Sole()
	return sole{h, n}, err
}

// sole is the transport to the only NI of a network.
type sole struct {
	*lockstep.Host
	network *Network
}

// Reset is for hostdrv.Resetter.
func (s sole) Reset() error { return s.network.Reset(0) }
