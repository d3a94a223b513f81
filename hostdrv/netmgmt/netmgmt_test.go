package netmgmt_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/netmgmt"
	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// world is a network whose switches are as little as they must be.
type world struct {
	t        *testing.T
	top      *topology.Topology
	tables   *routing.Tables
	peers    [][]int
	rng      *rand.Rand
	switches map[int]*fakeSwitch
	loss     float64 // share of packets that are lost on a cable
	delay    int     // most clocks that an answer takes
	clock    uint64
	last     uint64 // when the last answer comes
	answers  []answer
	cut      map[[2]int]bool
}

// fakeSwitch is a switch.
type fakeSwitch struct {
	number uint16
	table  map[uint16]uint32
}

// answer is one on its way.
type answer struct {
	at      uint64
	manager int
	route   linkproto.Route
}

func newWorld(t *testing.T, shape string, size []int, seed uint64) *world {
	t.Helper()
	top := check.Must(topology.Generate(shape, size, 1))(t)
	w := &world{t: t, top: top, tables: check.Must(routing.Build(top, ""))(t), peers: top.Peers(), switches: map[int]*fakeSwitch{}, cut: map[[2]int]bool{},
		rng: rand.New(rand.NewPCG(seed, 0))}
	for i, node := range top.Nodes {
		if node.Kind == topology.Switch {
			w.switches[i] = &fakeSwitch{table: map[uint16]uint32{}}
		}
	}
	return w
}

// lost reports whether a packet is lost between two nodes.
func (w *world) lost(a, b int) bool {
	return w.cut[[2]int{a, b}] || w.cut[[2]int{b, a}] || w.rng.Float64() < w.loss
}

// carry brings a packet from a node to the one that takes it, and says by whom it was taken last before that; -1 if it is lost. It passed hops-1 routers.
func (w *world) carry(at, before int, dest uint16, back int) (to, from, hops int) {
	for ; ; hops++ {
		next := -1
		s := w.switches[at]
		switch {
		case hops > linkproto.MaxHops:
			w.t.Fatalf("a packet for node %d is at %s, and goes round", dest, w.top.Nodes[at].Name)
		case s == nil && w.top.Nodes[at].ID == dest && hops > 0, s != nil && hops > 0 && (s.number == 0 || s.number == dest):
			return at, before, hops
		case s == nil: // NIs know their way
			for d, node := range w.top.Nodes {
				if node.ID == dest {
					port, _ := w.tables.Route(at, d)
					next = w.peers[at][port]
				}
			}
		case s.table[dest] != 0:
			next = w.peers[at][linkproto.RoutePort.Of(s.table[dest])]
		case hops == 0:
			next = back
		}
		if next < 0 || w.lost(at, next) {
			return -1, -1, hops
		}
		at, before = next, at
	}
}

// deliver brings a request to its switch, and its answer on the way.
func (w *world) deliver(manager int, r linkproto.Route) {
	at, before, hops := w.carry(manager, -1, r.Dest, -1)
	s := w.switches[at]
	if s == nil {
		return
	}
	var p linkproto.Packet
	check.Fatal(w.t, p.Decode(r.Packet))
	a := linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag}
	switch {
	case p.Type == linkproto.TypeRegRead && p.Reg == linkproto.RegNodeID:
		a.Type, a.Reg, a.Value = linkproto.TypeRegData, p.Reg, uint32(s.number)
	case p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.RegNodeID && (s.number != 0 || int(r.Hops) == hops):
		if id := w.top.Nodes[at].ID; r.Dest != id || p.Value != uint32(id) {
			w.t.Fatalf("%s, node %d, is told by a packet for %d that it is %d", w.top.Nodes[at].Name, id, r.Dest, p.Value)
		}
		s.number = uint16(p.Value)
	case p.Type == linkproto.TypeRegWrite && s.number != 0:
		s.table[uint16(p.Reg-linkproto.RegRouteTable)] = p.Value
	default:
		a.Status = linkproto.StatusBadAddress
	}
	back := linkproto.Route{Dest: r.Src, Src: s.number, Packet: check.Must(a.Append(nil))(w.t)}
	if to, _, _ := w.carry(at, -1, r.Src, before); to == manager {
		w.last = max(w.last, w.clock+1+uint64(w.rng.IntN(w.delay)))
		w.answers = append(w.answers, answer{w.last, manager, back})
	} else if to >= 0 && (w.switches[to] == nil || w.switches[to].number != 0) { // one without a number takes it
		w.t.Fatalf("an answer for %s comes to %s", w.top.Nodes[manager].Name, w.top.Nodes[to].Name)
	}
}

// run runs a set-up to its end, and calls step before each clock.
func (w *world) run(s *netmgmt.Setup, step func()) error {
	for {
		step()
		w.clock++
		for len(w.answers) > 0 && w.answers[0].at <= w.clock {
			a := w.answers[0]
			w.answers = w.answers[1:]
			s.Take(a.manager, a.route, w.clock)
		}
		for _, m := range s.Managers() {
			if r, ok := s.Next(m, w.clock); ok {
				w.deliver(m, r)
			}
		}
		if done, err := s.Done(); done || err != nil {
			return err
		}
	}
}

// complete reports what the tables lack by which packets go from every NI to every NI, and between each switch and its manager, or in an open plan each NI.
func (w *world) complete(plan *netmgmt.Plan, open bool) {
	w.t.Helper()
	w.loss = 0
	for from, a := range w.top.Nodes {
		for to, b := range w.top.Nodes {
			if way, _ := w.tables.Route(from, to); way != 0 && (a.Kind == topology.NI && b.Kind == topology.NI || open && (a.Kind == topology.NI || b.Kind == topology.NI)) {
				if at, _, _ := w.carry(from, -1, b.ID, -1); at != to {
					w.t.Fatalf("a packet from %s to %s does not come", a.Name, b.Name)
				}
			}
		}
	}
	for _, step := range plan.Steps {
		node := w.top.Nodes[step.Switch]
		if at, _, _ := w.carry(step.Manager, -1, node.ID, -1); at != step.Switch {
			w.t.Fatalf("a request for %s does not come", node.Name)
		}
		if at, _, _ := w.carry(step.Switch, -1, w.top.Nodes[step.Manager].ID, -1); at != step.Manager {
			w.t.Fatalf("an answer of %s does not come", node.Name)
		}
		for dest, b := range w.top.Nodes {
			port, alternate := w.tables.Route(step.Switch, dest)
			want := linkproto.RoutePort.In(uint32(port)) | linkproto.RouteAlternate.In(uint32(alternate))
			if have := w.switches[step.Switch].table[b.ID]; have != 0 && have != want && have != want&0xFF {
				w.t.Fatalf("%s has %#x for %s, want %#x", node.Name, have, b.Name, want)
			}
		}
	}
}

// TestSetup: every network is set up, whatever is lost, and whichever switch starts again meanwhile; no packet goes to a switch that it is not for.
func TestSetup(t *testing.T) {
	for _, test := range []struct {
		shape string
		size  []int
	}{{"star", []int{16}}, {"tree", []int{4, 3}}, {"fat-tree", []int{2, 3}}, {"fat-tree", []int{3, 3}}, {"hyper-crossbar", []int{4, 3, 2}}} {
		t.Run(fmt.Sprint(test.shape, test.size), func(t *testing.T) {
			repeats, resets := 0, 0
			for seed := range uint64(20) {
				w := newWorld(t, test.shape, test.size, seed)
				w.delay = 100
				newPlan, open := netmgmt.NewPlan, seed%2 != 0
				if open {
					newPlan = netmgmt.NewOpenPlan
				}
				plan := check.Must(newPlan(w.tables, 0))(t)
				s := plan.Start(netmgmt.Config{Timeout: 500, Patience: 1_000_000})
				hostile, before := seed > 0, resets
				check.Fatal(t, w.run(s, func() {
					if hostile {
						w.loss = 0.01
					}
					if hostile && resets < before+3 && w.rng.Float64() < 0.001 {
						step := plan.Steps[w.rng.IntN(len(plan.Steps))]
						*w.switches[step.Switch] = fakeSwitch{table: map[uint16]uint32{}}
						resets++
					}
				}))
				if resets == before { // one that starts again behind its set-up is not noticed
					w.complete(plan, open)
				}
				if repeats += s.Repeats; !hostile && len(s.Managers()) == 1 {
					check.Equal(t, "requests of the only manager", plan.Most(), s.Requests)
				}
				if !hostile {
					t.Logf("%d requests in %d clocks, by %d NIs", s.Requests, w.clock, len(s.Managers()))
					check.Equal(t, "requests that were sent again", repeats, 0)
				}
			}
			if repeats < 20 || resets == 0 {
				t.Errorf("only %d requests were sent again, with %d switches that started again", repeats, resets)
			}
		})
	}
}

// TestOthers: managers are chosen as asked, if they can; what cannot be is said.
func TestOthers(t *testing.T) {
	w := newWorld(t, "tree", []int{2, 2}, 1)
	w.delay = 10
	last := len(w.top.Nodes) - 1
	for w.top.Nodes[last].Kind != topology.NI {
		last--
	}
	plan := check.Must(netmgmt.NewPlan(w.tables, last))(t)
	for _, step := range plan.Steps {
		check.Equal(t, "manager", step.Manager, last)
	}
	s := plan.Start(netmgmt.Config{Timeout: 100, Patience: 5000})
	first := plan.Steps[0]
	w.cut[[2]int{first.Switch, last}] = true
	err := w.run(s, func() {})
	check.Fails(t, "a cut cable", err, netmgmt.ErrSilent)
	check.Contains(t, "error", err.Error(), w.top.Nodes[first.Switch].Name, w.top.Nodes[last].Name, "cables")
	if _, ok := s.Next(last, w.clock); ok {
		t.Error("a set-up that has failed goes on")
	}

	w.cut = map[[2]int]bool{}
	w.switches[first.Switch].number = 77
	err = w.run(plan.Start(netmgmt.Config{Timeout: 100, Patience: 5000}), func() {})
	check.Fails(t, "a switch with another's number", err, netmgmt.ErrSilent)
	check.Contains(t, "error", err.Error(), "reset it if it had another number")

	w.switches[first.Switch].number = 0
	err = w.run(plan.Start(netmgmt.Config{Timeout: 100, Patience: 5000, Routers: map[int]bool{last: true}}), func() {})
	check.Fails(t, "switches that are not as far away as is meant", err, netmgmt.ErrSilent)

	w.switches[first.Switch].number = w.top.Nodes[first.Switch].ID // set up before
	s = plan.Start(netmgmt.Config{Timeout: 100, Patience: 5000})
	check.Fatal(t, w.run(s, func() {}))
	w.complete(plan, false)
	if s.Take(last, linkproto.Route{Src: 1, Packet: []byte{0, 0, 0}}, w.clock) || s.Take(0, linkproto.Route{}, w.clock) {
		t.Error("a packet that is no answer is taken for one")
	}

	top := check.Must(topology.Generate("ring", []int{4}, 1))(t)
	plan = check.Must(netmgmt.NewPlan(check.Must(routing.Build(top, ""))(t)))(t)
	done, err := plan.Start(netmgmt.Config{}).Done()
	check.Equal(t, "steps of a network without switches", len(plan.Steps), 0)
	if !done || err != nil {
		t.Errorf("nothing to set up is not done: %v", err)
	}
}

// TestRefused: a switch that does not do as it is told ends the set-up.
func TestRefused(t *testing.T) {
	w := newWorld(t, "star", []int{2}, 1)
	plan := check.Must(netmgmt.NewPlan(w.tables))(t)
	step, manager := plan.Steps[0], plan.Steps[0].Manager
	id := w.top.Nodes[step.Switch].ID
	for refused := range 3 {
		s := plan.Start(netmgmt.Config{Timeout: 100})
		for i := range refused + 1 {
			r, ok := s.Next(manager, uint64(i))
			if !ok || r.Dest != id {
				t.Fatalf("request %d is %v, %v", i, r, ok)
			}
			var p linkproto.Packet
			check.Fatal(t, p.Decode(r.Packet))
			a := linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag}
			switch {
			case i == refused:
				a.Status = linkproto.StatusBadAddress
			case p.Type == linkproto.TypeRegRead:
				a = linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg}
			}
			s.Take(manager, linkproto.Route{Src: id, Packet: check.Must(a.Append(nil))(t)}, uint64(i))
		}
		_, err := s.Done()
		if !errors.Is(err, netmgmt.ErrRefused) {
			t.Errorf("refusing request %d leads to %v", refused, err)
		}
	}
}

// TestManagerIsSwitch: what is no network interface manages no switch, though somebody names it.
func TestManagerIsSwitch(t *testing.T) {
	w := newWorld(t, "fat-tree", []int{2, 2}, 1)
	for at, node := range w.top.Nodes {
		for _, named := range []int{at, -1, len(w.top.Nodes)} {
			for _, s := range check.Must(netmgmt.NewPlan(w.tables, named))(t).Steps {
				if w.top.Nodes[s.Manager].Kind != topology.NI {
					t.Errorf("named %s: %s is managed by %s", node.Name, w.top.Nodes[s.Switch].Name, w.top.Nodes[s.Manager].Name)
				}
			}
		}
	}
}
