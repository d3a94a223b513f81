// Package stream is the protocol of connections over messages between nodes: streams of bytes in both directions, each with its own flow control, and datagrams. It
// is a state machine without a clock, goroutines or locks: whoever has it calls it under one lock, sends what Next returns, and gives to Input what comes.
//
// Messages between two nodes arrive once and in order, or their sender hears that they did not. So nothing is acknowledged or sent again here. What counts
// is absolute: how many bytes the other end may send in all, and the life of each side. See doc/sockets.md.
package stream

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"syscall"
)

// firstWindow is how many bytes a stream's peer may send before anybody has read, and how many may wait to be sent at least.
const firstWindow = 64 << 10

// leastWindow is the same where Options.Memory is used up.
const leastWindow = 4 << 10

// Options say how a Mux is.
type Options struct {
	Node    uint16   // the own one
	Peers   []uint16 // that are asked for their multicast groups, and told the own ones, as others are that ask
	Window  int      // bytes that a stream's peer may be ahead of its reader at most
	Memory  int      // bytes by which all peers may be ahead of their readers, and those of all writers that wait; beyond it each stream has leastWindow
	PerPeer int      // messages to a peer that are not acknowledged at most
	Most    int      // the same to all peers
	Linger  int      // ticks after which a stream is forgotten that the program has closed and the peer has not, and for which one may open
	Seed    uint64   // what is random follows from it
}

// Stats count what a Mux has seen.
type Stats struct {
	Opened     uint64 `json:"opened"`     // streams, by either end
	Refused    uint64 `json:"refused"`    // streams that nobody listened for, or for which there was no room
	Malformed  uint64 `json:"malformed"`  // messages that are no segments
	Violations uint64 `json:"violations"` // streams reset because the peer sent more than it might, or at the wrong time
	Dropped    uint64 `json:"dropped"`    // datagrams for which nobody waited, or for which there was no room
}

// Mux is all streams of a node.
type Mux struct {
	o           Options
	rng         *rand.Rand
	pool        pool
	peers       map[uint16]*peer
	speakers    []*peer // that have something to say, in turn
	outstanding int
	windows     int    // bytes that streams have of Options.Memory for reading
	unsent      int    // and for writing
	number      uint32 // of the stream opened last
	closing     bool
	ports       ports
	groups      groups
	stats       Stats
}

// New returns a Mux.
func New(o Options) *Mux {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.Node)))
	m := &Mux{o: o, rng: rng, peers: map[uint16]*peer{}, number: rng.Uint32() &^ Ours, ports: newPorts(rng), groups: groups{own: map[netip.Addr]int{}}}
	for _, node := range o.Peers {
		if p := m.peer(node); node != o.Node {
			p.groups.is = true
			p.tellGroups()
		}
	}
	return m
}

// Stats returns the counts so far.
func (m *Mux) Stats() Stats { return m.stats }

// Buffer returns a buffer for a message to come.
func (m *Mux) Buffer() []byte { return m.pool.get(MaxData)[:SegmentBytes] }

func (m *Mux) newLife() uint32 { return 1 + m.rng.Uint32N(math.MaxUint32) }

func (m *Mux) peer(node uint16) *peer {
	p := m.peers[node]
	if p == nil {
		p = &peer{mux: m, node: node, life: m.newLife(), streams: map[uint32]*Stream{}}
		m.peers[node] = p
	}
	return p
}

func (m *Mux) newStream(p *peer, key uint32, st state) *Stream {
	s := &Stream{peer: p, key: key, state: st, window: min(firstWindow, m.o.Window), age: m.o.Linger}
	if m.windows+s.window > m.o.Memory {
		s.window = leastWindow
	}
	m.windows += s.window
	s.granted = uint64(s.window)
	p.streams[key] = s
	m.stats.Opened++
	return s
}

// Dial opens a stream to a port of a node, from an own port, or from one that is free if that is 0.
func (m *Mux) Dial(node, port, own uint16) (*Stream, error) {
	p := m.peer(node)
	own, err := m.ports.dial(own, node, port)
	if err != nil {
		return nil, err
	}
	for m.number = (m.number + 1) &^ Ours; p.streams[m.number|Ours] != nil; {
		m.number = (m.number + 1) &^ Ours
	}
	s := m.newStream(p, m.number|Ours, opening)
	s.Port, s.PeerPort = own, port
	p.say(s)
	return s, nil
}

// accept opens a stream that a peer asks for.
func (m *Mux) accept(p *peer, g *Segment) {
	l := m.ports.listeners[g.Port]
	if l == nil || len(l.waiting) >= l.backlog || len(p.resets) >= mostAnswers || !l.Admit() {
		m.stats.Refused++
		p.refuse(g.Stream)
		return
	}
	s := m.newStream(p, g.Stream, open)
	s.Port, s.PeerPort, s.limit, s.answer = g.Port, uint16(g.Data[0])|uint16(g.Data[1])<<8, g.Limit, true
	l.waiting = append(l.waiting, s)
	p.say(s)
	l.Ready()
}

// Message is a message between nodes.
type Message struct {
	Node  uint16
	Life  uint32 // of its sender: the message's tag
	Data  []byte
	Quiet bool // of Next: Sent may be called late, with that of a later message
}

// Next returns the next message to be sent, for which Sent is to be called when it was. There is none while too many are not acknowledged.
func (m *Mux) Next() (out Message, ok bool) {
	for len(m.speakers) > 0 && m.outstanding < m.o.Most {
		p := m.speakers[0]
		m.speakers[0] = nil
		m.speakers = m.speakers[1:]
		p.queued = false
		b := p.next()
		if b == nil {
			continue
		}
		if p.node == m.o.Node { // it is not sent anywhere
			kept := m.Input(Message{Node: p.node, Life: p.life, Data: b})
			if !kept {
				m.pool.put(b)
			}
			p.speak()
			continue
		}
		p.outstanding++
		m.outstanding++
		p.speak()
		return Message{p.node, p.life, b, p.mayBeQuiet()}, true
	}
	return out, false
}

// Sent takes back a message of Next that has arrived, or, if why is not 0, will not: the peer is lost then.
func (m *Mux) Sent(msg Message, why syscall.Errno) {
	p := m.peer(msg.Node)
	p.outstanding--
	m.outstanding--
	if !msg.Quiet {
		p.loud--
	}
	p.refused(msg.Data, why)
	m.pool.put(msg.Data)
	if why != 0 && msg.Life == p.life {
		p.lost(why)
	}
	p.speak()
}

// Input takes a message in a Buffer, and reports whether it keeps that.
func (m *Mux) Input(msg Message) (kept bool) {
	g, err := Decode(msg.Data)
	if err != nil || msg.Life == 0 {
		m.stats.Malformed++
		return false
	}
	return m.peer(msg.Node).input(msg.Life, &g, msg.Data)
}

// Tick is called from time to time: Ask, and streams that nobody has any more get older.
func (m *Mux) Tick() {
	m.askGroups()
	for _, p := range m.peers {
		for _, s := range p.streams {
			if !s.closed && s.state != opening {
				continue
			}
			if s.age--; s.age >= 0 {
				continue
			}
			if p.reset(s.key); s.state == opening {
				s.end(syscall.ETIMEDOUT)
			} else {
				s.end(0)
			}
		}
	}
	m.Ask()
}

// Ask asks peers that were not sent anything whether they are there.
func (m *Mux) Ask() {
	for _, p := range m.peers {
		if len(p.streams) > 0 && p.loud == 0 {
			p.hello = true
			p.speak()
		}
	}
}

// Flushed reports whether all that was written to streams that are closed has been sent and acknowledged.
func (m *Mux) Flushed() bool {
	for _, p := range m.peers {
		for _, s := range p.streams {
			if !s.Flushed() {
				return false
			}
		}
		if len(p.resets)+len(p.answers) > 0 && p.theirs != 0 {
			return false
		}
	}
	return m.outstanding == 0
}

// Close closes all streams, as the end of a program does.
func (m *Mux) Close() {
	m.closing = true
	for _, l := range m.ports.listeners {
		l.Close()
	}
	for _, s := range m.ports.sockets {
		s.Close()
	}
	for _, p := range m.peers {
		for _, s := range p.streams {
			s.Close()
		}
		if p.outstanding > 0 && p.loud == 0 { // so that it is known when all has arrived
			p.hello = true
			p.speak()
		}
	}
}

// Fail ends all streams: nothing can be sent any more.
func (m *Mux) Fail() {
	for _, p := range m.peers {
		p.lost(syscall.ETIMEDOUT)
	}
}
