package routed

import (
	"bytes"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// exchange lets the peers send so many packets each, and the host work, until all has come and been told but what a link holds.
func (s *routes) exchange(packets, limit int) {
	for _, l := range s.links {
		l.left = packets
	}
	try.OK(s.Until(limit, "the ROUTEs to be acknowledged and told", func() bool {
		done := s.Cycles >= s.wakes
		for _, l := range s.links {
			s.send(l)
			s.serve(l)
			done = done && l.left == 0 && s.Peer(l.number).Link.Queued() == 0 && (l.holds || l.trap == nil && len(l.traps) == 0 && l.again == 0)
		}
		if s.Cycles >= s.wakes && s.Rand.Chance(0.02) {
			s.wakes = s.Cycles + uint64(s.Rand.IntN(300))
		}
		return done
	}))
	try.OK(s.Run(6 * s.Params.RxBytes)) // what has been acknowledged may still be in a receive FIFO, or on its way to the host
}

// send lets a peer send what there is room for.
func (s *routes) send(l *link) {
	for l.left > 0 {
		if l.next == nil {
			l.next = s.packet(l)
		}
		err := s.Peer(l.number).Link.Send(l.next)
		if harness.Full(err) {
			return
		}
		try.OK(err)
		l.left--
		l.next = nil
		s.Suite.Stats.Packets++
	}
}

// serve has the host resume a link when it is time, behind RETRAP every other time, for whose TRAP it may wait.
func (s *routes) serve(l *link) {
	ask := func(kind linkproto.Type) bool {
		err := s.Node.Host.Request(linkproto.Packet{Type: kind, Via: uint8(l.number)}, func(a linkproto.Packet) {
			if a.Status != linkproto.StatusOK {
				try.Failf("link %d is trapped, and %v is answered %v", l.number, kind, a.Status)
			}
			l.resumed = l.resumed || kind == linkproto.TypeResume
		})
		if errors.Is(err, ni.ErrBusy) {
			return false
		}
		try.OK(err)
		return true
	}
	if l.trap == nil || l.holds || s.Cycles < l.due {
		return
	}
	for ; l.retraps > 0; l.retraps-- {
		if !ask(linkproto.TypeRetrap) {
			return
		}
		l.again++
	}
	if !(l.waits && l.again > 0) && ask(linkproto.TypeResume) {
		l.trap = nil
		s.served++
	}
}

// received takes a packet that answers nothing: a TRAP must be the link's next one, or tell the last one again.
func (s *routes) received(p linkproto.Packet) {
	if p.Type == linkproto.TypeNotify {
		return
	}
	if p.Type != linkproto.TypeTrap || p.Via == 0 || int(p.Via) > len(s.links) {
		try.Failf("the host gets %v of link %d", p.Type, p.Via)
	}
	l := s.links[p.Via-1]
	switch {
	case l.again > 0 && bytes.Equal(p.Data, l.retold):
		l.again--
		s.again++
	case l.trap == nil && l.again == 0 && len(l.traps) > 0 && bytes.Equal(p.Data, l.traps[0]):
		l.trap, l.traps = l.traps[0], l.traps[1:]
		l.retold = l.trap
		if linkproto.Type(l.trap[0]) == linkproto.TypeConnect {
			l.retold = stimulus.RawPacket(linkproto.TypeConnect, 0, l.trap[linkproto.HeaderBytes:][:linkproto.TypeConnect.Info().MinLength()])
		}
		l.due, l.retraps, l.waits = s.Cycles+uint64(s.Rand.IntN(2)*s.Rand.IntN(1500)), s.Rand.IntN(2), s.Rand.Bool()
	default:
		try.Failf("link %d: TRAP of % x; it stands at % x, told again %d times fewer than asked for; the next are % x", l.number, p.Data, l.trap, l.again, l.traps)
	}
}

// tell takes note of a ROUTE that the host is to get.
func (s *routes) tell(l *link, raw []byte) {
	told := bytes.Clone(raw)
	told[0] |= byte(l.number) << linkproto.TypeBits
	l.bytes += (len(raw) + 7) &^ 7
	l.told = append(l.told, toldRoute{told, l.bytes <= sureBytes})
}

// routed takes a ROUTE that the host gets: those before it of its link got lost, for want of room.
func (s *routes) routed(_ linkproto.Route, raw []byte) {
	via := raw[0] >> linkproto.TypeBits
	if via == 0 || int(via) > len(s.links) {
		try.Failf("the host gets a ROUTE of link %d", via)
	}
	for l := s.links[via-1]; ; {
		if len(l.told) == 0 {
			try.Failf("link %d: the host gets ROUTE % x, which is not for it", l.number, raw)
		}
		next := l.told[0]
		l.told = l.told[1:]
		l.bytes -= (len(next.raw) + 7) &^ 7
		if bytes.Equal(next.raw, raw) {
			s.told++
			return
		}
		s.missed(l, next)
	}
}

// missed counts a ROUTE that has not come to the host.
func (s *routes) missed(l *link, t toldRoute) {
	if t.sure {
		try.Failf("link %d: ROUTE % x has not come to the host, though there was room", l.number, t.raw)
	}
	l.bad++
	s.lost++
}
