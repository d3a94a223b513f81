package stream

import (
	"math/rand/v2"
	"syscall"
)

// Ports that are given to those who ask for none.
const (
	firstFree = 32768
	lastFree  = 60999
)

// ports says who has which.
type ports struct {
	next      uint16 // to be tried
	listeners map[uint16]*Listener
	sockets   map[uint16]*Socket // for datagrams
	dialled   map[dialled]bool
}

// dialled is a stream that the own end has opened.
type dialled struct{ own, node, port uint16 }

func newPorts(rng *rand.Rand) ports {
	return ports{uint16(firstFree + rng.IntN(lastFree-firstFree)), map[uint16]*Listener{}, map[uint16]*Socket{}, map[dialled]bool{}}
}

// free returns a port that is wanted, or any if that is 0, of which taken does not hold.
func (p *ports) free(want uint16, taken func(uint16) bool, none syscall.Errno) (uint16, error) {
	if want != 0 {
		if taken(want) {
			return 0, syscall.EADDRINUSE
		}
		return want, nil
	}
	for range lastFree - firstFree + 1 {
		if p.next++; p.next < firstFree || p.next > lastFree {
			p.next = firstFree
		}
		if !taken(p.next) {
			return p.next, nil
		}
	}
	return 0, none
}

func (p *ports) dial(own, node, port uint16) (uint16, error) {
	if p.dialled[dialled{own, node, port}] {
		return 0, syscall.EADDRNOTAVAIL
	}
	own, err := p.free(own, func(own uint16) bool { return p.dialled[dialled{own, node, port}] || p.listeners[own] != nil }, syscall.EADDRNOTAVAIL)
	if err == nil {
		p.dialled[dialled{own, node, port}] = true
	}
	return own, err
}

func (m *Mux) freePort(s *Stream) {
	if s.key&Ours != 0 {
		delete(m.ports.dialled, dialled{s.Port, s.peer.node, s.PeerPort})
	}
}

// Listener takes streams that peers open to a port.
type Listener struct {
	Port  uint16
	Ready func()      // Accept may have something
	Admit func() bool // whether a stream may open

	mux     *Mux
	backlog int
	waiting []*Stream
}

// Listen takes the streams to a port, or to one that is free if it is 0. So many may wait for Accept.
func (m *Mux) Listen(port uint16, backlog int) (*Listener, error) {
	port, err := m.ports.free(port, func(p uint16) bool { return m.ports.listeners[p] != nil }, syscall.EADDRINUSE)
	if err != nil {
		return nil, err
	}
	l := &Listener{Port: port, Ready: func() {}, Admit: func() bool { return true }, mux: m, backlog: backlog}
	m.ports.listeners[port] = l
	return l, nil
}

// Accept takes the stream that waits longest, or returns nil.
func (l *Listener) Accept() *Stream {
	if len(l.waiting) == 0 {
		return nil
	}
	s := l.waiting[0]
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	return s
}

// Close gives up the port, and ends what was not accepted.
func (l *Listener) Close() {
	if l.mux.ports.listeners[l.Port] == l {
		delete(l.mux.ports.listeners, l.Port)
	}
	for s := l.Accept(); s != nil; s = l.Accept() {
		s.closed = true
		s.Abort()
	}
	l.Ready()
}
