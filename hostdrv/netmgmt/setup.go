package netmgmt

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Config says how patient a Setup is. Times are in whatever unit its user counts.
type Config struct {
	Window   int          // requests that a switch is sent without an answer; 0: 8
	Most     int          // requests that a manager has without an answer; 0: 32, so that a network interface can hold the answers
	Timeout  uint64       // after which a request is repeated
	Patience uint64       // without progress, after which the set-up fails
	Routers  map[int]bool // managers that have a router, which counts as a hop of their requests
}

// ErrRefused is what Setup fails with when a switch refuses what it is told.
var ErrRefused = errors.New("the switch refuses it")

// ErrSilent is what Setup fails with when switches do not answer.
var ErrSilent = errors.New("no answer")

// Setup is a set-up that goes on. Make it with Plan.Start.
type Setup struct {
	Requests int // sent so far
	Repeats  int // of them, those that had been sent before

	plan     *Plan
	config   Config
	targets  []*target
	byNode   map[uint16]*target
	managers map[int]*manager
	left     int // targets without their Ways
	open     int // targets that are not finished
	progress uint64
	err      error
}

// manager is an NI that sets up switches.
type manager struct {
	targets []*target
	next    int // target whose turn it is
	waiting int // requests without an answer
	tag     uint8
	probes  map[uint8]*target // by tag: those that are asked who they are, or told
}

// Start begins the set-up.
func (p *Plan) Start(c Config) *Setup {
	if c.Window == 0 {
		c.Window = 8
	}
	if c.Most == 0 {
		c.Most = 32
	}
	s := &Setup{plan: p, config: c, byNode: map[uint16]*target{}, managers: map[int]*manager{}, left: len(p.Steps), open: len(p.Steps)}
	done := map[int]*target{}
	for i := range p.Steps {
		step := &p.Steps[i]
		t := &target{step: step, id: p.Topology.Nodes[step.Switch].ID}
		for _, n := range step.Needs {
			t.needs = append(t.needs, done[n])
		}
		done[step.Switch] = t
		s.targets = append(s.targets, t)
		s.byNode[t.id] = t
		m := s.managers[step.Manager]
		if m == nil {
			m = &manager{probes: map[uint8]*target{}}
			s.managers[step.Manager] = m
		}
		m.targets = append(m.targets, t)
	}
	return s
}

// Done reports whether all switches are set up, or what has gone wrong.
func (s *Setup) Done() (bool, error) { return s.open == 0, s.err }

// Managers lists the NIs that have something to send or to take.
func (s *Setup) Managers() (nodes []int) {
	return slices.Sorted(maps.Keys(s.managers))
}

// Next is what a manager is to send next, if there is something.
func (s *Setup) Next(node int, now uint64) (r linkproto.Route, ok bool) {
	m := s.managers[node]
	if m == nil || s.err != nil {
		return r, false
	}
	if s.progress == 0 {
		s.progress = now
	}
	if s.config.Patience > 0 && now-s.progress > s.config.Patience {
		s.fail()
		return r, false
	}
	for range m.targets {
		t := m.targets[m.next]
		m.next = (m.next + 1) % len(m.targets)
		if p, ok := s.request(m, t, now); ok {
			s.Requests++
			r = linkproto.Route{
				Dest: t.id, Src: s.plan.Topology.Nodes[node].ID, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram,
			}
			if t.phase == naming { // only the switch at that distance is to take it
				r.Hops = uint8(t.step.Hops + 1)
				if s.config.Routers[node] {
					r.Hops++
				}
			}
			r.Packet, s.err = p.Append(nil)
			return r, s.err == nil
		}
	}
	return r, false
}

// request is what a switch is to be sent next.
func (s *Setup) request(m *manager, t *target, now uint64) (p linkproto.Packet, ok bool) {
	switch t.phase {
	case waiting:
		for _, n := range t.needs {
			if !n.passable {
				return p, false
			}
		}
		t.phase = asking
	case passing:
		if s.left > 0 {
			return p, false
		}
		s.begin(t, finishing, t.step.Rest, now)
	}
	if t.phase == finished {
		return p, false
	}
	if t.phase == asking || t.phase == naming {
		return s.probe(m, t, now)
	}
	if len(t.sent) > 0 && now-t.sent[0].at > s.config.Timeout {
		m.waiting -= len(t.sent)
		s.Repeats += len(t.sent)
		t.repeat(len(t.sent))
		t.resume, t.phase = t.phase, asking // it may have started again
		return s.probe(m, t, now)
	}
	if len(t.sent) >= s.config.Window || m.waiting >= s.config.Most {
		return p, false
	}
	entry, ok := t.write()
	if !ok {
		return p, false
	}
	e, tag := t.writes[entry], uint8(t.serial%linkproto.TagNone)
	t.sent = append(t.sent, pending{entry, tag, now})
	t.serial++
	m.waiting++
	node := s.plan.Topology.Nodes[e.Dest].ID
	return linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: tag, Reg: linkproto.RouteReg(node), Value: e.Value()}, true
}

// probe asks a switch for its number, or tells it.
func (s *Setup) probe(m *manager, t *target, now uint64) (p linkproto.Packet, ok bool) {
	if t.probing {
		if now-t.probed <= s.config.Timeout {
			return p, false
		}
		delete(m.probes, t.tag)
		m.waiting--
		s.Repeats++
		t.probing, t.phase = false, asking
		for _, n := range t.needs {
			n.recheck()
		}
	}
	if m.waiting >= s.config.Most {
		return p, false
	}
	for m.probes[m.tag] != nil || m.tag == linkproto.TagNone {
		m.tag++
	}
	t.probing, t.probed, t.tag = true, now, m.tag
	m.probes[t.tag] = t
	m.tag++
	m.waiting++
	p = linkproto.Packet{Type: linkproto.TypeRegRead, Tag: t.tag, Reg: linkproto.RegNodeID}
	if t.phase == naming {
		p.Type, p.Value = linkproto.TypeRegWrite, uint32(t.id)
	}
	return p, true
}

// Take takes a datagram that has come to a manager, and reports whether it was an answer that was waited for.
func (s *Setup) Take(node int, r linkproto.Route, now uint64) bool {
	m := s.managers[node]
	var p linkproto.Packet
	if m == nil || p.Decode(r.Packet) != nil || p.Type != linkproto.TypeRegData && p.Type != linkproto.TypeDone {
		return false
	}
	t := s.byNode[r.Src]
	if t != nil && t.step.Manager == node && (t.phase == opening || t.phase == finishing) {
		return s.wrote(m, t, p, now)
	}
	t = m.probes[p.Tag]
	if t == nil || r.Src != t.id && (r.Src != 0 || p.Type == linkproto.TypeDone) {
		return false
	}
	switch {
	case p.Type == linkproto.TypeDone && p.Status != linkproto.StatusOK:
		s.err = fmt.Errorf("netmgmt: %s: NODE_ID: %w: %v", s.name(t), ErrRefused, p.Status)
	case t.phase == asking && p.Type == linkproto.TypeRegData && p.Reg == linkproto.RegNodeID && (p.Value == 0 || p.Value == uint32(t.id)):
		s.hear(t, uint16(p.Value), now)
	case t.phase == naming && p.Type == linkproto.TypeDone:
		s.progress = now
		s.begin(t, opening, t.step.Ways, now)
	default:
		return false
	}
	delete(m.probes, t.tag)
	m.waiting--
	t.probing = false
	return true
}

// hear takes the number that a switch says it has.
func (s *Setup) hear(t *target, number uint16, now uint64) {
	switch {
	case number == 0:
		if t.passable { // it has started again
			t.passable = false
			s.left++
		}
		if t.resume == finished {
			s.open++
		}
		t.resume, t.phase = waiting, naming
	case t.resume == waiting: // set up by somebody before
		s.begin(t, opening, t.step.Ways, now)
	default:
		t.phase = t.resume
	}
}

// wrote takes the answer to a write of an entry.
func (s *Setup) wrote(m *manager, t *target, p linkproto.Packet, now uint64) bool {
	i := 0
	for i < len(t.sent) && t.sent[i].tag != p.Tag {
		i++
	}
	if i == len(t.sent) || p.Type != linkproto.TypeDone {
		return false
	}
	if p.Status != linkproto.StatusOK {
		e := t.writes[t.sent[i].entry]
		s.err = fmt.Errorf("netmgmt: %s: the entry for %s: %w: %v", s.name(t), s.plan.Topology.Nodes[e.Dest].Name, ErrRefused, p.Status)
		return true
	}
	m.waiting -= i + 1
	s.Repeats += i
	t.repeat(i) // answers come in order
	t.sent = t.sent[1:]
	t.left--
	s.progress = now
	if t.left == 0 {
		s.advance(t, now)
	}
	return true
}

// begin begins to write a list of entries.
func (s *Setup) begin(t *target, phase phase, list []Entry, now uint64) {
	if t.begin(phase, list); len(list) == 0 {
		s.advance(t, now)
	}
}

// advance goes on when all of a list is written.
func (s *Setup) advance(t *target, now uint64) {
	s.progress = now
	if t.phase == opening {
		t.phase, t.passable = passing, true
		s.left--
		return
	}
	t.phase = finished
	s.open--
}

// fail says which switches do not answer.
func (s *Setup) fail() {
	for _, t := range s.targets {
		if t.phase != waiting && t.phase != passing && t.phase != finished {
			s.err = fmt.Errorf("netmgmt: %s: %w to %s: look at the cables between them, and reset it if it had another number before", s.name(t), ErrSilent, s.plan.Topology.Nodes[t.step.Manager].Name)
			return
		}
	}
}

func (s *Setup) name(t *target) string { return s.plan.Topology.Nodes[t.step.Switch].Name }
