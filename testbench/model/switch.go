package model

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Switch is a router with a link at each of its ports, and no network interface: a pure state machine, as NI is one. Make it with NewSwitch.
type Switch struct{ *router }

// NewSwitch returns a switch of Config.Router ports as after reset. What Config says of a host, frames and other links is not looked at.
func NewSwitch(c Config) (*Switch, error) {
	if c.Router < 1 {
		return nil, fmt.Errorf("%w: Router is %d, a switch has 1 to %d ports", ErrConfig, c.Router, maxPorts)
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r, err := newRouter(c)
	return &Switch{r}, err
}

// Config returns the configuration with all defaults filled in.
func (s *Switch) Config() Config { return s.cfg }

// Identify gives the switch its number and nonce, as NODE_ID and NONCE give them to an NI.
func (s *Switch) Identify(node uint16, nonce uint32) {
	s.node = node
	for _, link := range s.links[1:] {
		link.SetNode(node)
		link.SetNonce(nonce)
	}
}

// Reset is the hardware reset: every port starts a session with its next epoch, and all else is lost.
func (s *Switch) Reset() { s.reset() }

// Route says by which port packets for a node leave, and by which while the link of that is down; 0: by none.
func (s *Switch) Route(node, port, alternate int) {
	s.nodes[node] = entry{uint8(port), uint8(alternate)}
}

// Group says by which ports packets for a multicast group leave, a bit each.
func (s *Switch) Group(group int, ports uint32) { s.groups[group] = ports }

// LinkStatus is that of the link at a port, as LINK_STATUS has it.
func (s *Switch) LinkStatus(port int) uint32 {
	link := s.links[port]
	return statusOf(link) | linkproto.StatusQueued.In(flag(link.Queued() > 0))
}

// Counter is how many packets have been dropped at a port.
func (s *Switch) Counter(port int, c Drop) uint32 {
	return s.ports[port].counters[c]
}

// Port returns a port, from 1 on. It stays the same over Reset.
func (s *Switch) Port(index int) Port { return Port{s, index} }

func (s *Switch) feed(p int, in []linkproto.Symbol) {
	s.links[p].Feed(in)
	s.work(p)
}

func (s *Switch) tick(p, ticks int) {
	s.links[p].Tick(ticks)
	s.work(p)
}

func (s *Switch) emit(p int, dst []linkproto.Symbol) int { return s.links[p].Emit(dst) }
