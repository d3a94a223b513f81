package flowctl

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// CastSender is the sender's end of a reliable multicast, a pure state machine: packets reach all members of a group, each once and in order, over a network that
// loses, doubles and reorders; one sequence of numbers is for all members, and each acknowledges by itself. What several miss is sent again to the group, what one misses to that one. A member that
// says STOP stops all; one that says nothing for Patience, or has started again, is named by Failed. See doc/driver.md, "Multicast".
type CastSender struct {
	cfg     CastConfig
	tx      virtualSender // its base is the oldest packet that a member lacks
	members []castMember
	life    linkproto.Life // 0: nothing was sent since the last Restart
	up      bool           // all members take packets
	invite  bool           // the group is to be asked to take part
	waited  int            // ticks without progress
	retries int
	now     uint64
	turn    int // the member that is looked at first
	failed  *castMember
	restart bool        // it has started again; else it does not answer
	ended   *castMember // takes part no more: fails what comes
}

type castMember struct {
	node      uint16
	life      linkproto.Life // that it said last; 0: nothing
	open      bool           // it has confirmed that it takes packets
	ask       bool           // it is to be told its life, and will answer
	stop      bool
	next      uint32 // the packet that it takes next
	repeating bool   // packets from again on are sent to it alone
	again     uint32
	repeated  uint64 // when that began
	heard     uint64 // when it said something, or was expected to say nothing
}

// CastOut is what a CastSender sends: to one member, or, To being 0, to the group.
type CastOut struct {
	To     uint16
	Word   CastWord
	Packet []byte // of CastData; valid until the sender's next method is called
}

// NewCastSender returns a CastSender with nothing to send. Its errors wrap ErrConfig.
func NewCastSender(c CastConfig) (*CastSender, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(c.Members) == 0 {
		return nil, fmt.Errorf("%w: a group without members", ErrConfig)
	}
	s := &CastSender{cfg: c, tx: newVirtualSender(VirtualConfig{ReplayBytes: c.ReplayBytes, MaxPacket: c.MaxPacket, Window: c.Window})}
	for i, node := range c.Members {
		if slices.Contains(c.Members[:i], node) || node == 0 || node > linkproto.MaxNode {
			return nil, fmt.Errorf("%w: member %d, want each once, 1 to %d", ErrConfig, node, linkproto.MaxNode)
		}
		s.members = append(s.members, castMember{node: node})
	}
	return s, nil
}

// Send queues a packet, which it copies; ErrFull says that there is no room.
func (s *CastSender) Send(packet []byte) error {
	if len(packet) == 0 || len(packet) > s.cfg.MaxPacket {
		return fmt.Errorf("%w: %d bytes, want 1 to %d", ErrLength, len(packet), s.cfg.MaxPacket)
	}
	if !s.tx.queue(packet, nil) {
		return ErrFull
	}
	if s.life == 0 {
		s.life, s.invite = s.cfg.NewLife(), true
		for i := range s.members {
			s.members[i].heard = s.now
		}
	}
	return nil
}

// Freed counts packets that all members have, or that were given up by Restart. Queued is how many are held.
func (s *CastSender) Freed() uint64 { return s.tx.freed }
func (s *CastSender) Queued() int   { return s.tx.count }

// Up reports whether all members take packets.
func (s *CastSender) Up() bool { return s.up }

// Failed names a member that does not answer, or that has started again and so has lost what it took before. The sender is to be restarted then.
func (s *CastSender) Failed() (node uint16, restarted, ok bool) {
	if s.failed == nil && s.ended != nil && s.tx.count > 0 {
		s.fail(s.ended, true)
	}
	if s.failed == nil {
		return 0, false, false
	}
	return s.failed.node, s.restart, true
}

// Restart gives up all packets, and forgets the members' states: the next packet begins another stream. It returns what tells the members, ok if one has heard of it.
func (s *CastSender) Restart() (end CastWord, ok bool) {
	end, ok = s.word(CastEnd), s.life != 0
	s.tx.reset()
	for i := range s.members {
		s.members[i] = castMember{node: s.members[i].node, heard: s.now}
	}
	s.life, s.up, s.invite, s.failed, s.ended, s.waited, s.retries = 0, false, false, nil, nil, 0, 0
	return end, ok
}

func (s *CastSender) word(k CastKind) CastWord {
	return CastWord{Kind: k, Group: s.cfg.Group, Life: s.life}
}

// sent is the number behind the last packet that was sent.
func (s *CastSender) sent() uint32 { return s.tx.base + uint32(s.tx.top) }

// owes reports whether something is expected of a member.
func (s *CastSender) owes(m *castMember) bool {
	return s.life != 0 && (!m.open || m.stop && s.tx.count > 0 || linkproto.VLDistance(m.next, s.sent()) > 0)
}

// Feed takes a word that a node has said.
func (s *CastSender) Feed(node uint16, w CastWord) {
	i := slices.IndexFunc(s.members, func(m castMember) bool { return m.node == node })
	if i < 0 || w.Kind != CastState && w.Kind != CastEnd || w.Group != s.cfg.Group || w.Life != s.life || s.life == 0 || s.failed != nil {
		return
	}
	m := &s.members[i]
	switch {
	case w.Own != m.life && m.open:
		s.fail(m, true)
		return
	case !w.Open && w.Kind == CastState:
		if !m.open {
			m.life, m.ask, m.heard = w.Own, true, s.now
		}
		return
	case w.Own != m.life || w.Own == 0:
		return
	}
	m.heard = s.now
	if !m.open {
		m.open, m.ask = true, false
		s.up = !slices.ContainsFunc(s.members, func(m castMember) bool { return !m.open })
	}
	s.state(m, w)
	if w.Kind == CastEnd {
		s.ended = m
	}
}

// Renew begins another stream if a member has ended and nothing is held. The caller is not half way through a message.
func (s *CastSender) Renew() {
	if s.ended != nil && s.tx.count == 0 {
		s.Restart()
	}
}

// state takes what a member says of itself.
func (s *CastSender) state(m *castMember, w CastWord) {
	ahead := linkproto.VLDistance(m.next, w.Number)
	if ahead < 0 || linkproto.VLDistance(w.Number, s.sent()) < 0 {
		return // overtaken by a later one, or of what was never sent
	}
	gone := m.stop && !w.Stop
	m.next, m.stop = w.Number, w.Stop
	if ahead > 0 {
		s.waited, s.retries = 0, 0
		s.acknowledge()
	}
	switch index := linkproto.VLDistance(s.tx.base, m.next); {
	case w.Stop:
		m.repeating = false
	case !w.Lost || index >= s.tx.next: // which the group gets in any case
	case gone:
		s.repeat(m)
	case m.repeating || m.again == m.next && m.repeated > 0 && s.now-m.repeated < uint64(s.cfg.Turn):
	case s.tx.slot(index).again && s.now-s.tx.slot(index).sent < uint64(s.cfg.Turn):
	default:
		s.repeat(m)
	}
}

// acknowledge lets go what all members have.
func (s *CastSender) acknowledge() {
	least := s.tx.top
	for i := range s.members {
		least = min(least, linkproto.VLDistance(s.tx.base, s.members[i].next))
	}
	s.tx.acknowledge(least)
}

// repeat sends again what a member lacks: to it alone, or to the group if others lack something too.
func (s *CastSender) repeat(m *castMember) {
	m.repeating, m.again, m.repeated = true, m.next, max(s.now, 1)
	least, count := s.tx.next, 0
	for i := range s.members {
		if m := &s.members[i]; m.repeating {
			least, count = min(least, linkproto.VLDistance(s.tx.base, m.next)), count+1
		}
	}
	if count > 1 {
		s.tx.next = least
		for i := range s.members {
			s.members[i].repeating = false
		}
	}
}

func (s *CastSender) fail(m *castMember, restarted bool) { s.failed, s.restart = m, restarted }

// sending reports whether the group may be sent a packet.
func (s *CastSender) sending() bool {
	return s.up && s.tx.next < s.tx.count && !slices.ContainsFunc(s.members, func(m castMember) bool { return m.stop || m.repeating })
}

// Emit returns what is to be sent next; false: nothing now.
func (s *CastSender) Emit() (out CastOut, ok bool) {
	if s.failed != nil {
		return out, false
	}
	if s.invite {
		s.invite = false
		w := s.word(CastJoin)
		w.Number = uint32(s.cfg.AckDelay)
		return CastOut{Word: w}, true
	}
	for n := range s.members {
		m := &s.members[(s.turn+n)%len(s.members)]
		out.To = m.node
		if m.ask {
			m.ask = false
			out.Word = s.word(CastJoin)
			out.Word.Own, out.Word.Number = m.life, uint32(s.cfg.AckDelay)
			s.turn = (s.turn + n + 1) % len(s.members)
			return out, true
		}
		if !m.repeating {
			continue
		}
		if linkproto.VLDistance(m.again, m.next) > 0 {
			m.again = m.next
		}
		if index := linkproto.VLDistance(s.tx.base, m.again); index < s.tx.next {
			out.Word = s.word(CastData)
			out.Word.Number = m.again
			p := s.tx.slot(index)
			out.Packet = s.tx.bytes.get(p.at, p.len)
			m.again = (m.again + 1) & linkproto.VLSeqMask
			s.turn = (s.turn + n) % len(s.members)
			return out, true
		}
		m.repeating, m.again = false, m.next // which Turn is measured for
	}
	if !s.sending() {
		return CastOut{}, false
	}
	out.To, out.Word = 0, s.word(CastData)
	out.Word.Number, out.Packet, _ = s.tx.take(s.now)
	return out, true
}

// Tick says that n ticks have passed.
func (s *CastSender) Tick(n int) {
	s.now += uint64(n)
	waits := false
	for i := range s.members {
		m := &s.members[i]
		if !s.owes(m) {
			m.heard = s.now
			continue
		}
		waits = true
		if s.now-m.heard >= uint64(s.cfg.Patience) && s.failed == nil {
			s.fail(m, false)
		}
	}
	if !waits {
		s.waited, s.retries = 0, 0
		return
	}
	if s.waited += n; s.waited >= s.retry() {
		s.waited = 0
		s.retries++
		s.again()
	}
}

// retry is how long the timer runs now: less than Patience, so that a member has been asked several times before it is given up.
func (s *CastSender) retry() int {
	return min(s.cfg.Retry<<min(s.retries, 3), max(s.cfg.Patience/4, 1))
}

// again asks those from whom something is expected.
func (s *CastSender) again() {
	for i := range s.members {
		switch m := &s.members[i]; {
		case !s.owes(m):
		case !m.open && m.life == 0:
			s.invite = true
		case !m.open || m.stop:
			m.ask = true
		case !m.repeating:
			s.repeat(m)
		}
	}
}

// IdleFor returns for how many ticks Emit will have nothing to send if nothing is fed or sent meanwhile. It is 0 if there is something to send.
func (s *CastSender) IdleFor() int {
	idle := 1 << 30
	if s.failed != nil {
		return idle
	}
	if s.invite || s.sending() {
		return 0
	}
	for i := range s.members {
		m := &s.members[i]
		if m.ask || m.repeating {
			return 0
		}
		if s.owes(m) {
			idle = min(idle, s.retry()-s.waited, int(m.heard+uint64(s.cfg.Patience)-s.now))
		}
	}
	return max(idle, 1)
}
