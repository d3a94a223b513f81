package rtlsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// Rack is room for NIs that come and go, each with parameters of its own, whose links are wired to each other. They run together, quantum clocks at a
// time; a symbol on a wire arrives up to two of those later, which a link has the headroom for. Time stands still while nobody waits for it.
type Rack struct {
	world *lockstep.World
	rows  *rows
}

// rows are the NIs of a rack.
type rows struct {
	slots []*simulation // nil where there is none
	wires []*rackWire
}

// rackWire is one direction of a wire. from and to count slots from 0, links from 1.
type rackWire struct {
	from, fromLink int
	to, toLink     int
	sink           *verilator.Sink   // nil while there is no NI, or no such link of it
	source         *verilator.Source // likewise
	beats          [4 * quantum]verilator.Beat
}

// NewRack makes one with room for some NIs. Links that no wire names are cabled to each other as those of a target "rtl:" are. Close it.
func NewRack(slots int, wires []ni.Cable) (*Rack, error) {
	r := &rows{slots: make([]*simulation, slots)}
	type end struct{ slot, link int }
	taken := map[end]bool{}
	for _, w := range wires {
		a, b := end{w.A, w.LinkA}, end{w.B, w.LinkB}
		for _, e := range []end{a, b} {
			switch {
			case e.slot < 0 || e.slot >= slots || e.link < 1 || e.link > linkproto.MaxVia:
				return nil, fmt.Errorf("rtlsim: no place %d with a link %d to wire", e.slot+1, e.link)
			case taken[e]:
				return nil, fmt.Errorf("rtlsim: link %d of place %d is wired twice", e.link, e.slot+1)
			}
			taken[e] = true
		}
		r.wires = append(r.wires, &rackWire{from: a.slot, fromLink: a.link, to: b.slot, toLink: b.link},
			&rackWire{from: b.slot, fromLink: b.link, to: a.slot, toLink: a.link})
	}
	return &Rack{lockstep.New(r, slots, quantum, quantum, Rate), r}, nil
}

// Close ends all that is in there.
func (r *Rack) Close() error { return r.world.Close() }

// Dial puts the NI of a target "rtl:" into a place, and takes it out when the transport is closed. Its time is that of the rack.
func (r *Rack) Dial(ctx context.Context, slot int, target string) (t hostdrv.Transport, err error) {
	err = try.Run(func() {
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "rtl" {
			try.Failf("%w: %s: wired boards have RTL in their FPGA, rtl: with options", hostdrv.ErrTarget, target)
		}
		c := parse(u)
		if c.Record > 0 {
			try.Failf("%w: %s: wired boards are not recorded", hostdrv.ErrTarget, target)
		}
		t = r.place(ctx, slot, c)
	})
	return t, err
}

// Place is Dial for an NI with any parameters, a router's too.
func (r *Rack) Place(ctx context.Context, slot int, p rtl.Params) (t hostdrv.Transport, err error) {
	err = try.Run(func() {
		t = r.place(ctx, slot, Config{Params: p.WithDefaults(), NIs: 1, Threads: 1, Seed: uint64(slot + 1)})
	})
	return t, err
}

func (r *Rack) place(ctx context.Context, slot int, c Config) *place {
	c.Cables = r.loops(slot, c)
	lib := try.Get(verilator.Build(ctx, ni.Design(c.Params)))
	n := newNetwork(c)
	host := try.Get(r.world.Host(slot))
	err := r.world.Between(func() error {
		err := try.Run(func() {
			n.build(lib, c)
			r.rows.plug(slot, n.sim)
		})
		if err != nil {
			err = errors.Join(err, r.rows.pull(slot, n.sim))
		}
		return err
	})
	if err != nil {
		try.OK(err, host.Close())
	}
	return &place{Host: host, rack: r, slot: slot, sim: n.sim}
}

// Loose are the wired links of a place that the NI there does not have. Nothing comes of their wires.
func (r *Rack) Loose(slot int) (links []int, err error) {
	err = r.world.Between(func() error {
		s := r.rows.slots[slot]
		for _, w := range r.rows.wires {
			if w.from == slot && s != nil && w.fromLink > s.links() {
				links = append(links, w.fromLink)
			}
		}
		return nil
	})
	slices.Sort(links)
	return links, err
}

// loops are the cables of links that are not wired.
func (r *Rack) loops(slot int, c Config) (cables []ni.Cable) {
	wired := map[int]bool{}
	for _, w := range r.rows.wires {
		if w.from == slot {
			wired[w.fromLink] = true
		}
	}
	for _, c := range c.Cables {
		ends := []int{c.LinkA, c.LinkB}
		if wired[c.LinkA] {
			ends[0] = c.LinkB
		} else if wired[c.LinkB] {
			ends[1] = c.LinkA
		}
		if !wired[ends[0]] {
			c.LinkA, c.LinkB = ends[0], ends[1]
			cables = append(cables, c)
		}
	}
	return cables
}

// plug joins the wires to a new NI.
func (r *rows) plug(slot int, s *simulation) {
	idle := uint64(linkproto.SymIdle)
	m := s.nodes[0].model
	for _, w := range r.wires {
		if w.from == slot && w.fromLink <= s.links() {
			_, tx := s.params.Lines(w.fromLink)
			w.sink = try.Get(m.Sink(verilator.Channel{Data: tx, Idle: &idle}))
		}
		if w.to == slot && w.toLink <= s.links() {
			rx, _ := s.params.Lines(w.toLink)
			w.source = try.Get(m.Source(verilator.Channel{Data: rx, Idle: &idle}))
		}
	}
	r.slots[slot] = s
}

// links is how many an NI has cables for, those of its router if there is one.
func (s *simulation) links() int { return max(s.params.Links, s.params.Router) }

// pull takes an NI out.
func (r *rows) pull(slot int, s *simulation) error {
	for _, w := range r.wires {
		if w.from == slot {
			w.sink = nil
		}
		if w.to == slot {
			w.source = nil
		}
	}
	r.slots[slot] = nil
	return s.Close()
}

// Turn runs all NIs for n clocks, and for as long as a UART has bytes to send.
func (r *rows) Turn(n int, lines []lockstep.Line) (passed int, err error) {
	for i, s := range r.slots {
		if s != nil {
			s.nodes[0].host.put(lines[i].Out)
			n = max(n, s.nodes[0].host.pending())
		}
	}
	for ; passed < n; passed += quantum {
		for _, s := range r.slots {
			if s != nil {
				if err := s.run(quantum); err != nil {
					return passed, err
				}
			}
		}
		for _, w := range r.wires {
			w.cross(r.slots[w.to])
		}
	}
	for i, s := range r.slots {
		lines[i].In = lines[i].In[:0]
		if s != nil {
			at := s.nodes[0]
			lines[i].In, at.in = at.in, lines[i].In
		}
	}
	return passed, nil
}

// cross brings what has been sent to where it goes, or drops it if nobody is there.
func (w *rackWire) cross(to *simulation) {
	if w.sink == nil {
		return
	}
	for _, b := range w.beats[:w.sink.Read(w.beats[:])] {
		if w.source != nil {
			w.source.Put(b.Data, false)
			to.nodes[0].heard = true
		}
	}
}

// Close gives all models free.
func (r *rows) Close() error {
	var errs []error
	for slot, s := range r.slots {
		if s != nil {
			errs = append(errs, r.pull(slot, s))
		}
	}
	return errors.Join(errs...)
}

// place is the transport to an NI in a rack. It counts the ticks of that NI's host port, where the rack counts clocks.
type place struct {
	*lockstep.Host
	rack *Rack
	slot int
	sim  *simulation
	rest int // clocks that are less than a tick
}

// Timing is that of the NI.
func (p *place) Timing() hostdrv.Timing {
	t := p.Host.Timing()
	t.TicksPerSecond /= float64(p.sim.tick)
	return t
}

// Exchange is as hostdrv.Transport has it.
func (p *place) Exchange(x *hostdrv.Exchange) error {
	inner := hostdrv.Exchange{Out: x.Out, Wait: x.Wait * p.sim.tick, Idle: x.Idle}
	err := p.Host.Exchange(&inner)
	clocks := inner.Ticks + p.rest
	x.Taken, x.In, x.Ticks, p.rest = inner.Taken, inner.In, clocks/p.sim.tick, clocks%p.sim.tick
	return err
}

// Reset is for hostdrv.Resetter.
func (p *place) Reset() error {
	return p.rack.world.Between(func() error { return p.sim.reset(p.sim.nodes...) })
}

// Watch is for hostdrv.Observable.
func (p *place) Watch() error { return p.rack.world.Between(p.sim.startWatch) }

// Probe is for hostdrv.Observable.
func (p *place) Probe() hostdrv.StatusProbe { return p.sim.nodes[0].watch.now() }

// Close takes the NI out.
func (p *place) Close() error {
	err := p.Host.Close()
	return errors.Join(err, p.rack.out(p.slot, p.sim))
}

// out takes an NI out, unless it is out already.
func (r *Rack) out(slot int, s *simulation) error {
	err := r.world.Between(func() error {
		if r.rows.slots[slot] != s {
			return nil
		}
		return r.rows.pull(slot, s)
	})
	if errors.Is(err, net.ErrClosed) {
		return nil // it went with the rack
	}
	return err
}
