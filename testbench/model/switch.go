package model

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Switch is a router with a link at each of its ports, and no network interface: a pure state machine, as NI is one. It is managed by
// datagrams. Make it with NewSwitch.
type Switch struct {
	*router
	nonce   uint32
	scratch uint32
	answer  []byte // to the request carried out last, until the router takes it
	waited  int    // ticks that it has waited for that
	served  [linkproto.NumCounters]uint32
}

// NewSwitch returns a switch of Config.Router ports as after reset. What Config says of a host, frames and other links is not looked at.
func NewSwitch(c Config) (*Switch, error) {
	if c.Router < 1 {
		return nil, fmt.Errorf("%w: Router is %d, a switch has 1 to %d ports", ErrConfig, c.Router, linkproto.MaxPorts)
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Switch{}
	s.router, err = newRouter(c, s)
	return s, err
}

// Config returns the configuration with all defaults filled in.
func (s *Switch) Config() Config { return s.cfg }

// SetNonce gives the switch the nonce of this life. Until then its links stay down.
func (s *Switch) SetNonce(nonce uint32) {
	s.nonce = nonce
	s.start(nonce)
}

// Reset is the hardware reset: every port starts a session with its next epoch, and all else is lost, the nonce too.
func (s *Switch) Reset() {
	s.router.reset()
	s.nonce, s.scratch, s.answer, s.waited, s.served = 0, 0, nil, 0, [linkproto.NumCounters]uint32{}
}

// Port returns a port, from 1 on. It stays the same over Reset.
func (s *Switch) Port(index int) Port { return Port{s, index, 0} }

// Busy reports whether a packet waits in the switch, or has not been acknowledged by the peer that it has been sent to.
func (s *Switch) Busy() bool { return s.busy() || s.answer != nil }
